"""The folders of the touched tests that have a lock file of their own: how each is installed, beside the root.

Packages that Lerna links have one each, and so has an application in a folder that is no package of the workspace.
Where the root has no manifest, one of these folders (the `home`) stands for it: a front end beside a server. Does not
cover packages without a lock file, and links between packages of Lerna (their published versions are installed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.build.infer import foreign, manager, workspaces
from pipeline.build.infer.manager import Installation
from pipeline.build.infer.tree import Found, Manifest, Tree, Unsupported, above, below
from pipeline.core.patches import is_runnable
from pipeline.core.records import Nested
from pipeline.ecosystems.manager_folder import all_managers


def home(tree: Tree, files: Sequence[str]) -> str:
    """The folder that stands for a root without a manifest: the one above most of these tests; empty if there is no
    need for one. Raises Unsupported if there is none, or if all tests are another tool's."""
    if "package.json" in tree.paths:
        return ""
    found = Counter(filter(None, _nearest(tree, foreign.own_tests(tree, files), {})))
    if not found:
        raise Unsupported("runner_unsupported", "there is no package.json at the root, nor a lock file above the tests")
    return min(found, key=lambda folder: (-found[folder], folder))


def front(tree: Tree, folder: str) -> Tree:
    """The repository as seen from the folder that stands for its root: the folder's files, and those of the
    repository's files that it lacks (of continuous integration)."""
    if not folder:
        return tree
    inside = below(tree, folder)
    return Tree(tree.paths | inside.paths, lambda path: (inside if path in inside.paths else tree).text(path))


def only(root: Installation, folder: str) -> Installation:
    """The installation of a root that has nothing to install; its manager is that of the folder that stands for it."""
    return root._replace(words=(), evidence=f"nothing: the manifest is in {folder}")


def _nearest(tree: Tree, files: Sequence[str], named: dict[str, str]) -> Iterator[str]:
    """The nearest such folder above each of these tests, without tests of other tools; empty for none."""
    for file in files:
        if is_runnable(file) and not foreign.tool_of(tree, file):
            yield next((folder for folder in above(file) if workspaces.nested(tree, folder, named)), "")


def find(
    tree: Tree, manifest: Manifest, node: str, date: str, files: Sequence[str], runs_in: str, root: Installation
) -> tuple[tuple[Nested, ...], dict[str, str]]:
    """The installs of the nearest such folder above each of these tests, and the variables that they need. If the
    manager is the root's, so is its version. Tests that are not run need no install: those of other tools, and those
    outside the folder in which the runner runs. Raises Unsupported."""
    inside = [file for file in files if not runs_in or file.startswith(f"{runs_in}/")]
    nearest = _nearest(tree, inside, workspaces.patterns(tree, manifest))
    found: list[Nested] = []
    variables: dict[str, str] = {}
    for folder in sorted(set(nearest) - {""}):
        install = _installation(below(tree, folder), node, date, root)
        variables |= install.env
        fields = {"manager": install.manager.value, "manager_version": install.version.value}
        words = (*install.words, *all_managers()[install.manager.value].alone)
        found.append(Nested(folder=folder, install=words, **fields))
    return tuple(found), variables


def _installation(tree: Tree, node: str, date: str, root: Installation) -> Installation:
    install = manager.find(tree, tree.root(), node, date, {})
    if install.manager.value != root.manager.value:
        return install
    fixed = {"manager": install.manager, "manager_version": Found(root.version.value, "the root's")}
    return manager.find(tree, tree.root(), node, date, fixed)
