"""Which runners a package uses, by its scripts, by what it depends on, and by what its tests import."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from pipeline.build.infer import scripts
from pipeline.build.infer.scripts import Call
from pipeline.build.infer.tree import Manifest, Tree
from pipeline.ecosystems.runner_folder import Runner, Wrapper, all_runners


class Use(NamedTuple):
    """One way of running the tests of the package in `folder`; `wrapper` is what brings it along, if anything."""

    folder: str
    runner: str
    evidence: str
    call: Call = Call("", (), {}, (), "")
    wrapper: Wrapper | None = None


def of_package(tree: Tree, folder: str, imported: Collection[str]) -> list[Use]:
    """The package's uses, the likeliest first: what its tests import, what its scripts call, what it depends on."""
    manifest = tree.manifest(folder)
    if manifest is None:
        return []
    found = [*_by_scripts(tree, folder, manifest), *_by_dependencies(folder, manifest)]
    if "node" in imported:
        found.append(Use(folder, "node", "the tests import node:test"))
    return sorted(found, key=lambda use: use.runner not in imported)


def of_scripts(tree: Tree, folder: str) -> list[Use]:
    """The uses by all of a package's scripts that may test."""
    manifest = tree.manifest(folder)
    return list(_by_scripts(tree, folder, manifest, scripts.names(manifest))) if manifest else []


def of_call(folder: str, name: str, call: Call) -> Use:
    """The use that a call of a runner is."""
    return Use(folder, name, call.evidence, call)


def imported(tree: Tree, files: Iterable[str]) -> frozenset[str]:
    """The runners that these tests import by name, as far as they are there before the patch."""
    patterns = {name: own.imports for name, own in all_runners().items() if own.imports}
    return frozenset(name for file in files for name, own in patterns.items() if re.search(own, tree.text(file)))


def wrappers(manifest: Manifest) -> list[str]:
    """The packages that bring a runner along and that this one depends on."""
    return [one.package for _, one in _wrappers() if one.package in manifest.dependencies]


def _by_scripts(tree: Tree, folder: str, manifest: Manifest, names: Collection[str] = scripts.NAMES) -> Iterator[Use]:
    for call in scripts.calls(tree, folder, manifest, tuple(_programs()), tuple(names)):
        own, wrapper = _programs()[call.program]
        command = (wrapper or own).command
        if not command or command in call.words[:1]:
            yield Use(folder, own.name, call.evidence, call, wrapper)


def _by_dependencies(folder: str, manifest: Manifest) -> Iterator[Use]:
    for own in all_runners().values():
        for package in own.packages:
            if package in manifest.dependencies:
                yield Use(folder, own.name, f"{manifest.path}: depends on {package}")
    for own, wrapper in _wrappers():
        if wrapper.package in manifest.dependencies:
            yield Use(folder, own.name, f"{manifest.path}: depends on {wrapper.package}", wrapper=wrapper)


def _wrappers() -> list[tuple[Runner, Wrapper]]:
    return [(own, wrapper) for own in all_runners().values() for wrapper in own.wrapper]


@cache
def _programs() -> dict[str, tuple[Runner, Wrapper | None]]:
    """Program -> its runner, and its wrapper where it is one."""
    programs: dict[str, tuple[Runner, Wrapper | None]] = {
        name: (own, None) for own in all_runners().values() for name in own.programs
    }
    return programs | {wrapper.program: (own, wrapper) for own, wrapper in _wrappers()}
