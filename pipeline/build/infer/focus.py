"""The part of a workspace that the touched tests need: their packages, those from which they or the runner's
configuration import a file, what these depend on, and the root.

A documentation site, an example or another component is not installed, so its faults do not count. Empty if everything
is installed: for tests at the root, packages that need all others, and managers that cannot install a part.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from pipeline.build.infer import workspaces
from pipeline.build.infer.tree import Manifest, Tree, above
from pipeline.ecosystems.manager_folder import Focus, manager
from pipeline.ecosystems.protection import is_manifest

_IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?|\brequire\s*\()["']([^"'\n]+)["']""")
#: a package's name at the beginning of what a source imports
_NAME = re.compile(r"(?:@[\w.~-]+/)?[\w.~][\w.~-]*(?=/|$)")
#: tables of what a package needs when it is used, and with those of its development
SHIPPED = ("dependencies", "optionalDependencies", "peerDependencies")
_TABLES = (*SHIPPED, "devDependencies")


def members(tree: Tree) -> dict[str, Manifest]:
    """The packages of the workspace by folder, with the root. Raises Unsupported for a root without a manifest."""
    root = tree.root()
    named = workspaces.patterns(tree, root)
    folders = [path.rpartition("/")[0] for path in tree.paths if path.endswith("/package.json") and is_manifest(path)]
    alone = {folder for folder in folders if workspaces.nested(tree, folder, named)}
    inside = sorted(folder for folder in folders if workspaces.package(tree, folder, named) and folder not in alone)
    manifests = {folder: tree.manifest(folder) for folder in inside}
    return {"": root} | {folder: manifest for folder, manifest in manifests.items() if manifest and manifest.is_package}


class Installer(NamedTuple):
    """A package manager by name, its version, and the Node that it runs on."""

    name: str
    version: str
    node: str


def find(tree: Tree, folder: str, configuration: str, files: Sequence[str], by: Installer) -> tuple[str, ...]:
    """The packages that these tests need when run in `folder` with a `configuration` there, as the manager calls them
    (by folder or name)."""
    row = _row(tree, by)
    packages = members(tree)
    touched_folders = touched(packages, files)
    if row is None or not touched_folders:
        return ()
    importing = (*files, posixpath.normpath(posixpath.join(folder, configuration)))
    folder_of = _by_name(packages)
    imported = {found for path in importing for found in _imported(tree, packages, folder_of, path)}
    return _called(packages, needed(packages, {*touched_folders, *imported, folder if folder in packages else ""}), row)


def widened(tree: Tree, before: Sequence[str], folders: Iterable[str], by: Installer) -> tuple[str, ...]:
    """A focus that also has these folders and what their packages depend on; empty if everything is installed."""
    row, packages = _row(tree, by), members(tree)
    if row is None or not before:
        return ()
    wanted = needed(packages, [folder for folder in folders if folder in packages])
    return _called(packages, wanted | installed(packages, before).keys(), row)


def _row(tree: Tree, by: Installer) -> Focus | None:
    """How this version of a manager installs a part of the workspace; None if it cannot, lacks its plug-in, or does not
    know of the packages, since only Lerna does."""
    row = manager(by.name).focus_for(by.version, by.node)
    has_plugin = row is None or not row.plugin or tree.matching(re.compile(row.plugin).search)
    is_known = row is None or row.hides or not workspaces.only_lerna(workspaces.patterns(tree, tree.root()))
    return row if has_plugin and is_known else None


def _called(packages: dict[str, Manifest], inside: Collection[str], row: Focus) -> tuple[str, ...]:
    """These packages as the manager calls them; empty if they are all packages, or if one has no name."""
    names = {path: packages[path].text("name") if row.by == "name" else path or "." for path in inside}
    if set(inside) == set(packages) or not all(names.values()):
        return ()
    return tuple(sorted(names[path] for path in inside if path or row.by == "name"))


def touched(packages: dict[str, Manifest], files: Iterable[str]) -> set[str]:
    """The folders of the packages of these test files, and of the packages above them, whose dependencies they can
    load; empty if a file is in the root's package, which may test any package."""
    found = [[folder for folder in above(file) if folder in packages] for file in files]
    return set() if any(folders[:1] in ([], [""]) for folders in found) else {*chain.from_iterable(found)} - {""}


def _by_name(packages: dict[str, Manifest]) -> dict[str, str]:
    """The folders of these packages by name."""
    return {manifest.text("name"): folder for folder, manifest in packages.items()}


def _imported(tree: Tree, packages: dict[str, Manifest], folder_of: dict[str, str], path: str) -> Iterator[str]:
    """The folders of the packages from which a file imports, by path or by name: a package at the root of the workspace
    can be imported by every other one, whether that one's manifest names it or not."""
    for module in imports(tree.text(path)):
        if module.startswith(("./", "../")):
            file = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
            yield next((folder for folder in above(file) if folder in packages), "")
        elif (name := package_of(module)) in folder_of:
            yield folder_of[name]


def imports(source: str) -> list[str]:
    """The modules that a source imports or requires, as it names them: packages, their files, or relative paths."""
    return _IMPORT.findall(source)


def package_of(module: str) -> str:
    """The name of the package that a source imports as `module`, or from which it imports a file."""
    return found[0] if (found := _NAME.match(module)) else ""


def needed(packages: dict[str, Manifest], folders: Iterable[str], tables: Iterable[str] = _TABLES) -> set[str]:
    """These folders, the root, and all that their packages depend on in the workspace, by these tables."""
    folder_of = _by_name(packages)
    reached, waiting = set[str](), ["", *folders]
    while waiting:
        if (folder := waiting.pop()) not in reached:
            reached.add(folder)
            dependencies = [name for table in tables for name in packages[folder].table(table)]
            waiting += (folder_of[name] for name in dependencies if name in folder_of)
    return reached


def installed(packages: dict[str, Manifest], focus: Collection[str]) -> dict[str, Manifest]:
    """The packages of a workspace that are installed."""
    if not focus:
        return packages
    wanted = {"", *focus}
    return {path: package for path, package in packages.items() if path in wanted or package.text("name") in focus}
