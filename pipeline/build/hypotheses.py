"""Which other environments a sick base may need: hypotheses, the likeliest and cheapest first.

Each is a function from what is known (`Case`) to other environments, which are made one by one on demand, since later
ones cost an install. None changes sources or tests. `qualify` tries them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from pipeline.build import asked
from pipeline.build.infer import Tree, Unsupported, ci, infer, place, scripts
from pipeline.build.infer.tree import above
from pipeline.build.infer.uses import Use
from pipeline.build.observe import Observation
from pipeline.build.remedies import LINES, Situation, nearest
from pipeline.core.law import without_remarks
from pipeline.core.records import Edit, Environment, Health
from pipeline.core.store import digest
from pipeline.ecosystems import manager, runner, versions

#: fields that a way of running tests decides: the others are the install's
WAY = (
    "runner", "runner_version", "folder", "configuration", "entries", "test", "selection", "everything", "test_env",
    "parser", "browser",
)  # fmt: skip
#: the most that one hypothesis gives
MOST = 4
#: scripts by which a package makes its own files, in the order in which they are tried
_MAKES = (
    "pretest",
    "prebuild",
    "generate",
    "codegen",
    "build:icons",
    "build:tokens",
    "prepare",
    "postinstall",
    "quick-build",
    "build:dev",
    "build",
)
_BUILDS = ("build", "compile", "build:lib", "build:js", "build:cjs", "prepack", "prepare")
#: runs a script of a package; runs a text for a shell in a folder
_NPM_RUN = ("sh", "-c", 'PATH="$PWD/node_modules/.bin:$PATH" exec npm --prefix "$0" run "$1"')
_IN_FOLDER = ("sh", "-c", 'export PATH="$PWD/node_modules/.bin:$PATH"; cd "$0" && exec sh -ec "$1"')
#: projects of a Vitest workspace that need more than Node
_BROWSERS = re.compile(r"browser|storybook|e2e|visual|playwright|webkit|firefox|chrom", re.IGNORECASE)


class Hypothesis(NamedTuple):
    """Another environment, the name of the function that it is from, and how a person reads it."""

    name: str
    environment: Environment
    tells: str


@dataclass(frozen=True)
class Case:
    """A sick base: the files of its commit, its day, its test files, what was inferred and `fixed`, the environment
    in which it was found sick, with its health and log, and commands that prepared what neighbours needed; `observe`
    starts the repository's own test command."""

    tree: Tree
    date: str
    tests: Sequence[str]
    fixed: Mapping[str, tuple[object, str]]
    environment: Environment
    health: Health
    log: str
    root: str
    there: Situation
    observe: Callable[[], list[Observation]]
    known: Sequence[tuple[tuple[str, ...], ...]] = ()

    def by(self, use: Use) -> Environment | None:
        """The environment in which a use runs the tests, with what is installed now; None where it cannot be one."""
        try:
            found = infer(self.tree, self.date, self.tests, self.fixed, use)
        except Unsupported:
            return None
        evidence = self.environment.evidence | {name: found.evidence[name] for name in WAY if name in found.evidence}
        return self.environment.model_copy(update={name: getattr(found, name) for name in WAY} | {"evidence": evidence})

    @cached_property
    def observed(self) -> list[Observation]:
        """What the repository's own test command comes down to."""
        return self.observe()

    @property
    def missing(self) -> asked.Missing:
        """What its log asks for."""
        return asked.missing(self.log, asked.names(self.tree), self.root)


def observed(case: Case) -> Iterator[Hypothesis]:
    """As the repository's own test command starts the runner."""
    for seen in case.observed[:MOST]:
        if environment := case.by(seen.use):
            yield Hypothesis("observed", environment, seen.use.evidence)


def by_script(case: Case) -> Iterator[Hypothesis]:
    """By the repository's own command, where a script of its loads the runner: with our files and our reporter, which
    every process is given. What the script sets up by itself is then there."""
    for use, command, loaded in case.observed[:MOST]:
        own = runner(use.runner)
        if not (loaded and own.by_script):
            continue
        environment = case.environment.model_copy(
            update={
                "runner": use.runner,
                "folder": command.folder,
                "entries": (),
                "test": ("node", "{reporter}", *command.argv, "--", "{files}"),
                "selection": ("{files}",),
                "everything": (),
                "test_env": own.merged("").env,
                "parser": own.parser,
            }
        )
        yield Hypothesis("by-script", environment, f"by {command.evidence}, with our files and reporter")


def read_otherwise(case: Case) -> Iterator[Hypothesis]:
    """By another script, in another folder of the workspace, or with another runner that the package knows."""
    seen = [_way(case.environment)]
    for use in place.others(case.tree, case.tree.root(), case.tests):
        environment = case.by(use)
        if environment and _way(environment) not in seen:
            seen.append(_way(environment))
            yield Hypothesis("read-otherwise", environment, use.evidence)
        if len(seen) > MOST:
            return


def one_project(case: Case) -> Iterator[Hypothesis]:
    """With one project of a Vitest workspace alone, those without a browser first."""
    own = case.environment
    if own.runner != "vitest" or any(word.startswith("--project") for word in own.test):
        return
    start = f"{own.folder}/" if own.folder else ""
    texts = [case.tree.text(path) for path in case.tree.matching(re.compile(rf"^{re.escape(start)}vite[^/]*$").search)]
    found = [name for text in texts if re.search(r"projects|defineWorkspace|workspace", text) for name in _named(text)]
    for name in sorted(dict.fromkeys(found), key=lambda one: bool(_BROWSERS.search(one)))[:MOST]:
        words = [*own.test[:-1], f"--project={name}", own.test[-1]]
        yield Hypothesis("one-project", own.model_copy(update={"test": tuple(words)}), f"the project {name} alone")


def _named(text: str) -> list[str]:
    return re.findall(r"""\bname:\s*(?:\{\s*label:\s*)?["']([\w@/.:-]+)["']""", text)


def prepared(case: Case) -> Iterator[Hypothesis]:
    """After what the repository runs before its tests, where the log asks for files that it makes."""
    if not _asks(case):
        return
    for commands in _preparations(case):
        words = "; ".join(" ".join(argv[-2:]) for argv in commands)
        environment = case.environment.model_copy(update={"prepare": commands})
        yield Hypothesis("prepared", environment, f"the tests need what this makes: {words}"[:400])


def _asks(case: Case) -> bool:
    """Whether the log asks for files that the repository makes."""
    return bool(case.missing.own or case.missing.files)


def _preparations(case: Case) -> Iterator[tuple[tuple[str, ...], ...]]:
    tree, packages = case.tree, asked.names(case.tree)
    folder = next((one for test in case.tests for one in above(test) if tree.manifest(one)), case.environment.folder)
    seen: list[tuple[tuple[str, ...], ...]] = [()]
    for commands in (
        *case.known,
        tuple(_script(home, name) for name, home in _needed(tree, packages, case.missing.own)),
        *((_script(home, name),) for home in dict.fromkeys((folder, "")) for name in _made_by(tree, home)),
        _leading(tree, folder),
        tuple(_step(step) for step in ci.before_tests(tree)),
        *((_script("", name),) for name in _made_by(tree, "", ("build",)) if folder),
    ):
        if commands not in seen:
            seen.append(commands)
            yield commands


def _needed(tree: Tree, packages: Mapping[str, str], wanted: Sequence[str]) -> list[tuple[str, str]]:
    """The scripts that build packages of the repository, those first that others need: script and folder."""
    found: dict[str, str] = {}

    def add(name: str, below: frozenset[str]) -> None:
        manifest = tree.manifest(packages[name])
        for other in manifest.dependencies if manifest and name not in below else ():
            if other in packages and other not in found:
                add(other, below | {name})
        script = next((one for one in _BUILDS if manifest and one in manifest.table("scripts")), "")
        if script and packages[name]:
            found.setdefault(name, script)

    for name in wanted:
        add(name, frozenset())
    return [(script, packages[name]) for name, script in found.items()]


def _made_by(tree: Tree, folder: str, names: Sequence[str] = _MAKES) -> list[str]:
    manifest = tree.manifest(folder)
    return [name for name in names if manifest and name in manifest.table("scripts")]


def _leading(tree: Tree, folder: str) -> tuple[tuple[str, ...], ...]:
    """What the test script runs before its last command."""
    manifest = tree.manifest(folder)
    script = manifest.table("scripts").get("test", "") if manifest else ""
    before = script.rpartition("&&")[0].strip()
    return (_shell(before, folder),) if before and len(list(scripts.commands(script))) > 1 else ()


def _script(folder: str, name: str) -> tuple[str, ...]:
    """The words that run a script of a package, with the root's programs."""
    return (*_NPM_RUN, folder or ".", name)


def _step(step: ci.Step) -> tuple[str, ...]:
    return _shell(step.text, step.folder)


def _shell(text: str, folder: str) -> tuple[str, ...]:
    return (*_IN_FOLDER, folder or ".", text)


def with_modules(case: Case) -> Iterator[Hypothesis]:
    """With packages that are loaded and that nothing asks for: peers that another manager would have installed."""
    wanted = [name for name in case.missing.foreign if not any(one.name == name for one in case.environment.edits)]
    found = [(name, version) for name in wanted[:5] if (version := _version(case, name))]
    if found:
        edits = tuple(Edit(kind="add", name=name, new=version) for name, version in found)
        environment = _thawed(case.environment.model_copy(update={"edits": (*case.environment.edits, *edits)}))
        told = ", ".join(f"{one.name} {one.new}" for one in environment.edits if one.kind == "add")
        yield Hypothesis("with-modules", environment, f"packages that the tests load and nothing asks for: {told}")


def _version(case: Case, name: str) -> str:
    """The newest that is locked, since an older one may be there already; or one that is asked for; else the
    registry's newest."""
    locked = [one.version for one in case.there.locked() if one.name == name]
    if locked:
        return nearest("", locked) or locked[0]
    peers = (manifest.table("peerDependencies").get(name) for manifest in map(case.tree.manifest, ("",)) if manifest)
    wanted = next((one for _, asks, one in case.there.asked() if asks == name), next(filter(None, peers), ""))
    return nearest(wanted, case.there.releases(name))


def other_peers(case: Case) -> Iterator[Hypothesis]:
    """With the npm that treats peers in the other way: since version 7 it installs them."""
    own = case.environment
    if own.manager != "npm" or not case.missing.foreign:
        return
    version = own.manager_version or manager("npm").with_node(own.node)
    if versions.major(version) < 7 and int(own.node.partition(".")[0]) >= 10:
        environment = own.model_copy(update={"manager_version": "7"})
        yield Hypothesis("other-peers", _thawed(environment), "npm 7, which installs peers")
    elif own.install_env.get("npm_config_legacy_peer_deps") != "true":
        environment = own.model_copy(update={"install_env": own.install_env | {"npm_config_legacy_peer_deps": "true"}})
        yield Hypothesis("other-peers", _thawed(environment), "peers as npm 6 treats them")


def other_node(case: Case) -> Iterator[Hypothesis]:
    """On a neighbouring long-term line of Node: the older first where something newer was inferred than locked."""
    here = int(case.environment.node.partition(".")[0])
    older, newer = [one for one in LINES if one < here][-1:], [one for one in LINES if one > here][:1]
    for line in (*newer, *older):
        environment = case.environment.model_copy(update={"node": str(line)})
        yield Hypothesis("other-node", environment, f"Node {line} in place of {case.environment.node}")


#: in the order in which they are tried; the later ones install anew
WAYS: tuple[Callable[[Case], Iterator[Hypothesis]], ...] = (observed, by_script, read_otherwise, one_project, prepared)
ANEW: tuple[Callable[[Case], Iterator[Hypothesis]], ...] = (other_peers, with_modules, other_node)
#: names of hypotheses that install anew
INSTALLING = frozenset(one.__name__.replace("_", "-") for one in ANEW)


def following(case: Case, *, installs: bool) -> Iterator[Hypothesis]:
    """All hypotheses about a case. Where its log asks for files that are made, making them comes first."""
    ways = (prepared, *(one for one in WAYS if one is not prepared)) if _asks(case) else WAYS
    for hypothesis in (*ways, *(ANEW if installs else ())):
        yield from hypothesis(case)


def further(tried: str, before: Case, now: Case) -> Iterator[Hypothesis]:
    """What an environment leads to that was tried and is sick as well: a module that was added may need another one, a
    command that started no runner may start one on another Node, and tests that are read at last ask for what is made
    before them."""
    if tried != "prepared" and _asks(now) and not _asks(before):
        yield from prepared(now)
    if tried == "with-modules":
        yield from with_modules(now)
    elif tried == "other-node" and not before.observed:
        yield from observed(now)
        yield from by_script(now)


@cache
def decides() -> str:
    """The digest of all that hypotheses follow from: under another one, a rejection may be none."""
    own = ("asked.py", "hypotheses.py", "observe.py", "observe.toml", "probe.cjs")
    texts = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in own)
    return digest(
        *(without_remarks(text) if name.endswith(".py") else text for name, text in zip(own, texts, strict=True))
    )


def _way(environment: Environment) -> tuple[object, ...]:
    return tuple(str(getattr(environment, name)) for name in WAY if name != "runner_version")


def _thawed(environment: Environment) -> Environment:
    """An install that may change the lock file."""
    thaw = manager(environment.manager).thaw
    install = tuple(filter(None, (thaw.get(word, word) for word in environment.install)))
    return environment.model_copy(update={"install": install})
