"""The runner of a commit's tests, the folder in which it runs, and its command line (runners.toml).

The nearest package above the touched tests that has a runner is it, unless the root's configuration runs the packages'
tests itself, or they are of several packages. Does not cover runs in more than one folder.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from pipeline.build.infer import locked, uses, versions, workspaces
from pipeline.build.infer.tree import Found, Manifest, Tree, Unsupported, above, table
from pipeline.build.infer.uses import Use

#: from a folder to the uses of its package, the likeliest first
Known = Callable[[str], list[Use]]


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
    use, why = _choose(tree, manifest, _own(files), fixed)
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


# -- which runner, and where ----------------------------------------------------------------------------------------
def _own(files: Sequence[str]) -> list[str]:
    """The files that are no other tool's. Raises Unsupported when there is none left."""
    tools = {file: tool for file in files if (tool := _tool(file))}
    if files and len(tools) == len(files):
        named = ", ".join(f"{file} ({tool})" for file, tool in sorted(tools.items()))
        raise Unsupported("runner_unsupported", f"the tests are another tool's: {named}")
    return [file for file in files if file not in tools]


def _tool(file: str) -> str:
    return next((row["tool"] for row in table("runners.toml")["foreign"] if re.search(row["files"], file)), "")


def _choose(tree: Tree, manifest: Manifest, files: Sequence[str], fixed: dict[str, Found]) -> tuple[Use, str]:
    """The use that runs most of these files, and why it is that one."""
    imported = uses.imported(tree, files)
    known = cache(lambda folder: uses.of_package(tree, folder, imported))
    if "runner" in fixed or "folder" in fixed:
        return _fixed(known, fixed)
    named = workspaces.patterns(tree, manifest)
    nearest = [use for file in files or ["package.json"] if (use := _nearest(known, file, named))]
    if not nearest:
        raise Unsupported("runner_unsupported", _nothing(manifest))
    folders = Counter(use.folder for use in nearest)
    root = next(iter(known("")), None)
    if root and (len(folders) > 1 or _aggregates(tree, root, manifest)):
        return root, "the root runs the packages' tests"
    folder = min(folders, key=lambda one: (-folders[one], one))
    left = f"; those of {', '.join(sorted(set(folders) - {folder}))} are left out" if len(folders) > 1 else ""
    use = next(use for use in nearest if use.folder == folder)
    return use, (workspaces.member(folder, named) if folder else "the root") + left


def _nearest(known: Known, file: str, named: dict[str, str]) -> Use | None:
    """The first use of the nearest package above a file that has any."""
    folders = [folder for folder in above(file) if workspaces.member(folder, named)]
    return next((use for folder in folders for use in known(folder)), None)


def _fixed(known: Known, fixed: dict[str, Found]) -> tuple[Use, str]:
    """What an override says; of the rest what the package itself says."""
    folder = fixed.get("folder", Found("", "the root"))
    found = known(folder.value)
    wanted = fixed.get("runner") or (Found(found[0].runner, found[0].evidence) if found else None)
    if wanted is None or wanted.value not in uses.runners():
        raise Unsupported("runner_unsupported", f"no known runner: {wanted.value if wanted else 'none'}")
    bare = Use(folder.value, wanted.value, wanted.evidence)
    return next((use for use in found if use.runner == wanted.value), bare), folder.evidence


def _nothing(manifest: Manifest) -> str:
    script = manifest.table("scripts").get("test")
    said = f"; scripts.test is '{script}'" if script else "; it has no scripts.test"
    return f"package.json names none of: {', '.join(uses.runners())}{said}"


def _aggregates(tree: Tree, use: Use, manifest: Manifest) -> bool:
    """Whether the runner's configuration at the root is one for several packages."""
    row = uses.row(use.runner)
    if "aggregate" not in row:
        return False
    texts = [tree.text(path) for path in tree.matching(re.compile(row["configuration"]).search) if "/" not in path]
    return any(re.search(row["aggregate"], text) for text in [*texts, str(manifest.data.get(row.get("key", ""), ""))])


# -- its version, its file, its words -------------------------------------------------------------------------------
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
