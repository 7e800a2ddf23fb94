"""Which runners a package uses, by its scripts, its dependencies and the imports of its tests."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from pipeline.build.infer import scripts
from pipeline.build.infer.scripts import Call
from pipeline.build.infer.tree import Found, Manifest, Tree
from pipeline.ecosystems import locks
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import Runner, Wrapper, all_runners


class Use(NamedTuple):
    """One way of running the tests of the package in `folder`; `wrapper` is the package around the runner, if any."""

    folder: str
    runner: str
    evidence: str
    call: Call = Call("", (), {}, (), "")
    wrapper: Wrapper | None = None


def of_package(tree: Tree, folder: str, runners: Collection[str], tests: Sequence[str] = ()) -> list[Use]:
    """The package's uses, the likeliest first: by imports of its tests, by its scripts, by its dependencies. Of several
    scripts, the one that names these tests comes first, and one that names only others last."""
    manifest = tree.manifest(folder)
    if manifest is None:
        return []
    found = [*_by_scripts(tree, folder, manifest), *_by_dependencies(tree, folder, manifest)]
    if "node" in runners:
        found.append(Use(folder, "node", "the tests import node:test"))
    return sorted(found, key=lambda use: (use.runner not in runners, _fit(use, tests)))


def of_scripts(tree: Tree, folder: str) -> list[Use]:
    """The uses by all scripts of a package that may test."""
    manifest = tree.manifest(folder)
    return list(_by_scripts(tree, folder, manifest, scripts.names(manifest))) if manifest else []


def of_call(folder: str, name: str, call: Call) -> Use:
    """The use for a call of a runner."""
    return Use(folder, name, call.evidence, call)


def arguments(use: Use) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of the call that shape how tests run, and those that name tests if the runner takes such."""
    spec = all_runners()[use.runner]
    kept: list[str] = []
    tests: list[str] = []
    words = iter(use.call.words)
    for word in words:
        name = word.partition("=")[0]
        if word in spec.flags or ("=" in word and name in spec.keep):
            kept.append(word)
        elif word in spec.keep:
            kept += [word, *([value] if (value := next(words, None)) else [])]
        elif not word.startswith("-"):
            tests.append(word)
    return tuple(kept), tuple(tests) if spec.positional else ()


def _fit(use: Use, tests: Sequence[str]) -> int:
    """0: the call names most of the tests; 1: it names none; 2: it names others; 3: there is no call."""
    if not use.call.program:
        return 3
    named = [word for word in arguments(use)[1] if re.search(r"[/.*]", word)]
    if not named or not tests or any(re.search(r"[$`]", word) for word in named):
        return 1
    ran = [test for test in tests if any(_names(use.folder, word, test) for word in named)]
    return 0 if len(ran) * 2 >= len(tests) else 2


def _names(folder: str, word: str, test: str) -> bool:
    """Whether a path or pattern (`test/**/*.js`, `{a,b}.js`) from a folder means a test, or a folder above it."""
    path = posixpath.normpath(posixpath.join(folder, word))
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}
    tokens = re.findall(r"\*\*/|\*\*|[*?{},]|[^*?{},]+", path)
    pattern = "".join(parts.get(token, re.escape(token)) for token in tokens)
    try:
        return path == "." or bool(re.match(f"{pattern}(?:/|$)", test))
    except re.error:
        return False


def imported(tree: Tree, files: Iterable[str]) -> frozenset[str]:
    """The runners that these tests import by name, if they exist before the patch."""
    patterns = {name: runner.imports for name, runner in all_runners().items() if runner.imports}
    texts = [tree.text(file) for file in files]
    return frozenset(name for text in texts for name, imports in patterns.items() if re.search(imports, text))


def locked(tree: Tree, package: str, wanted: str = "") -> Found | None:
    """The version that a lock file has of a package that is requested as `wanted`, a range; else any."""
    for path in (path for manager in all_managers().values() for path in manager.locks):
        if version := locks.version(path, tree.text(path), package, wanted):
            return Found(version, path)
    return None


def brought(tree: Tree) -> Use | None:
    """The use of a runner that no manifest names and that another package brings along, by the lock file."""
    pairs = ((runner, package) for runner in all_runners().values() for package in runner.packages)
    found = ((runner, package, locked(tree, package)) for runner, package in pairs)
    return next(
        (
            Use("", runner.name, f"{version.evidence}: {package}, brought along by another package")
            for runner, package, version in found
            if version
        ),
        None,
    )


def wrappers(manifest: Manifest) -> list[str]:
    """The dependencies of this package that contain a runner."""
    return [wrapper.package for _, wrapper in _wrappers() if wrapper.package in manifest.dependencies]


def _by_scripts(tree: Tree, folder: str, manifest: Manifest, names: Collection[str] = scripts.NAMES) -> Iterator[Use]:
    for call in scripts.calls(tree, folder, manifest, tuple(programs()), tuple(names)):
        runner, wrapper = programs()[call.program]
        command = (wrapper or runner).command
        includes = not wrapper or _includes(tree, folder, wrapper)
        if includes and (not command or command in call.words[:1]):
            yield Use(folder, runner.name, call.evidence, call, wrapper)


def _by_dependencies(tree: Tree, folder: str, manifest: Manifest) -> Iterator[Use]:
    """The uses by dependencies. A wrapper that a file asks for comes before its runner, which cannot do without it."""
    included = [
        Use(folder, runner.name, f"{manifest.path}: depends on {wrapper.package}", wrapper=wrapper)
        for runner, wrapper in _wrappers()
        if wrapper.package in manifest.dependencies and _includes(tree, folder, wrapper)
    ]
    yield from (use for use in included if use.wrapper and use.wrapper.file)
    for runner in all_runners().values():
        for package in runner.packages:
            if package in manifest.dependencies:
                yield Use(folder, runner.name, f"{manifest.path}: depends on {package}")
    yield from (use for use in included if use.wrapper and not use.wrapper.file)


def _includes(tree: Tree, folder: str, wrapper: Wrapper) -> bool:
    return wrapper.includes(tree.text(posixpath.join(folder, wrapper.file)))


def _wrappers() -> list[tuple[Runner, Wrapper]]:
    return [(runner, wrapper) for runner in all_runners().values() for wrapper in runner.wrapper]


@cache
def programs() -> dict[str, tuple[Runner, Wrapper | None]]:
    """Program -> its runner, and its wrapper if the program belongs to one."""
    found: dict[str, tuple[Runner, Wrapper | None]] = {
        name: (runner, None) for runner in all_runners().values() for name in runner.programs
    }
    return found | {wrapper.program: (runner, wrapper) for runner, wrapper in _wrappers()}
