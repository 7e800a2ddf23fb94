"""Which folders hold packages of the repository, whose dependencies are installed with it.

Named by `workspaces` of package.json (a list, or an object of yarn 1), `pnpm-workspace.yaml` or `lerna.json`. A
`nested` folder has a lock file of its own, and its dependencies are installed by that one.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import partial
from typing import Any

from pipeline.build.infer import documents, globs
from pipeline.build.infer.tree import Manifest, Tree, above
from pipeline.core.texts import parse_json
from pipeline.ecosystems.manager_folder import all_managers

#: names packages, but no package manager reads it
LERNA = "lerna.json"


def patterns(tree: Tree, manifest: Manifest) -> dict[str, str]:
    """The patterns of folders, each with the file that names it: Lerna's only if no manager's does."""
    found = {
        LERNA: _patterns(_packages(_json(tree.text(LERNA)))),
        "package.json": _of_manifest(manifest),
        "pnpm-workspace.yaml": _patterns(_packages(documents.load(tree.text("pnpm-workspace.yaml")))),
    }
    return {pattern: path for path, listed in found.items() for pattern in listed}


def only_lerna(named: dict[str, str]) -> bool:
    """Whether there are packages, and no package manager knows of them."""
    return set(named.values()) == {LERNA}


def nested(tree: Tree, folder: str, named: dict[str, str]) -> str:
    """The lock file of a folder that is installed by itself; empty if it is not. A lock file in a package of a
    workspace is a leftover, since the workspace's has its dependencies. Packages that only Lerna links do not share
    one."""
    shared = {pattern: path for pattern, path in named.items() if path != LERNA}
    if not folder or tree.manifest(folder) is None or member(folder, shared):
        return ""
    paths = (posixpath.join(folder, lock) for manager in all_managers().values() for lock in manager.locks)
    return next((path for path in paths if path in tree.paths), "")


def installed(tree: Tree, folder: str, named: dict[str, str]) -> str:
    """The reason why the dependencies of a folder are installed; empty if they are not. A nested folder may be a
    workspace."""
    is_nested = partial(nested, tree, named=named)
    return is_nested(folder) or package(tree, folder, named) or _inside(tree, folder, is_nested)


def package(tree: Tree, folder: str, named: dict[str, str]) -> str:
    """The pattern that makes a folder a package of the workspace; empty if it is none. A package may name further
    packages (yarn 2 and later)."""
    return member(folder, named) or _inside(tree, folder, partial(member, named=named))


def _inside(tree: Tree, folder: str, is_home: Callable[[str], str]) -> str:
    """The pattern, in a `package.json` of such a home above a folder, that makes the folder a package; empty if there
    is none."""
    for home in above(folder):
        manifest = tree.manifest(home) if home and is_home(home) else None
        named = _of_manifest(manifest) if manifest else []
        if found := member(posixpath.relpath(folder, home), dict.fromkeys(named, f"{home}/package.json")):
            return found
    return ""


def member(folder: str, named: dict[str, str]) -> str:
    """The pattern that makes a folder a package of the repository; empty if it is none. The root always is one."""
    if not folder:
        return "package.json"
    if any(_matches(folder, pattern[1:].removeprefix("./")) for pattern in named if pattern.startswith("!")):
        return ""
    return next((f"{path}: {pattern}" for pattern, path in named.items() if _matches(folder, pattern)), "")


def _matches(folder: str, pattern: str) -> bool:
    """Package managers look for the manifest: `packages/**` includes the folder `packages` itself."""
    return globs.matcher(f"{pattern}/package.json")(f"{folder}/package.json")


def _of_manifest(manifest: Manifest) -> list[str]:
    named = manifest.data.get("workspaces")
    return _patterns(named.get("packages") if isinstance(named, dict) else named)


def _patterns(listed: Any) -> list[str]:
    texts = (text for text in listed if isinstance(text, str)) if isinstance(listed, list) else ()
    return [text.removeprefix("./").rstrip("/") for text in texts]


def _packages(document: Any) -> Any:
    return document.get("packages") if isinstance(document, dict) else None


def _json(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None
