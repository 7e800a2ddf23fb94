"""Test files of tools that are no runners of ours, and of other runners: `foreign.toml` lists the tools."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pipeline.build.infer import sources
from pipeline.build.infer.tree import Manifest, Tree, Unsupported, above, table
from pipeline.build.infer.words import commands, program
from pipeline.ecosystems.runner_folder import all_runners, runner


def own_tests(tree: Tree, files: Sequence[str]) -> list[str]:
    """The files that are not tests of another tool. Raises Unsupported if none are left."""
    tools = {file: tool for file in files if (tool := tool_of(tree, file))}
    if files and len(tools) == len(files):
        named = ", ".join(f"{file} ({tool['tool']}: {tool['why']})" for file, tool in sorted(tools.items()))
        raise Unsupported("runner_unsupported", f"the tests belong to another tool: {named}")
    return [file for file in files if file not in tools]


def given(tree: Tree, name: str, files: Sequence[str]) -> list[str]:
    """The test files that a runner is given. A runner that runs every file that it is given gets no tests of other
    tools and runners, unless all tests are such; other runners leave those out themselves."""
    if not runner(name).positional:
        return list(files)
    return [file for file in files if not (tool_of(tree, file) or _is_of_another(tree, file, name))] or list(files)


def _is_of_another(tree: Tree, file: str, name: str) -> bool:
    """Whether a test imports another runner, and not this one. A framework of this one (`web-test-runner-jasmine`) is
    not another."""
    text, adapter = sources.without_remarks(tree.text(file)), runner(name).adapter
    named = {spec.name for spec in all_runners().values() if spec.imports and re.search(spec.imports, text)}
    others = {other for other in named if not (adapter and _is_used(tree, file, adapter.format(runner=other)))}
    return bool(others) and name not in named


def tool_of(tree: Tree, file: str) -> dict[str, Any]:
    """The row of the tool that a test file belongs to, by its name or its imports; empty if there is none."""
    return next((row for row in table("foreign.toml")["foreign"] if _belongs(tree, file, row)), {})


def _belongs(tree: Tree, file: str, row: dict[str, Any]) -> bool:
    by_name = "files" in row and re.search(row["files"], file) and _is_used(tree, file, row.get("package", ""))
    others = any(_is_used(tree, file, package) for package in row.get("unless", ()))
    by_import = "imports" in row and re.search(row["imports"], tree.text(file)) and not others
    return bool(by_name or by_import or "targets" in row and _is_target(tree, file, row))


def _is_target(tree: Tree, file: str, row: dict[str, Any]) -> bool:
    """Whether a build tool compiles and runs a test: the root's test command calls it, and no runner could instead."""
    folders = list(above(file))
    if not any(posixpath.join(folder, row["targets"]) in tree.paths for folder in folders):
        return False
    script = tree.root().scripts.get("test", "")
    texts = (script, *(tree.text(posixpath.normpath(word)) for words in commands(script) for word in words))
    calls = re.compile(rf"\b(?:{'|'.join(row['programs'])})\b")
    return any(map(calls.search, texts)) and not _is_configured_above(tree, folders)


def _is_configured_above(tree: Tree, folders: Collection[str]) -> bool:
    """Whether one of these folders has a configuration of a runner that needs no browser."""
    names = [posixpath.basename(path) for path in tree.paths if posixpath.dirname(path) in folders]
    keys = {key for manifest in map(tree.manifest, folders) if manifest for key in manifest.data}
    specs = [spec for spec in all_runners().values() if spec.entries and not spec.browser]
    return any(spec.key in keys or any(re.search(spec.configuration, name) for name in names) for spec in specs)


def _is_used(tree: Tree, file: str, package: str) -> bool:
    """Whether a package above a file depends on this one; true if no package is named."""
    manifests = filter(None, map(tree.manifest, above(file)))
    return not package or any(package in manifest.dependencies for manifest in manifests)


def called(manifest: Manifest, names: Iterable[str]) -> list[dict[str, str]]:
    """The rows of the tools that the scripts with these names call."""
    scripts = manifest.scripts
    return rows({program(word) for name in names for words in commands(scripts.get(name, "")) for word in words})


def rows(programs: Collection[str]) -> list[dict[str, str]]:
    """The rows of the tools with these programs."""
    return [row for row in table("foreign.toml")["foreign"] if not set(row["programs"]).isdisjoint(programs)]
