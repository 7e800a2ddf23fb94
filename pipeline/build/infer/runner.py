"""The runner of a commit's tests: its version, its file, and the words of its command line (runners.toml).

Which runner it is, and where it runs, is `place`'s.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pipeline.build.infer import locked, place, uses, versions
from pipeline.build.infer.tree import Found, Manifest, Tree
from pipeline.build.infer.uses import Use


class Runner(NamedTuple):
    """A runner and its command; the fields are those of an Environment."""

    runner: Found
    version: Found
    folder: Found
    configuration: Found
    entries: tuple[str, ...]
    test: tuple[str, ...]
    selection: tuple[str, ...]
    everything: tuple[str, ...]
    env: dict[str, str]
    parser: str
    evidence: str


def find(tree: Tree, manifest: Manifest, node: str, files: Sequence[str], fixed: dict[str, Found]) -> Runner:
    """The runner of these test files (paths from the root). Raises Unsupported."""
    use, why = place.choose(tree, manifest, files, fixed)
    row, here = uses.row(use.runner), tree.manifest(use.folder) or manifest
    version = Found(node, "Node's own") if use.runner == "node" else _version(tree, here, manifest, row)
    configuration = _configuration(tree, use, here, row)
    words = _merged(row, version.value)
    kept, others = _arguments(use, row)
    start = (*use.call.node, *words["words"]) if use.runner == "node" else ("{entry}", *_through(use), *words["words"])
    env = use.wrapper.get("env", {}) | use.call.env | _node_options(use) | words.get("env", {})
    return Runner(
        runner=Found(use.runner, use.evidence),
        version=version,
        folder=Found(use.folder, why),
        configuration=configuration,
        entries=tuple(_entries(tree, use, row, {*uses.wrappers(here), *uses.wrappers(manifest)})),
        test=("node", *start, *kept, "{files}"),
        selection=tuple(words.get("selection", ())),
        everything=others,
        env={name: value.replace("{configuration}", configuration.value) for name, value in env.items()},
        parser=words.get("parser", row["parser"]),
        evidence=f"runners.toml: {use.runner} {version.value}; {use.evidence}",
    )


def _version(tree: Tree, here: Manifest, root: Manifest, row: dict[str, Any]) -> Found:
    """The locked version; else the lower bound of what package.json names; empty where nothing says it."""
    for package in row["packages"]:
        for manifest in (here, root):
            wanted = manifest.dependencies.get(package, "")
            if wanted and (found := locked.find(tree, package, wanted)):
                return Found(found.value, f"{found.evidence}: {package}@{wanted}")
            if wanted and (bounds := versions.lower_bounds(wanted)):
                return Found(bounds[0], f"{manifest.path}: {package} {wanted}")
    for package in row["packages"]:
        if found := locked.find(tree, package):
            return Found(found.value, f"{found.evidence}: {package}, brought along by another package")
    return Found("", "no file names one")


def _merged(row: dict[str, Any], version: str) -> dict[str, Any]:
    """The rows that fit a version, put together; an unknown version is a new one."""
    merged: dict[str, Any] = {"words": [], "env": {}}
    exact = versions.full(version) if version else "99.0.0"
    for part in row["words"]:
        if "versions" not in part or versions.satisfies(exact, part["versions"]):
            env = merged["env"] | part.get("env", {})
            merged |= part | {"words": merged["words"] + part["words"], "env": env}
    return merged


def _configuration(tree: Tree, use: Use, manifest: Manifest, row: dict[str, Any]) -> Found:
    """Where the runner is configured: as its call says, by a file in its folder, or in package.json."""
    for path in use.call.words:
        if posixpath.normpath(posixpath.join(use.folder, path)) in tree.paths and "conf" in path:
            return Found(path, use.evidence)
    start = f"{use.folder}/" if use.folder else ""
    inside = [path.removeprefix(start) for path in tree.paths if path.startswith(start)]
    if files := sorted(
        filter(re.compile(row["configuration"]).search, inside), key=lambda path: (path.count("/"), path)
    ):
        return Found(files[0], "its name")
    key = row.get("key", "")
    return Found(manifest.path, f"its field {key}") if key in manifest.data else Found("", "none: its defaults")


def _entries(tree: Tree, use: Use, row: dict[str, Any], brought: set[str]) -> Iterator[str]:
    """The runner's own file, or its wrapper's, in the folder or above it; last where a package brings it for itself."""
    own = [use.wrapper["through"][0]] if "through" in use.wrapper else row["entries"]
    depth = len(use.folder.split("/")) if use.folder else 0
    for level in range(depth + 1):
        yield from (f"{'../' * level}node_modules/{entry}" for entry in own)
    up = "../" * depth
    for package in sorted(brought):
        yield from (f"{up}node_modules/{package}/node_modules/{entry}" for entry in own)
    if "pnpm-lock.yaml" in tree.paths:
        yield from (f"{up}node_modules/.pnpm/node_modules/{entry}" for entry in own)


def _through(use: Use) -> tuple[str, ...]:
    return tuple(use.wrapper.get("through", ())[1:])


def _node_options(use: Use) -> dict[str, str]:
    """Options of Node before the runner, for it and its workers alike."""
    if use.runner == "node" or not use.call.node:
        return {}
    return {"NODE_OPTIONS": " ".join(filter(None, (use.call.env.get("NODE_OPTIONS"), *use.call.node)))}


def _arguments(use: Use, row: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the words of the call those that shape how tests run, and those that name tests, if the runner takes such."""
    kept: list[str] = []
    others: list[str] = []
    rest = iter(use.call.words)
    for word in rest:
        name = word.partition("=")[0]
        if word in row.get("flags", ()) or ("=" in word and name in row["keep"]):
            kept.append(word)
        elif word in row["keep"]:
            kept += [word, *([value] if (value := next(rest, None)) else [])]
        elif not word.startswith("-"):
            others.append(word)
    return tuple(kept), tuple(others) if row.get("positional") else ()
