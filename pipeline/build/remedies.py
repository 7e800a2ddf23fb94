"""What can be done about a fault: pure functions from a case to another environment, `REMEDIES` by name.

A remedy returns None where it has nothing to change; it asks the registry for the versions of a package and nothing
else. Does not cover: changes to a repository's sources or tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.core.records import Edit, Environment
from pipeline.ecosystems import edits, locks
from pipeline.ecosystems.manager_folder import manager

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


@dataclass(frozen=True)
class Situation:
    """What remedies look at: the manifests as they would be installed, and which versions the registry has."""

    files: Mapping[str, bytes]
    releases: Callable[[str], list[str]]

    def locked(self) -> Iterator[locks.Locked]:
        """Every package of every lock file."""
        for path in filter(locks.is_lock, self.files):
            yield from locks.locked(path, self.files[path].decode(errors="replace"))

    def asked(self) -> Iterator[tuple[str, str, str]]:
        """What the package.json files ask for: table, name, and version, range or address."""
        for _, data in edits.packages(self.files):
            for table, wanted in edits.asked(data):
                yield from ((table, name, version) for name, version in wanted.items() if isinstance(version, str))

    def has(self, name: str, version: str = "") -> bool:
        """Whether a package is asked for or locked, in this version or by this range where one is given."""
        known = [(n, (v,)) for _, n, v in self.asked()] + [
            (one.name, (one.version, *one.asked)) for one in self.locked()
        ]
        return any(n == name and (not version or version in versions) for n, versions in known)


@dataclass(frozen=True)
class Case:
    """An environment that failed, what the log's pattern captured, the arguments of the table's row, and its name."""

    environment: Environment
    found: Mapping[str, str]
    more: Mapping[str, Any]
    there: Situation
    fault: str = ""


Remedy = Callable[[Case], Environment | None]


def substitute(case: Case) -> Environment | None:
    """Take the nearest version that the registry has in place of one that is gone."""
    name = case.found["name"]
    old = case.found.get("old") or next((version for _, one, version in case.there.asked() if one == name), "")
    new = nearest(old, case.there.releases(name))
    return _edited(case.environment, Edit(kind="pin", name=name, old=old, new=new)) if new not in ("", old) else None


def drop(case: Case) -> Environment | None:
    """Leave out a package that only development asks for."""
    tables = {table for table, name, _ in case.there.asked() if name == case.found["name"]}
    if not tables or "dependencies" in tables:
        return None
    return _edited(case.environment, Edit(kind="drop", name=case.found["name"]))


def from_registry(case: Case) -> Environment | None:
    """Take from the registry what is asked for at a host that refuses; leave out what only development needs."""
    changed = case.environment
    for name, address, version in sorted(set(_at_host(case.there, case.found["host"]))):
        new = nearest(version, case.there.releases(name))
        pinned = _edited(changed, Edit(kind="pin", name=name, old=address, new=new)) if new else None
        changed = pinned or drop(Case(changed, {"name": name}, {}, case.there)) or changed
    return changed if changed != case.environment else None


def rehost(case: Case) -> Environment | None:
    """Ask this host's registry for what was locked, or is looked for, at another."""
    named = re.compile(rf"https?://{re.escape(case.found['host'])}/".encode())
    archives = re.compile(named.pattern + rb"[^\s\"']*/(?:-|download)/")
    there = case.there.files.items()
    if not any((named if edits.is_settings(path) else archives).search(content) for path, content in there):
        return None
    return _edited(case.environment, Edit(kind="rehost", name=case.found["host"]))


def reseal(case: Case) -> Environment | None:
    """Take the checksum that the registry's archive has now."""
    locked = (content for path, content in case.there.files.items() if locks.is_lock(path))
    if not any(case.found["old"].encode() in content for content in locked):
        return None
    return _edited(case.environment, Edit(kind="reseal", name="checksum", old=case.found["old"], new=case.found["new"]))


def unset(case: Case) -> Environment | None:
    """Leave out a setting of the package manager."""
    return _edited(case.environment, Edit(kind="unset", name=case.more.get("setting") or case.found["setting"]))


def thaw(case: Case) -> Environment | None:
    """Let the manager change its lock file: what still fits stays as it is locked."""
    thawed = _thawed(case.environment)
    return thawed if thawed != case.environment else None


def option(case: Case) -> Environment | None:
    """Give the install command of a manager one more word."""
    if case.environment.manager != case.more["manager"] or case.more["word"] in case.environment.install:
        return None
    install = (*case.environment.install, case.more["word"])
    return _thawed(case.environment.model_copy(update={"install": install}))


def undated(case: Case) -> Environment | None:
    """Leave out the date of an install without lock file: a mirror may know when it fetched a version, not its day."""
    install = tuple(word for word in case.environment.install if not word.startswith("--before="))
    name, wanted = case.found["name"], case.found["old"]
    if install == case.environment.install or (wanted[0].isdigit() and wanted not in case.there.releases(name)):
        return None
    return case.environment.model_copy(update={"install": install})


def install_env(case: Case) -> Environment | None:
    """Set variables of the install, the row's or those that the manager knows; a name may hold what was found."""
    own = manager(case.environment.manager).faults.get(case.fault)
    settings = case.more.get("set", own.set if own else {})
    values = {name.format(**case.found): value for name, value in settings.items()}
    return _with(case.environment, "install_env", values)


def test_env(case: Case) -> Environment | None:
    """Add words to variables of the test command."""
    before = case.environment.test_env
    words = {name: before.get(name, "").split() for name in case.more["add"]}
    added = {name: " ".join([*words[name], word]) for name, word in case.more["add"].items() if word not in words[name]}
    return _with(case.environment, "test_env", added)


def node(case: Case) -> Environment | None:
    """Take the next long-term line of Node (`step` 1), or the one before (-1); one as new as was found, if any was."""
    here, step = int(case.environment.node.partition(".")[0]), case.more["step"]
    least = int(case.found.get("node", 0))
    beyond = [line for line in LINES[::step] if (line - here) * step > 0 and (not least or here < least <= line)]
    return case.environment.model_copy(update={"node": str(beyond[0])}) if beyond else None


def rebuild(case: Case) -> Environment | None:
    """Run the install scripts of one package: we install with all of them off."""
    names = {*case.environment.rebuild, case.more.get("package") or case.found["name"]}
    changed = case.environment.model_copy(update={"rebuild": tuple(sorted(names))})
    return changed if changed != case.environment else None


def platform(case: Case) -> Environment | None:
    """Ask for the package of this platform that a lock file from another one leaves out."""
    parent = next((parent for pattern, parent in PLATFORM_PARENTS if re.fullmatch(pattern, case.found["name"])), None)
    version = next((one.version for one in case.there.locked() if one.name == parent), None)
    return version and _edited(case.environment, Edit(kind="add", name=case.found["name"], new=version))


REMEDIES: dict[str, Remedy] = {
    remedy.__name__: remedy
    for remedy in (
        substitute, drop, from_registry, rehost, reseal, unset, thaw, option, undated, install_env, test_env, node,
        rebuild, platform,
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
    locked = {(one.name, address): one.version for one in there.locked() for address in one.asked}
    wanted = {(name, address): "" for _, name, address in there.asked()}
    for (name, address), version in (wanted | locked).items():
        if FOREIGN.match(address) and "/-/" not in address and _is_at(address, host):
            yield name, address, version


def _is_at(address: str, host: str) -> bool:
    """Whether an address is at a host or a neighbour of it: archives of github.com come from codeload.github.com."""
    scheme = address.partition(":")[0]
    where = SHORT.get(scheme, address if ":" in address else SHORT["github"])
    return ".".join(host.split(".")[-2:]) in where


def _edited(environment: Environment, edit: Edit) -> Environment | None:
    if edit in environment.edits:
        return None
    edited = environment.model_copy(update={"edits": (*environment.edits, edit)})
    return _thawed(edited) if edit.kind in ("drop", "pin", "add") else edited


def _thawed(environment: Environment) -> Environment:
    thaw = manager(environment.manager).thaw
    install = tuple(filter(None, (thaw.get(word, word) for word in environment.install)))
    return environment.model_copy(update={"install": install})


def _with(environment: Environment, field: str, values: Mapping[str, str]) -> Environment | None:
    before = getattr(environment, field)
    after = {**before, **values}
    return environment.model_copy(update={field: after}) if after != before else None
