"""Which runners a package uses: by its scripts, its dependencies, and its tests (imports, snapshots, folder)."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pipeline.build.infer import angular, globs, patterns, scripts, sources
from pipeline.build.infer.patterns import Patterns
from pipeline.build.infer.scripts import CONFIGURING, Call
from pipeline.build.infer.tree import Found, Manifest, Tree, above
from pipeline.build.infer.words import is_unknown
from pipeline.core.patches import is_named_test
from pipeline.ecosystems import locks
from pipeline.ecosystems.manager_folder import all_managers
from pipeline.ecosystems.runner_folder import Runner, Wrapper, all_runners

#: a word that names files
_PATH = re.compile(r"[/.*]")
#: how a call that names no tests, one that names others, and one that runs in another folder fit to tests (`_fit`)
_PLAIN, _OTHERS, _ELSEWHERE = 1, 2, 4
#: a call that defines a test or a group of tests (`it.each`, `test.describe`, `QUnit.test`)
_DEFINES = re.compile(r"(?<![\w.$])(?:QUnit\.)?[fx]?(?:describe|context|suite|it|test|specify)\b(?:\.\w+)*\s*[(`]")
#: runners that tests must import; tests of others may do without
_WITHOUT_GLOBALS = frozenset({"node", "playwright"})


class Use(NamedTuple):
    """One way of running the tests of the package in `folder`; `wrapper` is the package around the runner, if any."""

    folder: str
    runner: str
    evidence: str
    call: Call = Call("", (), {}, (), "")
    wrapper: Wrapper | None = None


def of_package(tree: Tree, folder: str, runners: Collection[str], tests: Sequence[str] = ()) -> list[Use]:
    """The package's uses, the likeliest first: by imports and snapshots of its tests, by its scripts, by its
    dependencies. Of several scripts, the one that names these tests comes first, and one that names only others last:
    after another runner that is configured for these tests, if its own configuration leaves them out. The import of a
    runner that is only the framework of another one does not count.
    """
    manifest = tree.manifest(folder)
    if manifest is None:
        return []
    found = [*of_scripts(tree, folder, tests), *_by_dependencies(tree, folder, manifest, tests)]
    if "node" in runners:
        found.append(Use(folder, "node", "the tests import node:test"))
    called = {use.runner for use in found if use.call.program}
    misled = {use.runner for use in found if leaves_out(tree, use, tests)}
    found += _served(tree, folder, tests, {*runners} - called, misled)
    others = [use for use in found if not use.call.program and use.runner not in misled and configures(tree, use)]
    last = _ELSEWHERE if others else _OTHERS
    likely = sorted(found, key=lambda use: (not _of_project(use), _rank(tree, use, folder, tests, misled, last)))
    frameworks = {name for name, runner in all_runners().items() if _is_framework(tree, folder, manifest, runner)}
    outvoted = _outvoted(tree, manifest, likely, tests)
    wanted = {*runners} - (frameworks - called) - outvoted | _with_snapshots(tree, tests)
    return sorted(likely, key=lambda use: use.runner not in wanted)


def of_scripts(tree: Tree, folder: str, tests: Sequence[str]) -> list[Use]:
    """The uses by all scripts of a package that may run these tests, the likeliest first."""
    manifest = tree.manifest(folder)
    return list(_by_scripts(tree, folder, manifest, tests, scripts.names(manifest))) if manifest else []


def of_end_to_end(tree: Tree, folder: str, tests: Sequence[str]) -> list[Use]:
    """The uses by the scripts of a package that test a served application."""
    manifest = tree.manifest(folder)
    return list(_by_scripts(tree, folder, manifest, tests, scripts.end_to_end(manifest))) if manifest else []


def _served(
    tree: Tree, folder: str, tests: Sequence[str], uncalled: Collection[str], misled: Collection[str]
) -> list[Use]:
    """The uses by scripts that test a served application: of the runners that tests import and no other script calls,
    and of those whose other calls leave out the tests, if the configuration names some of them."""
    found = of_end_to_end(tree, folder, tests) if uncalled or misled else []
    return [use for use in found if use.runner in uncalled or use.runner in misled and _names_some(tree, use, tests)]


def of_call(folder: str, name: str, call: Call) -> Use:
    """The use for a call of a runner."""
    return Use(folder, name, call.evidence, call)


def arguments(use: Use) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of the call that shape how tests run, and those that name tests, if the runner takes such words."""
    spec = all_runners()[use.runner]
    kept: list[str] = []
    tests: list[str] = []
    words, is_option = iter(use.call.words), False
    for word in words:
        name, may_be_value, is_option = word.partition("=")[0], is_option, False
        if word in spec.flags or ("=" in word and name in spec.keep):
            kept.append(word)
        elif word in spec.keep:
            kept += [word, *([value] if (value := next(words, None)) else [])]
        elif word in CONFIGURING:
            next(words, None)
        elif word.startswith("-"):
            is_option = "=" not in word
        elif not may_be_value or _PATH.search(word):
            tests.append(word)
    return tuple(kept), tuple(word for word in tests if not is_unknown(word)) if spec.positional else ()


def _of_project(use: Use) -> bool:
    """Whether a wrapper runs the project of the tests, whatever scripts call: they may name other projects."""
    return bool(use.wrapper and use.wrapper.file)


def _rank(tree: Tree, use: Use, home: str, tests: Sequence[str], misled: Collection[str], last: int) -> int:
    """How a use fits to tests (`_fit`): at most like `last` if a configuration of its runner leaves out the tests,
    unless the call names most of them, or its own configuration some."""
    fit = _fit(use, home, tests)
    return max(fit, last) if fit and use.runner in misled and not _names_some(tree, use, tests) else fit


def _fit(use: Use, home: str, tests: Sequence[str]) -> int:
    """0: the call names most of the tests, or runs in a folder with one of them; 1: it names no tests, and runs in the
    folder of its package (`home`) or in the root; 2: it names other tests; 3: there is no call; 4: it runs in another
    folder."""
    if not use.call.program:
        return 3
    named = arguments(use)[1]
    if not named or not tests or any(map(is_unknown, use.call.words)):
        if not tests or not use.folder or use.folder == home:
            return _PLAIN
        return 0 if any(test.startswith(f"{use.folder}/") for test in tests) else _ELSEWHERE
    ran = [test for test in tests if any(names(use.folder, word, test) for word in named)]
    return 0 if len(ran) * 2 >= len(tests) else _OTHERS


def names(folder: str, word: str, test: str) -> bool:
    """Whether a path or pattern (`test/**/*.js`, `{a,b}.js`) from a folder means a test, or a folder above it."""
    path = posixpath.normpath(posixpath.join(folder, word))
    return path == "." or any(map(globs.matcher(path), (test, *above(test))))


def leaves_out(tree: Tree, use: Use, tests: Sequence[str]) -> bool:
    """Whether the configuration of a call names none of these tests, but other files. One that names no file at all is
    for tests that are built first."""
    said = _patterns(tree, use) if tests else Patterns()
    return said != Patterns() and not any(map(said.may_run, tests)) and any(map(said.may_run, tree.paths))


def _names_some(tree: Tree, use: Use, tests: Sequence[str]) -> bool:
    """Whether the configuration of a call names some of these tests."""
    return any(map(_patterns(tree, use).names, tests))


def _patterns(tree: Tree, use: Use) -> Patterns:
    """The patterns of the configuration of a call, without any if its words may replace them."""
    words, manifest, spec = use.call.words, tree.manifest(use.folder), all_runners()[use.runner]
    may_replace = any(is_unknown(word) or word.partition("=")[0] in patterns.REPLACING for word in words)
    if may_replace or use.wrapper or not use.call.program:
        return Patterns()
    if path := _configuration(tree, use):
        folder = use.folder if use.runner in patterns.FROM_CALL else posixpath.dirname(path)
        return patterns.read(spec, folder, tree.text(path))
    settings = manifest.data.get(spec.key) if manifest and not _configurations(use) else None
    return patterns.read(spec, use.folder, json.dumps(settings))


def _configuration(tree: Tree, use: Use) -> str:
    """The configuration that the call of a use names, else the one that the runner finds in its folder; empty if there
    is none."""
    if named := _configurations(use):
        return next((path for path in named if path in tree.paths), "")
    start, spec = f"{use.folder}/" if use.folder else "", all_runners()[use.runner]
    inside = (path.removeprefix(start) for path in tree.paths if path.startswith(start))
    found = [path for path in inside if "/" not in path and re.search(spec.configuration, path)]
    usual = min(found, key=lambda path: (not re.search(spec.usual, path), path), default="")
    return usual and f"{start}{usual}"


def _configurations(use: Use) -> list[str]:
    """The paths of configurations that a call names by an option."""
    return [posixpath.normpath(posixpath.join(use.folder, path)) for path in scripts.configurations(use.call.words)]


def imported(tree: Tree, files: Collection[str]) -> frozenset[str]:
    """The runners that these tests, as far as they exist before the patch, import by name or by the repository's own
    module around them; one that starts browsers only if it runs more than half of them."""
    texts = _texts(tree, files)
    tests, found = _defining(texts), set[str]()
    for runner in (runner for runner in all_runners().values() if runner.imports):
        own = [file for file, text in texts.items() if re.search(runner.imports, text)]
        kin = set(map(_kind, own))
        if own and (not runner.browser or 2 * sum(_kind(file) in kin for file in tests) > len(tests)):
            found.add(runner.name)
    return frozenset(found or (runner.name for runner in all_runners().values() if _claims(tree, runner, files)))


def _texts(tree: Tree, files: Iterable[str]) -> dict[str, str]:
    """The texts of these files, as far as they exist, without remarks."""
    return {file: sources.without_remarks(text) for file in files if (text := tree.text(file))}


def _outvoted(tree: Tree, manifest: Manifest, likely: Sequence[Use], tests: Sequence[str]) -> set[str]:
    """The runners that some tests of a package import, but no more than use another one: tests that import none use the
    likeliest runner with globals that the package calls or configures. Runners that start browsers are left out: they
    need more than half of the tests anyway."""
    folder = posixpath.dirname(manifest.path)
    own = [test for test in tests if test.startswith(f"{folder}/" if folder else "")]
    usual = next((use.runner for use in likely if _has_globals(tree, manifest, use)), None)
    if usual is None:
        return set()
    votes = Counter(name for text in _defining(_texts(tree, own)).values() for name in _named(text) or {usual})
    return {name for name in votes if name != usual and votes[usual] >= votes[name] and not all_runners()[name].browser}


def _named(text: str) -> set[str]:
    """The runners that a text imports."""
    return {name for name, spec in all_runners().items() if spec.imports and re.search(spec.imports, text)}


def defines_tests(text: str) -> bool:
    """Whether a text without remarks defines tests or groups of them."""
    return bool(_DEFINES.search(text))


def _defining(texts: Mapping[str, str]) -> dict[str, str]:
    """Those of these files that are named like tests or define some; all if none is. The others only help: stories,
    scenarios, shared helpers."""
    own = {file: text for file, text in texts.items() if is_named_test(file) or defines_tests(text)}
    return own or dict(texts)


def _has_globals(tree: Tree, manifest: Manifest, use: Use) -> bool:
    """Whether tests need not import the runner of a use, and the package calls or configures it."""
    spec = all_runners()[use.runner]
    is_set_up = use.call.program or spec.key in manifest.data or is_configured(tree, use.folder, spec)
    return bool(is_set_up) and use.runner not in _WITHOUT_GLOBALS


def _kind(file: str) -> tuple[str, str]:
    """What the tests of one tool share, even if some import it through a helper: the folder above theirs, and the end
    of their names (`.spec.ts`)."""
    folder, name = posixpath.split(file)
    return posixpath.dirname(folder), name.partition(".")[2]


def is_configured(tree: Tree, folder: str, runner: Runner) -> bool:
    """Whether a folder, or one below it, has a configuration of a runner."""
    start = f"{folder}/" if folder else ""
    inside = (path.removeprefix(start) for path in tree.paths if path.startswith(start))
    return any(re.search(runner.configuration, path) for path in inside)


def _claims(tree: Tree, runner: Runner, files: Collection[str]) -> bool:
    """Whether a configuration of a runner above one of these tests names a folder of tests with one of them or, if the
    runner starts browsers, with most of them."""
    if not runner.tests:
        return False
    folders = {folder for file in files for folder in above(file)}
    texts = {
        posixpath.dirname(path): tree.text(path)
        for path in tree.paths
        if posixpath.dirname(path) in folders and re.search(runner.configuration, posixpath.basename(path))
    }
    named = [
        posixpath.normpath(posixpath.join(folder, match[1]))
        for folder, text in texts.items()
        if (match := re.search(runner.tests, text))
    ]
    own = sum(any(file.startswith(f"{folder}/") for folder in named) for file in files)
    return 2 * own > len(files) if runner.browser else own > 0


def _with_snapshots(tree: Tree, tests: Iterable[str]) -> set[str]:
    """The runners that keep snapshots beside tests, if there are any beside these."""
    paths = (posixpath.join(posixpath.dirname(test), "__snapshots__", posixpath.basename(test)) for test in tests)
    if not any(f"{path}.snap" in tree.paths for path in paths):
        return set()
    return {runner.name for runner in all_runners().values() if runner.parsers[runner.parser].snapshots}


def locked(tree: Tree, package: str, wanted: str = "", folder: str = "") -> Found | None:
    """The version of a package in the lock file of a folder, or else of one above it: the one that is requested as
    `wanted` (a range), else any."""
    names = [name for manager in all_managers().values() for name in manager.locks]
    for home in above(posixpath.join(folder, "package.json")):
        for path in (posixpath.join(home, name) for name in names):
            if version := locks.version(posixpath.basename(path), tree.text(path), package, wanted):
                return Found(version, path)
    return None


def brought(tree: Tree, others: Collection[str] = ()) -> Use | None:
    """The use of a runner that no manifest names, but that another package brings along according to the lock file;
    none of the `others`."""
    runners = (runner for runner in all_runners().values() if runner.name not in others)
    pairs = ((runner, package) for runner in runners for package in runner.packages)
    found = ((runner, package, locked(tree, package)) for runner, package in pairs)
    return next(
        (
            Use("", runner.name, f"{version.evidence}: {package}, brought along by another package")
            for runner, package, version in found
            if version
        ),
        None,
    )


def marked(tree: Tree, tests: Sequence[str], others: Collection[str] = ()) -> Use | None:
    """The use of a runner that no manifest names, by files that only it has: snapshots beside the tests, its
    configuration in a package above them or at the root; none of the `others`."""
    runners = [runner for runner in _from_packages() if runner.name not in others]
    snapshots = _with_snapshots(tree, tests)
    signs = [
        *((runner, "", "snapshots beside the tests") for runner in runners if runner.name in snapshots),
        *(
            (runner, folder, posixpath.join(folder, name))
            for folder, name in _near(tree, tests)
            for runner in runners
            if re.search(runner.configuration, name)
        ),
    ]
    return _by_sign(signs)


def hinted(manifest: Manifest) -> Use | None:
    """The use of a runner that no manifest names, by dependencies that are named after it (`babel-jest`,
    `@types/mocha`)."""
    return _by_sign(
        (runner, "", f"{manifest.path}: {name}")
        for runner in _from_packages()
        for name in _named_after(manifest, runner.name)
    )


def _from_packages() -> list[Runner]:
    """The runners that packages contain: all but Node's own."""
    return [runner for runner in all_runners().values() if runner.entries]


def _by_sign(signs: Iterable[tuple[Runner, str, str]]) -> Use | None:
    """The use of the first of these runners, each given with its folder and the sign of its use."""
    uses = (Use(folder, runner.name, f"{sign}, a sign of {runner.name}") for runner, folder, sign in signs)
    return next(uses, None)


def _near(tree: Tree, tests: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The files of the packages above these tests, the nearest first, then those of the root and its folder of tests:
    each as a folder and its path from there."""
    packages = {folder for test in tests for folder in above(test) if folder and tree.manifest(folder)}
    pairs = map(posixpath.split, tree.matching(lambda path: posixpath.dirname(path) in packages))
    yield from sorted(pairs, key=lambda pair: -pair[0].count("/"))
    at_root = tree.matching(lambda path: path.count("/") == 0 or path.startswith("test/") and path.count("/") == 1)
    yield from (("", path) for path in at_root)


def _named_after(manifest: Manifest, runner: str) -> list[str]:
    """The dependencies of a package that are named after a runner. What only checks the style of tests is none."""
    words = ((name, re.split(r"[/-]", name)) for name in sorted(manifest.dependencies))
    return [name for name, parts in words if runner in parts and "eslint" not in parts]


def wrappers(manifest: Manifest) -> list[str]:
    """The dependencies of this package that contain a runner."""
    return [wrapper.package for _, wrapper in _wrappers() if wrapper.package in manifest.dependencies]


def _by_scripts(
    tree: Tree, folder: str, manifest: Manifest, tests: Sequence[str], script_names: Sequence[str]
) -> Iterator[Use]:
    """The uses by these scripts. A command that is kept elsewhere than in the scripts may start the tests of many
    packages: what it calls in folders without any of these tests does not count."""
    for name in script_names:
        is_kept = manifest.scripts[name] != manifest.table("scripts").get(name)
        for use in _of_calls(tree, folder, scripts.calls(tree, folder, manifest, tuple(programs()), (name,)), tests):
            if not (is_kept and _fit(use, folder, tests) == _ELSEWHERE):
                yield use


def _of_calls(tree: Tree, folder: str, calls: Iterable[Call], tests: Sequence[str]) -> Iterator[Use]:
    for call in calls:
        for runner, wrapper in started(call):
            if not wrapper or _includes(tree, folder, runner, wrapper, tests):
                yield Use(folder if call.folder is None else call.folder, runner.name, call.evidence, call, wrapper)


def started(call: Call) -> Iterator[tuple[Runner, Wrapper | None]]:
    """The runners that a call may start, each with its wrapper if there is one: of `ng`, only those of `ng test`."""
    for runner, wrapper in programs()[call.program]:
        command = (wrapper or runner).command
        if not command or command in call.words[:1]:
            yield runner, wrapper


def _by_dependencies(tree: Tree, folder: str, manifest: Manifest, tests: Sequence[str]) -> Iterator[Use]:
    """The uses by dependencies. A wrapper that a configuration requires comes before its runner, which does not work
    without it; a runner that is the framework of another one comes after that one."""
    call = Call("", (), scripts.task_variables(manifest), (), "")
    included = [
        Use(folder, runner.name, f"{manifest.path}: depends on {wrapper.package}", wrapper=wrapper)
        for runner, wrapper in _wrappers()
        if wrapper.package in manifest.dependencies and _includes(tree, folder, runner, wrapper, tests)
    ]
    yield from (use for use in included if use.wrapper and use.wrapper.file)
    for runner in sorted(all_runners().values(), key=lambda runner: _is_framework(tree, folder, manifest, runner)):
        for package in runner.packages:
            if package in manifest.dependencies:
                yield Use(folder, runner.name, f"{manifest.path}: depends on {package}", call)
    yield from (use for use in included if use.wrapper and not use.wrapper.file)


def _is_framework(tree: Tree, folder: str, manifest: Manifest, runner: Runner) -> bool:
    """Whether a runner is the framework of another one (`karma-mocha`) that has a configuration here."""
    others = (other for other in all_runners().values() if other.adapter and other.name != runner.name)
    return any(
        other.adapter.format(runner=runner.name) in manifest.dependencies and is_configured(tree, folder, other)
        for other in others
    )


def _includes(tree: Tree, folder: str, runner: Runner, wrapper: Wrapper, tests: Sequence[str]) -> bool:
    """Whether a wrapper includes a runner for these tests in a package."""
    if not wrapper.file:
        return True
    tested = angular.project(tree, tests)
    if tested is None or (tested.home, tested.runner) != (folder, runner.name):
        return False
    return wrapper.includes(tested.file, tested.builder)


def _wrappers() -> list[tuple[Runner, Wrapper]]:
    return [(runner, wrapper) for runner in all_runners().values() for wrapper in runner.wrapper]


@cache
def programs() -> dict[str, list[tuple[Runner, Wrapper | None]]]:
    """Program -> the runners that it may start, each with its wrapper if the program belongs to one."""
    found: dict[str, list[tuple[Runner, Wrapper | None]]] = {}
    for runner in all_runners().values():
        for name in runner.programs:
            found.setdefault(name, []).append((runner, None))
    for runner, wrapper in _wrappers():
        found.setdefault(wrapper.program, []).append((runner, wrapper))
    return found


def configures(tree: Tree, use: Use) -> bool:
    """Whether the folder of a use has a configuration of its runner."""
    spec, manifest = all_runners()[use.runner], tree.manifest(use.folder)
    return is_configured(tree, use.folder, spec) or bool(manifest and spec.key in manifest.data)
