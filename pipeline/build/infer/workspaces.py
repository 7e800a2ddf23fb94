"""Which folders hold packages of the repository, whose dependencies are installed with it.

Named by `workspaces` of package.json (a list, or an object of yarn 1), `pnpm-workspace.yaml` or `lerna.json`. A
`nested` folder has a lock file of its own, and its dependencies are installed by that one.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from pipeline.build.infer import documents
from pipeline.build.infer.tree import Manifest, Tree, above, below
from pipeline.core.texts import parse_json
from pipeline.ecosystems.manager_folder import all_managers


def patterns(tree: Tree, manifest: Manifest) -> dict[str, str]:
    """The patterns of folders, each with the file that names it: Lerna's only if no manager's does."""
    named = manifest.data.get("workspaces")
    found = {
        "lerna.json": _packages(_json(tree.text("lerna.json"))),
        "package.json": named.get("packages") if isinstance(named, dict) else named,
        "pnpm-workspace.yaml": _packages(documents.load(tree.text("pnpm-workspace.yaml"))),
    }
    return {
        pattern.removeprefix("./").rstrip("/"): path
        for path, listed in found.items()
        if isinstance(listed, list)
        for pattern in listed
        if isinstance(pattern, str)
    }


def nested(tree: Tree, folder: str, named: dict[str, str]) -> str:
    """The lock file of a folder that is installed by itself; empty if it is not. That of a workspace's package is a
    leftover, since the workspace's has its dependencies. Lerna alone shares no lock file."""
    shared = {pattern: path for pattern, path in named.items() if path != "lerna.json"}
    if not folder or tree.manifest(folder) is None or member(folder, shared):
        return ""
    paths = (posixpath.join(folder, lock) for manager in all_managers().values() for lock in manager.locks)
    return next((path for path in paths if path in tree.paths), "")


def installed(tree: Tree, folder: str, named: dict[str, str]) -> str:
    """Why the dependencies of a folder are installed; empty if they are not. A nested folder may be a workspace."""
    return nested(tree, folder, named) or member(folder, named) or _inside(tree, folder, named)


def _inside(tree: Tree, folder: str, named: dict[str, str]) -> str:
    """The pattern by which a folder is a package of the nested workspace above it; empty if there is none."""
    home = next((home for home in above(folder) if nested(tree, home, named)), "")
    if not home:
        return ""
    inner = below(tree, home)
    found = member(posixpath.relpath(folder, home), patterns(inner, inner.root()))
    return f"{home}/{found}" if found else ""


def member(folder: str, named: dict[str, str]) -> str:
    """The pattern that makes a folder a package of the repository; empty if it is none. The root always is one."""
    if not folder:
        return "package.json"
    if any(_matches(folder, pattern[1:].removeprefix("./")) for pattern in named if pattern.startswith("!")):
        return ""
    return next((f"{path}: {pattern}" for pattern, path in named.items() if _matches(folder, pattern)), "")


def _matches(folder: str, pattern: str) -> bool:
    """`*` is one folder, `**` any number of them."""
    parts = ["**/" if part == "**" else re.escape(part).replace(r"\*", "[^/]*") + "/" for part in pattern.split("/")]
    return bool(re.fullmatch("".join(parts).replace("**/", "(?:[^/]+/)*"), f"{folder}/"))


def _packages(document: Any) -> Any:
    return document.get("packages") if isinstance(document, dict) else None


def _json(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None
