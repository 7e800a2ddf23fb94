"""What is known of a package manager: its folder's table, `managers/<name>/manager.toml`, and its `lock.py`.

    manager.toml   lock files, formats and versions, the exact install, settings, manifests, variables, faults
    lock.py        its lock files: `read(text)`, `graph(text, manifests)` (who asks for whom, `graph.py`),
                   `version(text, package, wanted)`, and how an entry is changed:
                   `pin(text, name, old, new, registry)`, `overrule(edit, manifest, files, found)`

Reads tables and writes nothing.
"""

from __future__ import annotations

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

    `programs` are those that the package itself does not name: what they are called, and where they lie in it.
    """

    name: str
    versions: str = ""
    architecture: str = ""
    programs: dict[str, str] = {}


class Format(Table):
    """What the beginning of a lock file says of the version that wrote it; the first row that fits decides."""

    pattern: str
    version: str


class RunsOn(Table):
    """The lines of Node that the writer of a lock file ran on: on another one there would have been another manager.

    Without a path: those on which an install without a lock file can be held to a day.
    """

    path: str = ""
    pattern: str = ""
    says: str
    node: str


class Install(Table):
    """The words of an exact install. `{release}` is the manager's own program in the repository, `{date}` the day."""

    words: tuple[str, ...]
    lock: bool = True
    versions: str = ""
    release: bool = False
    env: dict[str, str] = {}


class Focus(Table):
    """How the install of a workspace is held to some of its packages and the root.

    `words` go in place of `install` and all behind it; `root` and, for each package, `each` come behind them, where
    `{package}` is what `by` says: a folder, or a name (then the root's is one of them). Where it `hides` the others,
    the root's package.json names the folders, for a manager that knows no other way.
    """

    versions: str = ""
    by: Literal["folder", "name"] = "folder"
    words: tuple[str, ...] = ()
    root: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    hides: bool = False


class Variables(Table):
    """Variables of every install, for a range of versions; `sandbox.install` says which placeholders are filled in."""

    versions: str = ""
    set: dict[str, str]


class Blame(Table):
    """What a log says when the machine or the registry is to blame (`{codes}`, `{status}`), and the cause."""

    pattern: str
    cause: str


class FaultPatterns(Table):
    """How this manager's logs show a fault that the build stage knows, and the settings that may help."""

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
    """A package manager. The lock file of the lowest rank decides, where package.json names no manager."""

    locks: tuple[str, ...]
    settings: tuple[str, ...] = Field(default=(), description="names of files with its settings")
    manifests: tuple[str, ...] = Field(default=(), description="patterns of what else its installs need to see")
    protected: tuple[str, ...] = Field(default=(), description="patterns of what it decides about beyond these")
    release: str = Field(default="", description="pattern, in its settings, of its own program in the repository")
    unpacks: str = Field(default="", description="folder in node_modules of the packages that others bring along")
    thaw: dict[str, str] = Field(default={}, description="words that hold it to its lock file -> others instead")
    dated: str = Field(default="", description="word of an install that may change its lock file: as of `{date}`")
    by_node: dict[str, str] = Field(default={}, description="range of Node -> the version that comes with it")
    package: tuple[Package, ...]
    format: tuple[Format, ...]
    runs_on: tuple[RunsOn, ...] = ()
    install: tuple[Install, ...]
    focus: tuple[Focus, ...] = ()
    variables: tuple[Variables, ...] = ()
    blame: tuple[Blame, ...] = ()
    faults: dict[str, FaultPatterns] = Field(default={}, description="by the name of a row of the build stage's table")
    fault: tuple[dict[str, Any], ...] = Field(default=(), description="rows of its own, each `after` another")

    @property
    def lock(self) -> LockModule:
        """The reader and writer of its lock files."""
        return import_module(folders.module("manager", self.name, "lock"))

    def lock_of(self, paths: Iterable[str]) -> str:
        """Its first lock file at the root; empty where there is none."""
        there = set(paths)
        return next((path for path in self.locks if path in there), "")

    def with_node(self, node: str) -> str:
        """The version that comes with a Node; empty for a manager that does not."""
        return next((version for wanted, version in self.by_node.items() if _in(wanted, node)), "")

    def package_for(self, version: str, architecture: str) -> Package | None:
        """The npm package that brings a version, None where there is none for the architecture."""
        fitting = (one for one in self.package if one.architecture in ("", architecture))
        return next((one for one in fitting if _in(one.versions, version)), None)

    def install_for(self, version: str, *, lock: bool, release: bool) -> Install | None:
        """The exact install of a version, with or without a lock file and a program of the repository's own."""
        fitting = (one for one in self.install if one.lock == lock and (release or not one.release))
        return next((one for one in fitting if _in(one.versions, version)), None)

    def focus_for(self, version: str) -> Focus | None:
        """How it is held to some packages of a workspace; None where it cannot be."""
        return next((row for row in self.focus if _in(row.versions, version)), None)

    def variables_for(self, version: str) -> dict[str, str]:
        """The variables of its installs at a version, unfilled."""
        return {name: value for row in self.variables if _in(row.versions, version) for name, value in row.set.items()}


def _in(wanted: str, version: str) -> bool:
    from pipeline.ecosystems import versions

    return not wanted or versions.satisfies(versions.full(version), wanted)


def all_managers() -> dict[str, Manager]:
    """Every manager by name, those first whose lock file decides where there are several."""
    return folders.found(Manager, "manager")


def manager(name: str) -> Manager:
    """The manager of that name. Raises UserError."""
    return folders.one(Manager, "manager", name)


def with_node() -> Manager:
    """The manager that comes with Node."""
    return next(one for one in all_managers().values() if one.by_node)


def without_lock() -> Manager:
    """The manager that installs without a lock file, where no file names one."""
    return next(one for one in all_managers().values() if any(not row.lock for row in one.install))
