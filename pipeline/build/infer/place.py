"""Which runner a commit's tests take, and in which folder it runs.

The nearest package above the touched tests that has a runner is it, unless the root's configuration runs the packages'
tests itself, or they are of several packages. Does not cover runs in more than one folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from pipeline.build.infer import uses, workspaces
from pipeline.build.infer.scripts import commands, program
from pipeline.build.infer.tree import Found, Manifest, Tree, Unsupported, above, table
from pipeline.build.infer.uses import Use
from pipeline.ecosystems.runner_folder import all_runners, runner

#: from a folder to the uses of its package, the likeliest first
Known = Callable[[str], list[Use]]


def choose(tree: Tree, manifest: Manifest, files: Sequence[str], fixed: dict[str, Found]) -> tuple[Use, str]:
    """The use that runs most of these test files, and why it is in its folder. Raises Unsupported."""
    own = _own(files)
    imported = uses.imported(tree, own)
    known = cache(lambda folder: uses.of_package(tree, folder, imported))
    if "runner" in fixed or "folder" in fixed:
        return _fixed(known, fixed)
    named = workspaces.patterns(tree, manifest)
    nearest = [use for file in own or ["package.json"] if (use := _nearest(known, file, named))]
    if not nearest:
        raise Unsupported("runner_unsupported", _nothing(manifest))
    folders = Counter(use.folder for use in nearest)
    root = next(iter(known("")), None)
    if root and (len(folders) > 1 or root.runner == nearest[0].runner and _aggregates(tree, root, manifest)):
        return root, "the root runs the packages' tests"
    folder = min(folders, key=lambda one: (-folders[one], one))
    left = f"; those of {', '.join(sorted(set(folders) - {folder}))} are left out" if len(folders) > 1 else ""
    use = next(use for use in nearest if use.folder == folder)
    return use, (workspaces.member(folder, named) if folder else "the root") + left


def others(tree: Tree, manifest: Manifest, files: Sequence[str]) -> Iterator[Use]:
    """Every other way in which the packages above these test files could run them, nearest packages first."""
    own, named = _own(files), workspaces.patterns(tree, manifest)
    imported = uses.imported(tree, own)
    folders = [folder for file in own or ["package.json"] for folder in above(file) if workspaces.member(folder, named)]
    for folder in sorted(set(folders), key=lambda one: -len(one)):
        yield from uses.of_package(tree, folder, imported)
        yield from uses.of_scripts(tree, folder)


def _own(files: Sequence[str]) -> list[str]:
    """The files that are no other tool's. Raises Unsupported when there is none left."""
    tools = {file: tool for file in files if (tool := tool_of(file))}
    if files and len(tools) == len(files):
        named = ", ".join(f"{file} ({tool['tool']}: {tool['why']})" for file, tool in sorted(tools.items()))
        raise Unsupported("runner_unsupported", f"the tests are another tool's: {named}")
    return [file for file in files if file not in tools]


def tool_of(file: str) -> dict[str, str]:
    """The row of the tool whose test a file is; empty for none."""
    return next((row for row in table("foreign.toml")["foreign"] if re.search(row["files"], file)), {})


def _nearest(known: Known, file: str, named: dict[str, str]) -> Use | None:
    """The first use of the nearest package above a file that has any."""
    folders = [folder for folder in above(file) if workspaces.member(folder, named)]
    return next((use for folder in folders for use in known(folder)), None)


def _fixed(known: Known, fixed: dict[str, Found]) -> tuple[Use, str]:
    """What an override says; of the rest what the package itself says."""
    folder = fixed.get("folder", Found("", "the root"))
    found = known(folder.value)
    wanted = fixed.get("runner") or (Found(found[0].runner, found[0].evidence) if found else None)
    if wanted is None or wanted.value not in all_runners():
        raise Unsupported("runner_unsupported", f"no known runner: {wanted.value if wanted else 'none'}")
    bare = Use(folder.value, wanted.value, wanted.evidence)
    return next((use for use in found if use.runner == wanted.value), bare), folder.evidence


def _nothing(manifest: Manifest) -> str:
    script = manifest.table("scripts").get("test")
    said = f"; scripts.test is '{script}'" if script else "; it has no scripts.test"
    scripts = manifest.table("scripts").values()
    called = {program(word) for text in scripts for words in commands(text) for word in words}
    others = [row for row in table("foreign.toml")["foreign"] if called.intersection(row["programs"])]
    known = "".join(f"; its scripts call {row['tool']}: {row['why']}" for row in others)
    return f"package.json names none of: {', '.join(all_runners())}{said}{known}"


def _aggregates(tree: Tree, use: Use, manifest: Manifest) -> bool:
    """Whether the runner's configuration at the root is one for several packages."""
    own = runner(use.runner)
    if not own.aggregate:
        return False
    texts = [tree.text(path) for path in tree.matching(re.compile(own.configuration).search) if "/" not in path]
    return any(re.search(own.aggregate, text) for text in [*texts, str(manifest.data.get(own.key, ""))])
