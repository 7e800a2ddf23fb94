"""Which runners a package uses, by its scripts, by what it depends on, and by what its tests import."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from pipeline.build.infer import scripts
from pipeline.build.infer.scripts import Call
from pipeline.build.infer.tree import Manifest, Tree, table


class Use(NamedTuple):
    """One way of running the tests of the package in `folder`; `wrapper` is a row of the wrappers, empty for none."""

    folder: str
    runner: str
    evidence: str
    call: Call = Call("", (), {}, (), "")
    wrapper: dict[str, Any] = {}


def row(runner: str) -> dict[str, Any]:
    """The runner's table."""
    return table("runners.toml")["runner"][runner]


def runners() -> list[str]:
    return list(table("runners.toml")["runner"])


def of_package(tree: Tree, folder: str, imported: Collection[str]) -> list[Use]:
    """The package's uses, the likeliest first: what its tests import, what its scripts call, what it depends on."""
    manifest = tree.manifest(folder)
    if manifest is None:
        return []
    found = [*_by_scripts(tree, folder, manifest), *_by_dependencies(folder, manifest)]
    if "node" in imported:
        found.append(Use(folder, "node", "the tests import node:test"))
    return sorted(found, key=lambda use: use.runner not in imported)


def imported(tree: Tree, files: Iterable[str]) -> frozenset[str]:
    """The runners that these tests import by name, as far as they are there before the patch."""
    patterns = {name: own for name in runners() if (own := row(name).get("imports"))}
    return frozenset(name for file in files for name, own in patterns.items() if re.search(own, tree.text(file)))


def wrappers(manifest: Manifest) -> list[str]:
    """The packages that bring a runner along and that this one depends on."""
    return [one["package"] for one in table("runners.toml")["wrapper"] if one["package"] in manifest.dependencies]


def _by_scripts(tree: Tree, folder: str, manifest: Manifest) -> Iterator[Use]:
    for call in scripts.calls(tree, folder, manifest, tuple(_programs())):
        runner, wrapper = _programs()[call.program]
        command = (wrapper or row(runner)).get("command")
        if command is None or command in call.words[:1]:
            yield Use(folder, runner, call.evidence, call, wrapper)


def _by_dependencies(folder: str, manifest: Manifest) -> Iterator[Use]:
    for runner in runners():
        for package in row(runner)["packages"]:
            if package in manifest.dependencies:
                yield Use(folder, runner, f"{manifest.path}: depends on {package}")
    for wrapper in table("runners.toml")["wrapper"]:
        if wrapper["package"] in manifest.dependencies:
            yield Use(folder, wrapper["runner"], f"{manifest.path}: depends on {wrapper['package']}", wrapper=wrapper)


@cache
def _programs() -> dict[str, tuple[str, dict[str, Any]]]:
    """Program -> its runner, and its wrapper where it is one."""
    own: dict[str, tuple[str, dict[str, Any]]] = {name: (r, {}) for r in runners() for name in row(r)["programs"]}
    return own | {one["program"]: (one["runner"], one) for one in table("runners.toml")["wrapper"]}
