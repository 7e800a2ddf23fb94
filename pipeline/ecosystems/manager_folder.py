"""A package manager, described by its folder: the table `managers/<name>/manager.toml`, and `lock.py`.

    manager.toml   lock files, formats and versions, the exact install, settings, manifests, variables, faults
    lock.py        reads lock files (`read(text)`, `graph(text, manifests)`, `version(text, package, wanted)`) and
                   changes entries (`pin(text, name, old, new, registry)`,
                   `overrule(edit, manifest, files, found)`)

Reads tables and writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, Protocol

from pydantic import Field

from pipeline.core.records import Edit
from pipeline.ecosystems import folders
from pipeline.ecosystems.folders import Folder, Table
from pipeline.ecosystems.graph import Graph
from pipeline.ecosystems.locked import Locked


class Package(Table):
    """The npm package that brings the manager, for a range of its versions, or for one architecture (`x64`, `arm64`).

    `programs` are those that the package itself does not declare: their names, and their paths in it.
    """

    name: str
    versions: str = ""
    architecture: str = ""
    programs: dict[str, str] = {}


class Format(Table):
    """The version that wrote a lock file, recognized by the file's beginning; the first matching row decides."""

    pattern: str
    version: str


class Neighbor(Table):
    """A release of another major version that may replace the manager: it `reads` lock files that begin like this, with
    their versions, and runs on these versions of `node`."""

    version: str
    node: str
    reads: str


class RunsOn(Table):
    """The major versions of Node on which a lock file was written: other versions contain another version of the
    manager.

    Without a path: the versions of Node on which an install without a lock file can be limited to a date.
    """

    path: str = ""
    pattern: str = ""
    says: str
    node: str


class Install(Table):
    """The command of an exact install. `{release}` is the manager's program in the repository, `{date}` the day."""

    words: tuple[str, ...]
    lock: bool = True
    versions: str = ""
    release: bool = False
    env: dict[str, str] = {}


class Focus(Table):
    """How the install of a workspace is restricted to the root and some of its packages.

    `words` replace `install` and everything after it. `root` and, for each package, `each` follow; `{package}` is a
    folder or a name, as `by` says (with names, the root's is one of them). With `hides`, the root's package.json lists
    the folders, since the manager has no other way. With `plugin`, the repository must contain a file of this pattern.
    `unscripted` is the install's word for "run no scripts", which `words` lose: every package.json loses its scripts.
    """

    versions: str = ""
    plugin: str = ""
    by: Literal["folder", "name"] = "folder"
    words: tuple[str, ...] = ()
    root: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    hides: bool = False
    unscripted: str = ""


class Variables(Table):
    """Variables of every install, for a range of versions; `sandbox.install` says which placeholders are filled in."""

    versions: str = ""
    set: dict[str, str]


class Blame(Table):
    """A log message of faults of the machine or the registry (`{codes}`, `{status}`), and the cause."""

    pattern: str
    cause: str


class FaultPatterns(Table):
    """How this manager's logs show a known fault of the build stage, and settings that may help."""

    patterns: tuple[str, ...]
    set: dict[str, str] = {}


class LockModule(Protocol):
    """The module `lock` of a manager's folder."""

    def read(self, text: str) -> Iterator[Locked]: ...
    def graph(self, text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph: ...
    def version(self, text: str, package: str, wanted: str) -> str: ...
    def pin(self, text: str, name: str, old: str, new: str, registry: str) -> str: ...
    def overrule(
        self, edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
    ) -> Iterator[tuple[str, str]]: ...


class Manager(Folder):
    """A package manager. If package.json names no manager, the lock file of the lowest rank decides."""

    locks: tuple[str, ...]
    settings: tuple[str, ...] = Field(default=(), description="names of files with its settings")
    manifests: tuple[str, ...] = Field(default=(), description="patterns of further files that installs need")
    protected: tuple[str, ...] = Field(default=(), description="patterns of further files by which it decides")
    release: str = Field(default="", description="pattern in its settings that names a release of it in the repository")
    unpacks: str = Field(default="", description="folder in node_modules with the dependencies of packages")
    thaw: dict[str, str] = Field(default={}, description="words that hold it to its lock file -> their replacements")
    alone: tuple[str, ...] = Field(default=(), description="words of an install that ignores the workspace around it")
    linked_scripts: tuple[str, ...] = Field(
        default=(), description="scripts of packages below the root that it runs even if told to run none"
    )
    dated: str = Field(default="", description="word that limits a changing install to versions before `{date}`")
    by_node: dict[str, str] = Field(default={}, description="range of Node -> the version that comes with it")
    gathers: dict[str, str] = Field(
        default={}, description="range of Node -> the first version that reads `workspaces` of a package.json"
    )
    package: tuple[Package, ...]
    format: tuple[Format, ...]
    neighbor: tuple[Neighbor, ...] = ()
    runs_on: tuple[RunsOn, ...] = ()
    install: tuple[Install, ...]
    focus: tuple[Focus, ...] = ()
    variables: tuple[Variables, ...] = ()
    blame: tuple[Blame, ...] = ()
    faults: dict[str, FaultPatterns] = Field(default={}, description="by the name of a row in the build stage's table")
    fault: tuple[dict[str, Any], ...] = Field(default=(), description="rows of its own, each with its place (`after`)")

    @property
    def lock(self) -> LockModule:
        """The reader and writer of its lock files."""
        return import_module(folders.module("manager", self.name, "lock"))

    def lock_of(self, paths: Iterable[str]) -> str:
        """Its first lock file at the root; empty if there is none."""
        present = set(paths)
        return next((path for path in self.locks if path in present), "")

    def with_node(self, node: str) -> str:
        """The version that is bundled with a Node; empty if none is."""
        return next((version for wanted, version in self.by_node.items() if _in(wanted, node)), "")

    def package_for(self, version: str, architecture: str) -> Package | None:
        """The npm package that brings a version, or None if there is none for the architecture."""
        fitting = (package for package in self.package if package.architecture in ("", architecture))
        return next((package for package in fitting if _in(package.versions, version)), None)

    def install_for(self, version: str, *, lock: bool, release: bool) -> Install | None:
        """The exact install of a version, with or without a lock file or a program of the repository's own."""
        fitting = (row for row in self.install if row.lock == lock and (release or not row.release))
        return next((row for row in fitting if _in(row.versions, version)), None)

    def focus_for(self, version: str, node: str) -> Focus | None:
        """How an install is restricted to some packages of a workspace; None if it cannot be. An empty version is the
        one that is bundled with this Node."""
        own = version or self.with_node(node)
        return next((row for row in self.focus if _in(row.versions, own)), None)

    def gathering(self, version: str, node: str) -> str | None:
        """The version that installs packages which only Lerna links, at least this one; None if none runs on Node."""
        from pipeline.ecosystems import versions

        first = next((least for wanted, least in self.gathers.items() if _on(wanted, node)), None)
        is_older = first is not None and versions.major(version or self.with_node(node)) < versions.major(first)
        return first if is_older else first and version

    def neighbors(self, version: str, node: str, text: str) -> list[str]:
        """The releases of the next and the previous major version, the newer first, if they run on this Node and read a
        lock file with this text."""
        rows, majors = self.neighbor, [row.version.partition(".")[0] for row in self.neighbor]
        if (current := version.partition(".")[0]) not in majors:
            return []
        index = majors.index(current)
        beside = (rows[place] for place in (index - 1, index + 1) if 0 <= place < len(rows))
        fitting = (row for row in beside if _on(row.node, node) and re.search(row.reads, text, re.MULTILINE))
        return [row.version for row in fitting]

    def variables_for(self, version: str) -> dict[str, str]:
        """The variables of its installs at a version, with their placeholders."""
        return {name: value for row in self.variables if _in(row.versions, version) for name, value in row.set.items()}


def _in(wanted: str, version: str) -> bool:
    from pipeline.ecosystems import versions

    return not wanted or versions.satisfies(versions.full(version), wanted)


def _on(wanted: str, node: str) -> bool:
    """Whether a version of Node, or the newest one of a line, is in a range."""
    from pipeline.ecosystems import versions

    return versions.satisfies(".".join([*node.split("."), "99", "99"][:3]), wanted)


def all_managers() -> dict[str, Manager]:
    """Every manager by name, in the order in which their lock files decide."""
    return folders.all_of(Manager, "manager")


def manager(name: str) -> Manager:
    """The manager of this name. Raises UserError."""
    return folders.by_name(Manager, "manager", name)


def with_node() -> Manager:
    """The manager that is bundled with Node."""
    return next(candidate for candidate in all_managers().values() if candidate.by_node)


def without_lock() -> Manager:
    """The manager that installs without a lock file, if no file names a manager."""
    return next(candidate for candidate in all_managers().values() if any(not row.lock for row in candidate.install))
