"""What can be done about a fault: pure functions from a diagnosis to another environment, `REMEDIES` by name.

A remedy returns None if it has nothing to change. It asks the registry for the versions of a package and nothing else.
Does not cover changes to a repository's sources or tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.build.infer import Tree, focus
from pipeline.build.infer.hidden import starters
from pipeline.build.situation import Chain, Situation
from pipeline.core.records import Edit, Environment, Nested
from pipeline.ecosystems import edits, locks, runner, versions
from pipeline.ecosystems.installation import thawed
from pipeline.ecosystems.manager_folder import manager

#: Node's long-term lines
LINES = (8, 10, 12, 14, 16, 18, 20, 22, 24)
#: an address in place of a version: a git repository, an archive, a GitHub shorthand
FOREIGN = re.compile(r"(?:git|git\+\w+|https?|ssh|github|gitlab|bitbucket):|git@|[\w.-]+/[\w.-]+(?:#|$)")
#: shorthand for a source -> its host
SHORT = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
#: host of archives -> the host at which they are requested
BEHIND = {"codeload.github.com": "github.com"}
#: the host of an address
_HOST = re.compile(r"(?:[\w+]+://)?(?:[^@/]*@)?([\w.-]*)")
#: pattern of packages for single platforms -> the package that ships them
PLATFORM_PARENTS = (
    (r"@rollup/rollup-.*", "rollup"),
    (r"@esbuild/.*|esbuild-(?:linux|darwin|windows).*", "esbuild"),
    (r"@swc/core-.*", "@swc/core"),
    (r"lightningcss-.*", "lightningcss"),
    (r"@rolldown/binding-.*", "rolldown"),
    (r"@unrs/resolver-binding-.*", "unrs-resolver"),
    (r"@tailwindcss/oxide-.*", "@tailwindcss/oxide"),
)


@dataclass(frozen=True)
class Diagnosis:
    """An environment that failed, the captures of the log's pattern, the arguments of the table's row, and its name."""

    environment: Environment
    found: Mapping[str, str]
    arguments: Mapping[str, Any]
    situation: Situation
    fault: str = ""


Remedy = Callable[[Diagnosis], Environment | None]


def substitute(diagnosis: Diagnosis) -> Environment | None:
    """Take the nearest version that the registry has in place of one that is gone."""
    name = diagnosis.found["name"]
    requested = (version for _, package, version in diagnosis.situation.requested() if package == name)
    old = diagnosis.found.get("old") or next(requested, "")
    new = nearest(old, diagnosis.situation.releases(name))
    edit = Edit(kind="pin", name=name, old=old, new=new)
    return _edited(diagnosis.environment, edit, diagnosis.situation) if new not in ("", old) else None


def drop(diagnosis: Diagnosis) -> Environment | None:
    """Leave out a package that is only a development dependency, and does not run the tests."""
    name = diagnosis.found["name"]
    tables = {table for table, requested, _ in diagnosis.situation.requested() if requested == name}
    if not tables or "dependencies" in tables or name in _running(diagnosis):
        return None
    return _edited(diagnosis.environment, Edit(kind="drop", name=name), diagnosis.situation)


def prune(diagnosis: Diagnosis) -> Environment | None:
    """Leave out the dependency at the start of the chain that pulls in a package that is gone: a development
    dependency, or any dependency of a package of the workspace that the tests do not need."""
    before, found = diagnosis.environment, diagnosis.found
    chains = list(diagnosis.situation.chains(before, found["name"], found.get("old", "")))
    runners = _running(diagnosis)
    if not chains or any(_holds(chain, runners) for chain in chains):
        return None
    folders_of: dict[str, list[str]] = {}
    for ask, *_ in chains:
        folders_of.setdefault(ask.name, []).append(ask.folder or ".")
    changed = diagnosis.environment
    for name, folders in folders_of.items():
        edit = Edit(kind="drop", name=name, folders=tuple(dict.fromkeys(folders)))
        changed = _edited(changed, edit, diagnosis.situation) or changed
    return changed if changed != diagnosis.environment else None


def from_registry(diagnosis: Diagnosis) -> Environment | None:
    """Take packages whose host refuses from the registry; otherwise, leave them out if only development needs them, or
    only packages of the workspace that are tools of the tested ones."""
    changed = diagnosis.environment
    for name, address, version in sorted(set(_at_host(diagnosis.situation, diagnosis.found["host"]))):
        new = nearest(version, diagnosis.situation.releases(name))
        pin = Edit(kind="pin", name=name, old=address, new=new)
        pinned = _edited(changed, pin, diagnosis.situation) if new else None
        without = replace(diagnosis, environment=changed, found={"name": name})
        changed = pinned or drop(without) or _drop_from_tools(without) or changed
    return changed if changed != diagnosis.environment else None


def _drop_from_tools(diagnosis: Diagnosis) -> Environment | None:
    """Leave out what only tools depend on, that is, packages of the workspace with which the tested ones are developed.
    If the tests need it after all, they fail as they would without an install."""
    members, name = diagnosis.situation.members(), diagnosis.found["name"]
    asking = {path for path, manifest in members.items() if name in manifest.table("dependencies")}
    touched = focus.touched(members, diagnosis.situation.tests)
    if not asking or not touched or asking & focus.needed(members, touched, focus.SHIPPED):
        return None
    edit = Edit(kind="drop", name=name, folders=tuple(sorted(asking)))
    return _edited(diagnosis.environment, edit, diagnosis.situation)


def rehost(diagnosis: Diagnosis) -> Environment | None:
    """Ask this machine's registry for packages that are locked or looked up at another one."""
    named = re.compile(rf"https?://{re.escape(diagnosis.found['host'])}(?::\d+)?/".encode())
    archives = re.compile(named.pattern + rb"[^\s\"']*/(?:-|(?<!/releases/)download)/")
    files = diagnosis.situation.files.items()
    if not any((named if edits.is_settings(path) else archives).search(content) for path, content in files):
        return None
    return _edited(diagnosis.environment, Edit(kind="rehost", name=diagnosis.found["host"]), diagnosis.situation)


def reseal(diagnosis: Diagnosis) -> Environment | None:
    """Take the current checksum of the registry's archive."""
    locked = (content for path, content in diagnosis.situation.files.items() if locks.is_lock(path))
    if not any(diagnosis.found["old"].encode() in content for content in locked):
        return None
    edit = Edit(kind="reseal", name="checksum", old=diagnosis.found["old"], new=diagnosis.found["new"])
    return _edited(diagnosis.environment, edit, diagnosis.situation)


def unset(diagnosis: Diagnosis) -> Environment | None:
    """Leave out a setting of the package manager."""
    files = diagnosis.situation.files
    edit = Edit(kind="unset", name=diagnosis.arguments.get("setting") or diagnosis.found["setting"])
    if edits.apply([edit], files, str) == files:
        return None
    return _edited(diagnosis.environment, edit, diagnosis.situation)


def peers_left(diagnosis: Diagnosis) -> Environment | None:
    """Do not request peers if the lock file lacks only peers: the program that wrote it left them out."""
    missing = set(re.findall(r"Missing: (\S+)@", diagnosis.found["missing"]))
    requested = {name for _, name, _ in diagnosis.situation.requested()}
    if diagnosis.environment.manager != diagnosis.arguments["manager"] or missing & requested:
        return None
    return _with(diagnosis.environment, "install_env", diagnosis.arguments["set"])


def whole(diagnosis: Diagnosis) -> Environment | None:
    """Install all packages of the workspace, unless the missing one is installed already: that one must be built."""
    before = diagnosis.environment
    present = focus.installed(diagnosis.situation.members(), before.focus).values()
    if not before.focus or diagnosis.found.get("module") in {manifest.text("name") for manifest in present}:
        return None
    return before.model_copy(update={"focus": ()})


def manager_asked(diagnosis: Diagnosis) -> Environment | None:
    """Take the newest version of the manager that the repository requests."""
    releases = diagnosis.situation.releases(diagnosis.environment.manager)
    fitting = [release for release in releases if versions.satisfies(release, diagnosis.found["wanted"])]
    new = nearest("", fitting)
    if not new or new == diagnosis.environment.manager_version:
        return None
    return diagnosis.environment.model_copy(update={"manager_version": new})


def manager_newer(diagnosis: Diagnosis) -> Environment | None:
    """Take the next major version of the manager, if it reads the lock file and runs on this Node."""
    before, spec, texts = diagnosis.environment, manager(diagnosis.environment.manager), diagnosis.situation.files
    lock = texts.get(spec.lock_of(texts), b"").decode(errors="replace")
    found = spec.neighbors(before.manager_version, before.node, lock)
    newer = [version for version in found if versions.major(version) > versions.major(before.manager_version)]
    return before.model_copy(update={"manager_version": newer[0]}) if newer else None


def manager_at_least(diagnosis: Diagnosis) -> Environment | None:
    """Take the version of a manager that the row names in place of an older one, if it runs on this Node."""
    before, row = diagnosis.environment, diagnosis.arguments
    runs = versions.satisfies(versions.full(before.node), row["node"])
    is_older = before.manager == row["manager"] and _is_older(before, row["version"])
    return before.model_copy(update={"manager_version": row["version"]}) if runs and is_older else None


def _is_older(environment: Environment, version: str) -> bool:
    """Whether an environment's manager is of an earlier major version."""
    current = environment.manager_version or manager(environment.manager).with_node(environment.node)
    return versions.major(current) < versions.major(version)


def node_asked(diagnosis: Diagnosis) -> Environment | None:
    """Take the line of Node that the repository requests and that is nearest to the current one."""
    current = versions.major(diagnosis.environment.node)
    fitting = [line for line in LINES if versions.satisfies(f"{line}.99.99", diagnosis.found["wanted"])]
    new = min(fitting, key=lambda line: abs(line - current), default=current)
    return diagnosis.environment.model_copy(update={"node": str(new)}) if new != current else None


def thaw(diagnosis: Diagnosis) -> Environment | None:
    """Let the manager change its lock file; versions that still fit stay locked."""
    changed = thawed(diagnosis.environment, diagnosis.situation.day)
    return changed if changed != diagnosis.environment else None


def option(diagnosis: Diagnosis) -> Environment | None:
    """Give the install commands of a manager one more word."""
    before, name, word = diagnosis.environment, diagnosis.arguments["manager"], diagnosis.arguments["word"]

    def longer(place: Environment | Nested) -> tuple[str, ...]:
        is_meant = place.install and place.manager == name and word not in place.install
        return (*place.install, word) if is_meant else place.install

    nested = tuple(place.model_copy(update={"install": longer(place)}) for place in before.nested)
    changed = before.model_copy(update={"install": longer(before), "nested": nested})
    return thawed(changed, diagnosis.situation.day) if changed != before else None


def undated(diagnosis: Diagnosis) -> Environment | None:
    """Move the date of an install by a week, then leave it out: mirrors may date a version by when they fetched it."""
    before = diagnosis.environment.install
    dates = (versions.published_by(diagnosis.situation.day), versions.published_by(diagnosis.situation.day, days=7))
    first, later = (f"--before={date}" for date in dates)
    is_moved = bool(diagnosis.situation.day and first in before)
    if is_moved:
        install = tuple(later if word == first else word for word in before)
    else:
        install = tuple(word for word in before if not word.startswith("--before="))
    wanted, releases = diagnosis.found.get("old", ""), diagnosis.situation.releases(diagnosis.found["name"])
    gone = not releases or (wanted[:1].isdigit() and wanted not in releases)
    if gone or install == before:
        return None
    environment = diagnosis.environment.model_copy(update={"install": install})
    is_locked = any(map(locks.is_lock, diagnosis.situation.files))
    return environment if is_moved else _with_fitting(environment, diagnosis.arguments, is_locked)


def _with_fitting(environment: Environment, row: Mapping[str, Any], is_locked: bool) -> Environment:
    """The environment of an install without a date, where the row's manager prefers packages for its Node: the newest
    ones need a newer Node than that of the commit's day. Its version, and Node, may be newer unless they read a lock
    file, too."""
    if environment.manager != row.get("manager"):
        return environment
    is_older = _is_older(environment, row["version"])
    if is_locked and is_older:
        return environment
    update: dict[str, Any] = {"install": (*environment.install, row["word"])}
    if not is_locked:
        update["node"] = max(environment.node, row["node"], key=versions.major)
    if is_older:
        update |= {"manager_version": row["version"], "install_env": environment.install_env | row["set"]}
    return environment.model_copy(update=update)


def install_env(diagnosis: Diagnosis) -> Environment | None:
    """Set variables of the install: the row's, else the manager's; captures are filled into their names."""
    row = manager(diagnosis.environment.manager).faults.get(diagnosis.fault)
    settings = diagnosis.arguments.get("set", row.set if row else {})
    values = {name.format(**diagnosis.found): value for name, value in settings.items()}
    return _with(diagnosis.environment, "install_env", values)


def test_env(diagnosis: Diagnosis) -> Environment | None:
    """Add words to variables of the test command."""
    before, additions = diagnosis.environment.test_env, diagnosis.arguments["add"]
    words = {name: before.get(name, "").split() for name in additions}
    added = {name: " ".join([*words[name], word]) for name, word in additions.items() if word not in words[name]}
    return _with(diagnosis.environment, "test_env", added)


def node(diagnosis: Diagnosis) -> Environment | None:
    """Take the next long-term line of Node (`step` 1) or the one before (-1); at least the captured one, if any."""
    current, step = int(diagnosis.environment.node.partition(".")[0]), diagnosis.arguments["step"]
    least = int(diagnosis.found.get("node", 0))
    beyond = [line for line in LINES[::step] if (line - current) * step > 0 and (not least or current < least <= line)]
    return diagnosis.environment.model_copy(update={"node": str(beyond[0])}) if beyond else None


def with_word(diagnosis: Diagnosis) -> Environment | None:
    """Give the test command of a runner one more word, before the files."""
    before, name, word = diagnosis.environment, diagnosis.arguments["runner"], diagnosis.arguments["word"]
    if before.runner != name or word in before.test or "{files}" not in before.test:
        return None
    place = before.test.index("{files}")
    return before.model_copy(update={"test": (*before.test[:place], word, *before.test[place:])})


def without(diagnosis: Diagnosis) -> Environment | None:
    """Leave out an option of the test command that the runner does not know, and its value; never the report's."""
    words = list(diagnosis.environment.test)
    named = _plain_option(diagnosis.found["option"])
    found = [index for index, word in enumerate(words) if word.startswith("-") and _plain_option(word) == named]
    if not found or any("{" in word for index in found for word in _with_value(words, index)):
        return None
    for index in reversed(found):
        words[index : index + len(_with_value(words, index))] = []
    return diagnosis.environment.model_copy(update={"test": tuple(words)})


def unselect(diagnosis: Diagnosis) -> Environment | None:
    """Leave out the arguments that select projects which the runner's configuration does not have."""
    before, projects = diagnosis.environment.test, runner(diagnosis.environment.runner).projects
    names = re.findall(r'"([^"]+)"', diagnosis.found["names"])
    test = projects.unselected(before, names) if projects else before
    return diagnosis.environment.model_copy(update={"test": test}) if test != before else None


def _plain_option(word: str) -> str:
    """The same name for `--hookTimeout=1`, `--hook-timeout` and `hookTimeout`."""
    return word.strip("-`'\"").partition("=")[0].replace("-", "").lower()


def _with_value(words: list[str], index: int) -> list[str]:
    """An option, and the next word if that is its value."""
    behind = words[index + 1 : index + 2]
    alone = "=" in words[index] or not behind or behind[0].startswith("-") or behind[0] == "{files}"
    return words[index : index + 1] if alone else words[index : index + 2]


def browser(diagnosis: Diagnosis) -> Environment | None:
    """Put a browser into the image."""
    return None if diagnosis.environment.browser else diagnosis.environment.model_copy(update={"browser": "chromium"})


def rebuild(diagnosis: Diagnosis) -> Environment | None:
    """Run the install scripts of one package: they are all off by default."""
    names = {*diagnosis.environment.rebuild, diagnosis.arguments.get("package") or diagnosis.found["name"]}
    changed = diagnosis.environment.model_copy(update={"rebuild": tuple(sorted(names))})
    return changed if changed != diagnosis.environment else None


def platform(diagnosis: Diagnosis) -> Environment | None:
    """Add the package for this platform that a lock file from another platform leaves out."""
    name = diagnosis.found["name"]
    parent = next((parent for pattern, parent in PLATFORM_PARENTS if re.fullmatch(pattern, name)), None)
    version = next((package.version for package in diagnosis.situation.locked() if package.name == parent), None)
    if not version:
        return None
    return _edited(diagnosis.environment, added(diagnosis.environment, name, version), diagnosis.situation)


REMEDIES: dict[str, Remedy] = {
    remedy.__name__: remedy
    for remedy in (
        substitute, drop, prune, from_registry, rehost, reseal, unset, thaw, peers_left, whole, option, undated,
        install_env, test_env, manager_asked, manager_newer, manager_at_least, node_asked, node,
        with_word, without, unselect, browser, rebuild, platform,
    )
}  # fmt: skip


def added(environment: Environment, name: str, version: str) -> Edit:
    """The edit that adds a package: to the root, or without one, to the folders that are installed."""
    folders = () if environment.install else tuple(nested.folder for nested in environment.nested)
    return Edit(kind="add", name=name, new=version, folders=folders)


def nearest(wanted: str, releases: list[str]) -> str:
    """The highest release up to `wanted` of the same major, else the lowest above it; "" where there is none.

    `wanted` is a version, or a range whose first version counts; for an address it is the newest release.
    """
    stable = sorted((release for release in releases if "-" not in release), key=versions.order)
    version = re.match(r"[\^~>=v\s]*(\d+(?:\.\d+)*)", wanted)
    if not version:
        return stable[-1] if stable else ""
    line = [release for release in stable if versions.order(release)[0] == versions.order(version[1])[0]]
    below = [release for release in line if versions.order(release) <= versions.order(version[1])]
    return below[-1] if below else next(iter(line), "")


def _at_host(situation: Situation, host: str) -> Iterator[tuple[str, str, str]]:
    """Packages that are requested from a host: their names, addresses, and locked versions."""
    packages = situation.locked()
    locked = {(package.name, address): package.version for package in packages for address in package.requested}
    wanted = {(name, address): "" for _, name, address in situation.requested()}
    for (name, address), version in (wanted | locked).items():
        if FOREIGN.match(address) and "/-/" not in address and _is_at(address, host):
            yield name, address, version


def _is_at(address: str, host: str) -> bool:
    """Whether an address is at a host, at one below it, or at the host whose archives come from it."""
    plain = address.partition("#")[0]
    short = SHORT.get(plain.partition(":")[0], SHORT["github"] if ":" not in plain else "")
    named = (short or next(_HOST.finditer(plain))[1]).lower()
    where, refusing = BEHIND.get(named, named), BEHIND.get(host, host)
    return where == refusing or where.endswith(f".{refusing}")


def _edited(environment: Environment, edit: Edit, situation: Situation) -> Environment | None:
    if edit in environment.edits:
        return None
    edited = environment.model_copy(update={"edits": (*environment.edits, edit)})
    return thawed(edited, situation.day) if edit.kind in ("drop", "pin", "add") else edited


def _holds(chain: Chain, runners: Collection[str]) -> bool:
    """Whether a dependency must not be left out: the library itself needs it, or it runs the tests."""
    return chain.ask.name in runners or (chain.is_needed and chain.ask.table == "dependencies")


def _running(diagnosis: Diagnosis) -> set[str]:
    """The packages that run the tests: the runner; unless a tested package asks for it, what brings it along, and what
    the tested packages' commands start."""
    situation, runners = diagnosis.situation, _runner(diagnosis.environment)
    chains = (chain for name in sorted(runners) for chain in situation.chains(diagnosis.environment, name))
    bringing = {chain.ask.name for chain in chains if chain.is_needed}
    if not bringing.isdisjoint(runners):
        return runners
    members = situation.members()
    tree = Tree(situation.files, lambda path: situation.files[path].decode(errors="replace"))
    tested = (members[folder] for folder in sorted({"", *focus.touched(members, situation.tests)} & members.keys()))
    return {*runners, *bringing, *(name for manifest in tested for name in starters(tree, manifest))}


def _runner(environment: Environment) -> set[str]:
    spec = runner(environment.runner)
    return {*spec.packages, *(wrapper.package for wrapper in spec.wrapper)}


def _with(environment: Environment, name: str, values: Mapping[str, str]) -> Environment | None:
    before = getattr(environment, name)
    after = {**before, **values}
    return environment.model_copy(update={name: after}) if after != before else None
