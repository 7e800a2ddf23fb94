"""What can be done about a fault: pure functions from a diagnosis to another environment, `REMEDIES` by name.

A remedy returns None if it has nothing to change. It asks the registry for the versions of a package and nothing else.
Does not cover changes to a repository's sources or tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.build.infer import Tree, focus
from pipeline.build.infer.tree import Manifest, Unsupported
from pipeline.core.records import Edit, Environment
from pipeline.ecosystems import edits, locks, runner, versions
from pipeline.ecosystems.graph import Ask, Graph
from pipeline.ecosystems.manager_folder import manager
from pipeline.ecosystems.registry import LookUp, elsewhere

#: Node's long-term lines
LINES = (8, 10, 12, 14, 16, 18, 20, 22, 24)
#: an address in the place of a version: a git repository, an archive, a GitHub shorthand
FOREIGN = re.compile(r"(?:git|git\+\w+|https?|ssh|github|gitlab|bitbucket):|git@|[\w.-]+/[\w.-]+(?:#|$)")
#: sources that are written without their host
SHORT = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
#: packages that another one ships for single platforms -> that one
PLATFORM_PARENTS = (
    (r"@rollup/rollup-.*", "rollup"),
    (r"@esbuild/.*|esbuild-(?:linux|darwin|windows).*", "esbuild"),
    (r"@swc/core-.*", "@swc/core"),
    (r"lightningcss-.*", "lightningcss"),
    (r"@rolldown/binding-.*", "rolldown"),
    (r"@unrs/resolver-binding-.*", "unrs-resolver"),
    (r"@tailwindcss/oxide-.*", "@tailwindcss/oxide"),
)


def _unasked(packages: Iterable[locks.Locked]) -> LookUp:
    return LookUp()


@dataclass(frozen=True)
class Situation:
    """What remedies look at: the manifests as they would be installed, and which versions the registry has.

    `look_up` says which locked versions are gone, `tests` are the touched test files, `day` is the commit's (ISO).
    """

    files: Mapping[str, bytes]
    releases: Callable[[str], list[str]]
    look_up: Callable[[Iterable[locks.Locked]], LookUp] = _unasked
    tests: tuple[str, ...] = ()
    day: str = ""
    _known: dict[tuple[Edit, ...], Situation] = field(init=False, default_factory=dict, compare=False, repr=False)

    def after(self, environment: Environment) -> Situation:
        """The same once the edits of an environment are made, each on what those before it made: there may be many."""
        return self._edited(environment.edits)

    def _edited(self, several: tuple[Edit, ...]) -> Situation:
        if not several:
            return self
        if several not in self._known:
            before = self._edited(several[:-1])
            files = edits.apply(several[-1:], before.files, lambda: "https://registry/")
            self._known[several] = replace(before, files=files)
        return self._known[several]

    def members(self) -> dict[str, Manifest]:
        """The packages of the workspace by folder, the root among them; none without one that can be read."""
        tree = Tree(self.files, lambda path: self.files[path].decode(errors="replace"))
        try:
            return focus.members(tree)
        except Unsupported:
            return {}

    def graph(self, there: Mapping[str, Manifest]) -> Graph:
        """Who asks for whom in the lock file at the root, for these packages of the workspace."""
        path = next((path for path in sorted(self.files) if "/" not in path and locks.is_lock(path)), "")
        text = self.files[path].decode(errors="replace") if path else ""
        return locks.graph(path, text, {folder: one.data for folder, one in there.items()})

    def fetched(self, environment: Environment) -> list[locks.Locked]:
        """The locked packages that an install asks the registry for, of those that it cannot do without."""
        graph = self.graph(focus.installed(self.members(), environment.focus))
        others = elsewhere(self.files)
        return [one for one in graph.reached(graph.requested) if not others(one.name)]

    def needed(self, there: Mapping[str, Manifest], environment: Environment) -> set[str]:
        """The folders of the packages that the tests need: all, where what they touch does not say it."""
        chosen = focus.installed(dict(there), environment.focus)
        own = focus.touched(dict(there), self.tests)
        return focus.needed(dict(there), own) if own else set(chosen)

    def locked(self) -> Iterator[locks.Locked]:
        """Every package of every lock file."""
        for path in filter(locks.is_lock, self.files):
            yield from locks.locked(path, self.files[path].decode(errors="replace"))

    def asked(self) -> Iterator[tuple[str, str, str]]:
        """What the package.json files ask for: table, name, and version, range or address."""
        for _, data in edits.packages(self.files):
            for table, wanted in edits.dependency_tables(data):
                yield from ((table, name, version) for name, version in wanted.items() if isinstance(version, str))

    def has(self, name: str, version: str = "") -> bool:
        """Whether a package is asked for or locked, in this version or by this range where one is given."""
        known = [(n, (v,)) for _, n, v in self.asked()] + [
            (one.name, (one.version, *one.requested)) for one in self.locked()
        ]
        return any(n == name and (not version or version in versions) for n, versions in known)


@dataclass(frozen=True)
class Diagnosis:
    """An environment that failed, what the log's pattern captured, the arguments of the table's row, and its name."""

    environment: Environment
    found: Mapping[str, str]
    more: Mapping[str, Any]
    there: Situation
    fault: str = ""


Remedy = Callable[[Diagnosis], Environment | None]


def substitute(seen: Diagnosis) -> Environment | None:
    """Take the nearest version that the registry has in place of one that is gone."""
    name = seen.found["name"]
    old = seen.found.get("old") or next((version for _, one, version in seen.there.asked() if one == name), "")
    new = nearest(old, seen.there.releases(name))
    edit = Edit(kind="pin", name=name, old=old, new=new)
    return _edited(seen.environment, edit, seen.there) if new not in ("", old) else None


def drop(seen: Diagnosis) -> Environment | None:
    """Leave out a package that only development asks for."""
    tables = {table for table, name, _ in seen.there.asked() if name == seen.found["name"]}
    if not tables or "dependencies" in tables:
        return None
    return _edited(seen.environment, Edit(kind="drop", name=seen.found["name"]), seen.there)


def prune(seen: Diagnosis) -> Environment | None:
    """Leave out what brings along a package that is gone, where its chain begins: a development dependency, or
    whatever another package of the workspace than the tested ones asks for."""
    there = seen.there.members()
    chains = seen.there.graph(there).chains(seen.found["name"], seen.found.get("old", ""))
    needed, runners = seen.there.needed(there, seen.environment), _runner(seen.environment)
    if not chains or any(_holds(ask, needed, runners) for ask in chains):
        return None
    folders: dict[str, list[str]] = {}
    for ask in sorted(chains):
        folders.setdefault(ask.name, []).append(ask.folder or ".")
    changed = seen.environment
    for name, places in folders.items():
        edit = Edit(kind="drop", name=name, folders=tuple(dict.fromkeys(places)))
        changed = _edited(changed, edit, seen.there) or changed
    return changed if changed != seen.environment else None


def from_registry(seen: Diagnosis) -> Environment | None:
    """Take from the registry what is asked for at a host that refuses; leave out what only development needs."""
    changed = seen.environment
    for name, address, version in sorted(set(_at_host(seen.there, seen.found["host"]))):
        new = nearest(version, seen.there.releases(name))
        pinned = _edited(changed, Edit(kind="pin", name=name, old=address, new=new), seen.there) if new else None
        changed = pinned or drop(Diagnosis(changed, {"name": name}, {}, seen.there)) or changed
    return changed if changed != seen.environment else None


def rehost(seen: Diagnosis) -> Environment | None:
    """Ask this host's registry for what was locked, or is looked for, at another."""
    named = re.compile(rf"https?://{re.escape(seen.found['host'])}(?::\d+)?/".encode())
    archives = re.compile(named.pattern + rb"[^\s\"']*/(?:-|download)/")
    there = seen.there.files.items()
    if not any((named if edits.is_settings(path) else archives).search(content) for path, content in there):
        return None
    return _edited(seen.environment, Edit(kind="rehost", name=seen.found["host"]), seen.there)


def reseal(seen: Diagnosis) -> Environment | None:
    """Take the checksum that the registry's archive has now."""
    locked = (content for path, content in seen.there.files.items() if locks.is_lock(path))
    if not any(seen.found["old"].encode() in content for content in locked):
        return None
    edit = Edit(kind="reseal", name="checksum", old=seen.found["old"], new=seen.found["new"])
    return _edited(seen.environment, edit, seen.there)


def unset(seen: Diagnosis) -> Environment | None:
    """Leave out a setting of the package manager."""
    edit = Edit(kind="unset", name=seen.more.get("setting") or seen.found["setting"])
    return _edited(seen.environment, edit, seen.there)


def peers_left(seen: Diagnosis) -> Environment | None:
    """Do not ask for peers where the lock file has none: its writer left them out, and lacks nothing else."""
    missing = set(re.findall(r"Missing: (\S+)@", seen.found["missing"]))
    if seen.environment.manager != seen.more["manager"] or missing & {name for _, name, _ in seen.there.asked()}:
        return None
    return _with(seen.environment, "install_env", seen.more["set"])


def whole(seen: Diagnosis) -> Environment | None:
    """Install all packages of the workspace."""
    return seen.environment.model_copy(update={"focus": ()}) if seen.environment.focus else None


def manager_asked(seen: Diagnosis) -> Environment | None:
    """Take the newest version of the manager that the repository asks for."""
    name = seen.environment.manager
    fitting = [one for one in seen.there.releases(name) if versions.satisfies(one, seen.found["wanted"])]
    new = nearest("", fitting)
    if not new or new == seen.environment.manager_version:
        return None
    return seen.environment.model_copy(update={"manager_version": new})


def node_asked(seen: Diagnosis) -> Environment | None:
    """Take the line of Node that the repository asks for: the nearest to the one here."""
    here = versions.major(seen.environment.node)
    fitting = [line for line in LINES if versions.satisfies(f"{line}.99.99", seen.found["wanted"])]
    new = min(fitting, key=lambda line: abs(line - here), default=here)
    return seen.environment.model_copy(update={"node": str(new)}) if new != here else None


def thaw(seen: Diagnosis) -> Environment | None:
    """Let the manager change its lock file: what still fits stays as it is locked."""
    thawed = _thawed(seen.environment, seen.there)
    return thawed if thawed != seen.environment else None


def option(seen: Diagnosis) -> Environment | None:
    """Give the install command of a manager one more word."""
    if seen.environment.manager != seen.more["manager"] or seen.more["word"] in seen.environment.install:
        return None
    install = (*seen.environment.install, seen.more["word"])
    return _thawed(seen.environment.model_copy(update={"install": install}), seen.there)


def undated(seen: Diagnosis) -> Environment | None:
    """Leave out the date of an install without lock file: a mirror may know when it fetched a version, not its day."""
    install = tuple(word for word in seen.environment.install if not word.startswith("--before="))
    wanted, releases = seen.found.get("old", ""), seen.there.releases(seen.found["name"])
    gone = not releases or (wanted[:1].isdigit() and wanted not in releases)
    if gone or install == seen.environment.install:
        return None
    return seen.environment.model_copy(update={"install": install})


def install_env(seen: Diagnosis) -> Environment | None:
    """Set variables of the install, the row's or those that the manager knows; a name may hold what was found."""
    own = manager(seen.environment.manager).faults.get(seen.fault)
    settings = seen.more.get("set", own.set if own else {})
    values = {name.format(**seen.found): value for name, value in settings.items()}
    return _with(seen.environment, "install_env", values)


def test_env(seen: Diagnosis) -> Environment | None:
    """Add words to variables of the test command."""
    before = seen.environment.test_env
    words = {name: before.get(name, "").split() for name in seen.more["add"]}
    added = {name: " ".join([*words[name], word]) for name, word in seen.more["add"].items() if word not in words[name]}
    return _with(seen.environment, "test_env", added)


def node(seen: Diagnosis) -> Environment | None:
    """Take the next long-term line of Node (`step` 1), or the one before (-1); one as new as was found, if any was."""
    here, step = int(seen.environment.node.partition(".")[0]), seen.more["step"]
    least = int(seen.found.get("node", 0))
    beyond = [line for line in LINES[::step] if (line - here) * step > 0 and (not least or here < least <= line)]
    return seen.environment.model_copy(update={"node": str(beyond[0])}) if beyond else None


def without(seen: Diagnosis) -> Environment | None:
    """Leave an option of the test command out that the runner does not know, with its value; never the report's."""
    words = list(seen.environment.test)
    named = _plain_option(seen.found["option"])
    found = [place for place, word in enumerate(words) if word.startswith("-") and _plain_option(word) == named]
    if not found or any("{" in word for place in found for word in _with_value(words, place)):
        return None
    for place in reversed(found):
        words[place : place + len(_with_value(words, place))] = []
    return seen.environment.model_copy(update={"test": tuple(words)})


def _plain_option(word: str) -> str:
    """`--hookTimeout=1`, `--hook-timeout` and `hookTimeout` are one."""
    return word.strip("-`'\"").partition("=")[0].replace("-", "").lower()


def _with_value(words: list[str], place: int) -> list[str]:
    """An option, and the word behind it where that is its value."""
    behind = words[place + 1 : place + 2]
    own = "=" in words[place] or not behind or behind[0].startswith("-") or behind[0] == "{files}"
    return words[place : place + 1] if own else words[place : place + 2]


def browser(seen: Diagnosis) -> Environment | None:
    """Let the tests find a browser."""
    return None if seen.environment.browser else seen.environment.model_copy(update={"browser": "chromium"})


def rebuild(seen: Diagnosis) -> Environment | None:
    """Run the install scripts of one package: we install with all of them off."""
    names = {*seen.environment.rebuild, seen.more.get("package") or seen.found["name"]}
    changed = seen.environment.model_copy(update={"rebuild": tuple(sorted(names))})
    return changed if changed != seen.environment else None


def platform(seen: Diagnosis) -> Environment | None:
    """Ask for the package of this platform that a lock file from another one leaves out."""
    parent = next((parent for pattern, parent in PLATFORM_PARENTS if re.fullmatch(pattern, seen.found["name"])), None)
    version = next((one.version for one in seen.there.locked() if one.name == parent), None)
    if not version:
        return None
    return _edited(seen.environment, Edit(kind="add", name=seen.found["name"], new=version), seen.there)


REMEDIES: dict[str, Remedy] = {
    remedy.__name__: remedy
    for remedy in (
        substitute, drop, prune, from_registry, rehost, reseal, unset, thaw, peers_left, whole, option, undated,
        install_env, test_env, manager_asked, node_asked, node,
        without, browser, rebuild, platform,
    )
}  # fmt: skip


def nearest(wanted: str, releases: list[str]) -> str:
    """The highest release up to `wanted` of the same major, else the lowest above it; "" where there is none.

    `wanted` is a version, or a range whose first version counts; of an address the newest release is the nearest.
    """
    stable = sorted((one for one in releases if "-" not in one), key=_order)
    version = re.match(r"[\^~>=v\s]*(\d+(?:\.\d+)*)", wanted)
    if not version:
        return stable[-1] if stable else ""
    line = [one for one in stable if _order(one)[0] == _order(version[1])[0]]
    below = [one for one in line if _order(one) <= _order(version[1])]
    return below[-1] if below else next(iter(line), "")


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version.partition("+")[0])]


def _at_host(there: Situation, host: str) -> Iterator[tuple[str, str, str]]:
    """Packages that are asked for at a host: name, address, and the version that was locked."""
    locked = {(one.name, address): one.version for one in there.locked() for address in one.requested}
    wanted = {(name, address): "" for _, name, address in there.asked()}
    for (name, address), version in (wanted | locked).items():
        if FOREIGN.match(address) and "/-/" not in address and _is_at(address, host):
            yield name, address, version


def _is_at(address: str, host: str) -> bool:
    """Whether an address is at a host or a neighbour of it: archives of github.com come from codeload.github.com."""
    scheme = address.partition(":")[0]
    where = SHORT.get(scheme, address if ":" in address else SHORT["github"])
    return ".".join(host.split(".")[-2:]) in where


def _edited(environment: Environment, edit: Edit, there: Situation) -> Environment | None:
    if edit in environment.edits:
        return None
    edited = environment.model_copy(update={"edits": (*environment.edits, edit)})
    return _thawed(edited, there) if edit.kind in ("drop", "pin", "add") else edited


def _thawed(environment: Environment, there: Situation) -> Environment:
    """What the lock file lacks is of the commit's day, where the manager can ask for that."""
    own = manager(environment.manager)
    install = tuple(filter(None, (own.thaw.get(word, word) for word in environment.install)))
    if install != environment.install and own.dated and there.day:
        install = (*install, own.dated.replace("{date}", there.day))
    return environment.model_copy(update={"install": install})


def _holds(ask: Ask, needed: Collection[str], runners: Collection[str]) -> bool:
    """Whether something cannot be left out: what the library itself depends on, and what runs its tests."""
    return ask.name in runners or (ask.folder in needed and ask.table == "dependencies")


def _runner(environment: Environment) -> set[str]:
    own = runner(environment.runner)
    return {*own.packages, *(one.package for one in own.wrapper)}


def _with(environment: Environment, field: str, values: Mapping[str, str]) -> Environment | None:
    before = getattr(environment, field)
    after = {**before, **values}
    return environment.model_copy(update={field: after}) if after != before else None
