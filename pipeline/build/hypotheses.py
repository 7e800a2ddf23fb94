"""Which other environments a sick base may need: hypotheses, the likeliest and cheapest first.

Each is a function from a `Case` to other environments, made one by one on demand, since later ones cost an install.
None changes sources or tests. `qualify` tries them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.build import history_lock, linking, preparations
from pipeline.build.case import RUN_FIELDS, Case
from pipeline.build.faults import END
from pipeline.build.infer import Unsupported, focus, infer, place, workspaces
from pipeline.build.infer.hidden import starters
from pipeline.build.infer.scripts import starts_task
from pipeline.build.infer.uses import Use
from pipeline.build.observe import Command
from pipeline.build.remedies import LINES, added, nearest
from pipeline.build.situation import Situation
from pipeline.core.law import without_remarks
from pipeline.core.records import Edit, Environment
from pipeline.core.store import digest
from pipeline.ecosystems import locks, manager, runner, versions
from pipeline.ecosystems.installation import thawed
from pipeline.execution import scope

#: environments that one hypothesis proposes at most
MOST = 4
#: installs, and then applies the repository's patches of packages: those that fit
_PATCHING = ("sh", "-c", '"$@" && { node_modules/.bin/patch-package || :; }', "patch")
#: how shells and yarn report a missing program
_NO_PROGRAM = re.compile(r"(?:^|[\s:])([\w.-]+): (?:command )?not found|command not found: ([\w.-]+)", re.MULTILINE)
#: an error of TypeScript's, with its number
_TYPE_ERROR = re.compile(r"TS\d{4,5}: ")
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
#: a range that begins with its oldest version
_RANGE = re.compile(r"[~^](\d+\.\d+\.\d+(?:-[\w.-]+)?)")
#: the first Node with a manager that prefers versions for it, in an install without a date (`faults.toml`)
_UNDATED_NODE = "10"
#: projects of a Vitest workspace that need more than Node
_BROWSERS = re.compile(r"browser|storybook|e2e|visual|playwright|webkit|firefox|chrom", re.IGNORECASE)


class Hypothesis(NamedTuple):
    """Another environment, the name of the hypothesis that proposes it, and a description for people."""

    name: str
    environment: Environment
    description: str


#: proposes environments for a case
Proposer = Callable[[Case], Iterator[Hypothesis]]


def observed(case: Case) -> Iterator[Hypothesis]:
    """Run the runner as the repository's own test command does."""
    for observation in case.observed[:MOST]:
        if environment := case.with_use(observation.use):
            yield Hypothesis("observed", environment, observation.use.evidence)


def by_script(case: Case) -> Iterator[Hypothesis]:
    """Run the repository's own command, if one of its scripts loads the runner. Every process gets our files and our
    reporter, and everything that the script sets up is in place. The script that starts the runner comes first: the
    whole command may also check the style."""
    for use, whole, loaded, script in case.observed[:MOST]:
        if loaded and runner(use.runner).by_script:
            for command in (script, whole) if script else (whole,):
                environment = _with_command(case, use, command)
                yield Hypothesis("by-script", environment, f"by {command.evidence}, with our files and reporter")


def _with_command(case: Case, use: Use, command: Command) -> Environment:
    spec = runner(use.runner)
    update = {
        "runner": use.runner,
        "runner_version": (case.with_use(use) or case.environment).runner_version,
        "folder": command.folder,
        "entries": (),
        "test": ("node", "{reporter}", *command.argv, "--", "{files}"),
        "selection": ("{files}",),
        "everything": (),
        "test_env": {name: value for name, value in spec.merged("").env.items() if value != "{configuration}"},
        "parser": spec.parser,
        "browser": "chromium" if spec.browser else case.environment.browser,
    }
    return case.environment.model_copy(update=update)


def read_otherwise(case: Case) -> Iterator[Hypothesis]:
    """Run another script, in another folder of the workspace, or another runner that the package uses."""
    tried = [_run_fields(case.environment)]
    for use in place.alternatives(case.tree, case.tree.root(), case.tests):
        environment = case.with_use(use)
        if environment and _run_fields(environment) not in tried:
            tried.append(_run_fields(environment))
            yield Hypothesis("read-otherwise", environment, use.evidence)
        if len(tried) > MOST:
            return


def by_entry(case: Case) -> Iterator[Hypothesis]:
    """Run the files that the root's test scripts name in place of the touched tests that these mention: such a file
    sets up what its tests need before it loads them."""
    environment = case.environment
    if environment.folder or environment.selection != ("{files}",):
        return
    named = scope.named_tests(case.tree.text("package.json")).intersection(case.tree.paths)
    if entries := tuple(path for path in sorted(named) if _SCRIPT.search(path) and _mentions(case, path)):
        selecting = environment.model_copy(update={"selection": entries})
        yield Hypothesis("by-entry", selecting, f"package.json: a test script runs {', '.join(entries)}")


def _mentions(case: Case, path: str) -> bool:
    """Whether a file mentions a touched test other than itself, as an import does."""
    names = [re.escape(PurePosixPath(test).stem) for test in case.tests if test != path]
    return bool(names and re.search(rf"/(?:{'|'.join(names)})\b", case.tree.text(path)))


def one_project(case: Case) -> Iterator[Hypothesis]:
    """Run a single project of a Vitest workspace, those without a browser first."""
    environment = case.environment
    if environment.runner != "vitest" or any(word.startswith("--project") for word in environment.test):
        return
    start = f"{environment.folder}/" if environment.folder else ""
    texts = [case.tree.text(path) for path in case.tree.matching(re.compile(rf"^{re.escape(start)}vite[^/]*$").search)]
    workspaces = [text for text in texts if re.search(r"projects|defineWorkspace|workspace", text)]
    names = [name for text in workspaces for name in _project_names(text)]
    for project in sorted(dict.fromkeys(names), key=lambda name: bool(_BROWSERS.search(name)))[:MOST]:
        words = (*environment.test[:-1], f"--project={project}", environment.test[-1])
        yield Hypothesis("one-project", environment.model_copy(update={"test": words}), f"the project {project} alone")


def _project_names(text: str) -> list[str]:
    return re.findall(r"""\bname:\s*(?:\{\s*label:\s*)?["']([\w@/.:-]+)["']""", text)


def prepared(case: Case) -> Iterator[Hypothesis]:
    """Run first what the repository runs before its tests, if generated files are missing, or if a server for the tests
    may need them. If no test file loads although the log misses nothing, build packages that have no entry."""
    of_server = preparations.for_server(case) if case.is_served else ()
    entries = preparations.of_entries(case) if not case.health.loaded else ()
    silent = (*of_server, *filter(None, [entries]))
    for commands in preparations.for_tests(case) if case.missing.can_be_made else silent:
        words = "; ".join(" ".join(argv[-2:]) for argv in commands)
        environment = case.environment.model_copy(update={"prepare": commands})
        yield Hypothesis("prepared", environment, f"the tests need what this makes: {words}"[:400])


def _with_all_packages(case: Case) -> Iterator[Hypothesis]:
    """Build every package that the tested one depends on, after the earlier commands."""
    before, building = case.environment, preparations.of_all_packages(case)
    earlier = tuple(command for command in before.prepare if command not in building)
    if building and (*earlier, *building) != before.prepare:
        environment = before.model_copy(update={"prepare": (*earlier, *building)})
        yield Hypothesis("prepared", environment, f"the tests need {len(building)} packages of the repository")


def with_programs(case: Case, tried: Hypothesis, log: str) -> Iterator[Hypothesis]:
    """Prepare once more with the programs of the repository's own packages, if the log says that one is not found. An
    install does not link them, since it has only the manifests. Their packages are installed as well."""
    programs, before = linking.own_programs(case.tree), tried.environment
    named = {name for match in _NO_PROGRAM.finditer(log[-END:]) for name in match.groups() if name}
    wanted = [programs[name][0] for name in sorted(named) if name in programs]
    is_linked = any(map(linking.is_linking, before.prepare))
    if wanted and before.prepare and not is_linked:
        by = focus.Installer(before.manager, before.manager_version, before.node)
        packages = focus.widened(case.tree, before.focus, wanted, by)
        update = {"prepare": (linking.command(programs), *before.prepare), "focus": packages}
        description = f"with the repository's programs: {tried.description}"
        yield tried._replace(environment=before.model_copy(update=update), description=description)


def with_modules(case: Case) -> Iterator[Hypothesis]:
    """Add packages that tests load and nothing depends on: peers that another manager would have installed."""
    wanted = [name for name in case.missing.foreign if not any(edit.name == name for edit in case.environment.edits)]
    modules = [(name, version) for name in wanted[:5] if (version := _version(case, name))]
    if modules:
        edits = tuple(added(case.environment, name, version) for name, version in modules)
        environment = case.environment.model_copy(update={"edits": (*case.environment.edits, *edits)})
        environment = thawed(environment, case.situation.day)
        names = ", ".join(f"{edit.name} {edit.new}" for edit in environment.edits if edit.kind == "add")
        yield Hypothesis("with-modules", environment, f"packages that the tests load and nothing asks for: {names}")


def _version(case: Case, name: str) -> str:
    """The newest locked version, since an older one may be installed already; else the nearest to what is requested;
    else the registry's newest, or that of the day if the manager can tell. Another package that is locked under this
    name is requested as an alias."""
    packages = [package for package in case.situation.locked() if name in (package.name, package.package)]
    source = min((package.source for package in packages if package.name == name), default="")
    locked = [package.version for package in packages if package.package == (source or name)]
    if locked:
        newest = nearest("", locked) or locked[0]
        return f"npm:{source}@{newest}" if source else newest
    peers = (manifest.table("peerDependencies").get(name) for manifest in map(case.tree.manifest, ("",)) if manifest)
    requested = (version for _, package, version in case.situation.requested() if package == name)
    wanted, releases = next(requested, next(filter(None, peers), "")), case.situation.releases(name)
    is_dated = case.situation.day and manager(case.environment.manager).dated
    return (wanted or "*") if is_dated and releases else nearest(wanted, releases)


def gathered(case: Case) -> Iterator[Hypothesis]:
    """Install the packages that only Lerna links as a workspace of the root, with their dependencies."""
    before, named = case.environment, workspaces.patterns(case.tree, case.tree.root())
    version = manager(before.manager).gathering(before.manager_version, before.node)
    is_gathered = before.focus or any(edit.kind == "gather" for edit in before.edits)
    if version is None or is_gathered or not workspaces.only_lerna(named):
        return
    edit = Edit(kind="gather", name=workspaces.LERNA, folders=tuple(named))
    update = {"edits": (*before.edits, edit), "manager_version": version}
    environment = thawed(before.model_copy(update=update), case.situation.day)
    yield Hypothesis("gathered", environment, "the packages in lerna.json, as a workspace")


def history_locked(case: Case) -> Iterator[Hypothesis]:
    """Install the versions of the dependencies that the nearest lock file of the repository's history has, if the
    commit has none and its install is not limited to the versions of its day."""
    before, situation = case.environment, case.situation.after(case.environment)
    if not _gets_todays_versions(case) or not (lock := case.history_lock()):
        return
    if edits := tuple(history_lock.pins(lock, _requested(situation))):
        environment = before.model_copy(update={"edits": (*before.edits, *edits)})
        where = f"{lock.path} of {lock.commit[:12]} ({lock.day})"
        yield Hypothesis("history-locked", environment, f"{len(edits)} dependencies in the versions of {where}")


def _gets_todays_versions(case: Case) -> bool:
    """Whether an install has neither a lock file nor a date that limits versions to those of the commit's day."""
    is_dated = any(word.startswith("--before=") for word in case.environment.install)
    return not (is_dated or any(map(locks.is_lock, case.situation.files)))


def _requested(situation: Situation) -> Iterator[tuple[str, str]]:
    """The packages of others that the manifests ask for, with versions or ranges."""
    own = {manifest.text("name") for manifest in situation.members().values()}
    return ((name, wanted) for _, name, wanted in situation.requested() if name not in own)


def oldest(case: Case) -> Iterator[Hypothesis]:
    """Install the oldest versions that the manifests allow, if an install gets those of today, on the Node of the
    commit's day or the first one that such an install can use: these versions existed on that day."""
    before = case.environment
    if not _gets_todays_versions(case):
        return
    matches = ((name, wanted, _RANGE.fullmatch(wanted)) for name, wanted in sorted(set(_requested(case.situation))))
    edits = tuple(Edit(kind="pin", name=name, old=wanted, new=match[1]) for name, wanted, match in matches if match)
    if edits:
        others = tuple(edit for edit in before.edits if edit.kind != "pin")
        try:
            node = max(infer(case.tree, case.date, case.tests, case.fixed).node, _UNDATED_NODE, key=versions.major)
        except Unsupported:
            node = before.node
        environment = before.model_copy(update={"node": node, "edits": (*others, *edits)})
        yield Hypothesis(
            "oldest", environment, f"{len(edits)} dependencies in the oldest versions allowed, Node {node}"
        )


def other_peers(case: Case) -> Iterator[Hypothesis]:
    """Treat peers the other way: npm installs them since version 7."""
    before = case.environment
    if before.manager != "npm" or not case.missing.foreign:
        return
    version = before.manager_version or manager("npm").with_node(before.node)
    if versions.major(version) < 7 and int(before.node.partition(".")[0]) >= 10:
        environment = before.model_copy(update={"manager_version": "7"})
        yield Hypothesis("other-peers", thawed(environment, case.situation.day), "npm 7, which installs peers")
    elif before.install_env.get("npm_config_legacy_peer_deps") != "true":
        install_env = before.install_env | {"npm_config_legacy_peer_deps": "true"}
        environment = before.model_copy(update={"install_env": install_env})
        yield Hypothesis("other-peers", thawed(environment, case.situation.day), "peers as npm 6 treats them")


def other_node(case: Case) -> Iterator[Hypothesis]:
    """Use a neighboring long-term line of Node: the newer one, then the older one."""
    current = int(case.environment.node.partition(".")[0])
    older, newer = [line for line in LINES if line < current][-1:], [line for line in LINES if line > current][:1]
    for line in (*newer, *older):
        environment = case.environment.model_copy(update={"node": str(line)})
        yield Hypothesis("other-node", environment, f"Node {line} in place of {case.environment.node}")


def other_manager(case: Case) -> Iterator[Hypothesis]:
    """Use a neighboring major version of yarn or pnpm: the newer one, then the older one. They hoist packages and treat
    peers in other ways."""
    before, spec = case.environment, manager(case.environment.manager)
    text = case.tree.text(spec.lock_of(case.tree.paths))
    for version in spec.neighbors(before.manager_version, before.node, text):
        evidence = f"{spec.name} {version} in place of {before.manager_version}"
        try:
            fixed = {**case.fixed, "node": (before.node, "tried"), "manager_version": (version, evidence)}
            inferred = infer(case.tree, case.date, case.tests, fixed)
        except Unsupported:
            continue
        update = {
            "manager_version": version,
            "install": inferred.install,
            "install_env": before.install_env | inferred.install_env,
            "focus": inferred.focus if before.focus else (),
            "nested": inferred.nested,
        }
        yield Hypothesis("other-manager", thawed(before.model_copy(update=update), case.situation.day), evidence)


def patched(case: Case) -> Iterator[Hypothesis]:
    """Patch installed packages as the repository's `postinstall` does, which no install runs."""
    before, patches = case.environment, [path for path in case.tree.paths if re.match(r"patches/[^/]+\.patch$", path)]
    if patches and "patch-package" in case.tree.root().dependencies and before.install[: len(_PATCHING)] != _PATCHING:
        environment = before.model_copy(update={"install": (*_PATCHING, *before.install)})
        yield Hypothesis("patched", environment, f"the repository's patches of packages, {len(patches)} files")


def unchecked_types(case: Case) -> Iterator[Hypothesis]:
    """Leave types unchecked if the tests' compiler refuses some: the installed types may not fit together."""
    variables = runner(case.environment.runner).unchecked
    if variables and _TYPE_ERROR.search(case.log[-END:]):
        test_env = case.environment.test_env | variables
        environment = case.environment.model_copy(update={"test_env": test_env})
        yield Hypothesis("unchecked-types", environment, "types that do not fit together do not fail the tests")


#: in the order in which they are tried; only some need another install
WITHOUT_INSTALL: tuple[Proposer, ...] = (observed, by_script, read_otherwise, by_entry, one_project, prepared)
WITH_INSTALL: tuple[Proposer, ...] = (
    gathered, history_locked, oldest, other_peers, with_modules, other_node, other_manager, patched,
)  # fmt: skip
LAST: tuple[Proposer, ...] = (unchecked_types,)
#: names of hypotheses that need another install
INSTALLING = frozenset(hypothesis.__name__.replace("_", "-") for hypothesis in WITH_INSTALL)


def following(case: Case, *, installs: bool) -> Iterator[Hypothesis]:
    """All hypotheses about a case. If generated files are missing, generating them comes first, in packages that Lerna
    links, or what both generates them and starts the runner; if packages are missing, the manager is doubted
    before Node. Type checks are switched off only if nothing else helps. Without `installs`, only an install for
    patches is tried: a single test may need one."""
    ordered = sorted(WITH_INSTALL, key=lambda proposer: proposer is other_node and bool(case.missing.foreign))
    installing = ordered if installs else [patched]
    needed = [gathered] if gathered in installing and (case.missing.can_be_made or case.missing.foreign) else []
    making = [by_script, observed, prepared] if _is_hidden(case) else [prepared]
    first = [*needed, *(making if case.missing.can_be_made else [])]
    others = (hypothesis for hypothesis in (*WITHOUT_INSTALL, *installing, *LAST) if hypothesis not in first)
    for hypothesis in (*first, *others):
        yield from hypothesis(case)


def _is_hidden(case: Case) -> bool:
    """Whether only a task of the repository, such as one of Gulp, or a tool that contains the runner starts it: this
    may make what the tests need, and may have the runner's configuration."""
    manifest = case.tree.manifest(case.environment.folder)
    uses = place.alternatives(case.tree, case.tree.root(), case.tests)
    is_called = any(use.call.program for use in uses if use.runner == case.environment.runner)
    return manifest is not None and not is_called and (starts_task(manifest) or bool(starters(case.tree, manifest)))


def run_otherwise(case: Case) -> Iterator[Hypothesis]:
    """The hypotheses that only run the tests in another way, so that nothing has to be made or installed."""
    for hypothesis in (observed, by_script, read_otherwise, by_entry):
        yield from hypothesis(case)


def further(tried: str, before: Case, now: Case) -> Iterator[Hypothesis]:
    """Hypotheses that follow from a tried environment in which the base is sick as well: an added module may need
    another one, a command that started no runner may start one on another Node or with other packages, tests that now
    load may miss generated files, a server that now starts may have to serve such files, a package that is built may
    need others, and packages that are linked may have to be made."""
    can_be_made = now.missing.can_be_made and not before.missing.can_be_made
    if tried != "prepared" and (can_be_made or now.is_served and not before.is_served):
        yield from prepared(now)
    if tried == "prepared" and set(now.unbuilt) - set(before.unbuilt):
        yield from _with_all_packages(now)
    if tried == "gathered" and before.missing.can_be_made:
        yield from prepared(now)
    if tried in ("with-modules", "gathered"):
        yield from with_modules(now)
    elif tried in ("other-node", "history-locked", "oldest") and not before.observed:
        yield from observed(now)
        yield from by_script(now)


#: the files that decide which remedies and hypotheses are tried
SOURCES = (
    "repair.py", "remedies.py", "situation.py", "history_lock.py", "infer/focus.py", "missing.py", "linking.py",
    "case.py", "installed.py", "preparations.py", "hypotheses.py", "observe.py", "observe.toml", "probe.cjs",
    "infer/angular.py", "infer/workspaces.py", "infer/jobs.py", "infer/shell.py", "infer/ci.toml",
    "infer/coverage.py", "infer/foreign.py", "infer/foreign.toml", "infer/globs.py", "infer/hidden.py",
    "infer/launchers.py", "infer/leading.py", "infer/makefiles.py", "infer/patterns.py", "infer/place.py",
    "infer/runner.py", "infer/scripts.py", "infer/setups.py", "infer/sources.py", "infer/unfolding.py",
    "infer/tree.py", "infer/uses.py", "infer/words.py", "search.py",
)  # fmt: skip


@cache
def decides() -> str:
    """The digest of everything that decides hypotheses and remedies: when it changes, a rejected candidate may
    qualify."""
    texts = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in SOURCES)
    return digest(
        *(without_remarks(text) if name.endswith(".py") else text for name, text in zip(SOURCES, texts, strict=True))
    )


def _run_fields(environment: Environment) -> tuple[object, ...]:
    return tuple(str(getattr(environment, name)) for name in RUN_FIELDS if name != "runner_version")
