"""What of a workspace the touched tests need: their packages, what these depend on, and the root.

A documentation site, an example or another component is not installed with them, and so does not decide about them.
Empty where all is installed: tests at the root, packages that need all others, a manager that cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pipeline.build.infer import workspaces
from pipeline.build.infer.tree import Manifest, Tree, above
from pipeline.ecosystems.manager_folder import manager
from pipeline.ecosystems.protection import is_manifest

_TABLES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def members(tree: Tree) -> dict[str, Manifest]:
    """The packages of the workspace by folder, the root among them. Raises Unsupported for a root without manifest."""
    root = tree.root()
    named = workspaces.patterns(tree, root)
    folders = [path.rpartition("/")[0] for path in tree.paths if path.endswith("/package.json") and is_manifest(path)]
    inside = sorted(folder for folder in folders if workspaces.member(folder, named))
    found = {folder: tree.manifest(folder) for folder in inside}
    return {"": root} | {folder: one for folder, one in found.items() if one}


def find(tree: Tree, folder: str, files: Sequence[str], name: str, version: str) -> tuple[str, ...]:
    """The packages that these tests, run in `folder`, need, as the manager calls them (folders, or names)."""
    own = manager(name).focus_for(version)
    there = members(tree)
    places = touched(there, files)
    if own is None or not places:
        return ()
    inside = needed(there, {*places, folder if folder in there else ""})
    names = {place: there[place].text("name") if own.by == "name" else place or "." for place in inside}
    if inside == set(there) or not all(names.values()):
        return ()
    return tuple(sorted(names[place] for place in inside if place or own.by == "name"))


def touched(there: dict[str, Manifest], files: Iterable[str]) -> set[str]:
    """The packages of these test files, by folder; none where one lies in none but the root: it may test any."""
    places = {next((place for place in above(file) if place in there), "") for file in files}
    return set() if "" in places else places


def needed(there: dict[str, Manifest], folders: Iterable[str]) -> set[str]:
    """These folders, the root, and all that their packages depend on in the workspace."""
    places = {one.text("name"): place for place, one in there.items()}
    found, waiting = set[str](), ["", *folders]
    while waiting:
        if (place := waiting.pop()) not in found:
            found.add(place)
            waiting += (places[one] for table in _TABLES for one in there[place].table(table) if one in places)
    return found


def installed(there: dict[str, Manifest], focus: Collection[str]) -> dict[str, Manifest]:
    """Of the packages of a workspace those that are installed."""
    chosen = {place: one for place, one in there.items() if not place or place in focus or one.text("name") in focus}
    return chosen if focus else there
