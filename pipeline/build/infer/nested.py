"""The folders of the touched tests that have a lock file of their own: how each is installed, beside the root.

Packages that Lerna links have one each, and so has an application in a folder that is no package of the workspace.
Does not cover packages without a lock file, links between packages of Lerna (their published versions are installed),
and repositories without a manifest at the root.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.build.infer import manager, place, workspaces
from pipeline.build.infer.manager import Installation
from pipeline.build.infer.tree import Found, Manifest, Tree, above, below
from pipeline.core.records import Nested
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.execution.scope import is_test


def find(
    tree: Tree, manifest: Manifest, node: str, date: str, files: Sequence[str], runs_in: str, root: Installation
) -> tuple[tuple[Nested, ...], dict[str, str]]:
    """The installs of the nearest such folder above each of these tests, with the root's manager in its version if it
    is the same one; and the variables that they need. Tests that are not run need none: those of another tool, and
    those outside the folder in which the runner runs. Raises Unsupported."""
    named = workspaces.patterns(tree, manifest)
    tests = (file for file in files if is_test(file) and not place.tool_of(tree, file))
    inside = (file for file in tests if not runs_in or file.startswith(f"{runs_in}/"))
    nearest = (
        next((folder for folder in above(file) if workspaces.nested(tree, folder, named)), "") for file in inside
    )
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
