"""Which test files are run for an instance: `touched` (those of the test patch and related ones) or `full` (all).

Related to a changed source are tests of the nearest folder that has any (its own or one of the two above, each with its
`__tests__`, `test`, `tests` and `spec`). If the folder is a component's, that is, named like one of its tests
(`Button/__tests__/Button-test.js`, `dialog/src/dialog.test.tsx`), all of them are related, else those named like the
source. In a separate tree of tests, those named like the source in a folder of the same name are related, too. Stories
are not sources: no test imports them. Test data that a test patch changes (`tests/languages/sql/string.test`) is read
by tests above it, in a tree of tests or next to a component: in the nearest folder with tests, those that the root's
test scripts name, or that are named like tests. Does not cover tests elsewhere that import a changed source: that takes
the scope `full`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from pipeline.core.patches import is_picture, is_runnable, is_test_file, paths
from pipeline.ecosystems.protection import is_configuration, is_protected

#: increased when the selection changes: earlier decisions become stale
VERSION = 7

_HEIGHT = 2
#: folders whose names say nothing about their content
_PLAIN_FOLDERS = ("src", "lib")
_TEST_FOLDERS = ("__tests__", "__test__", "tests", "test", "specs", "spec", "unit")
_CODE = re.compile(r"\.[cm]?[jt]sx?$")
#: a file of snapshots that is a module (Web Test Runner's), and the possible extensions of its test
_MODULE = re.compile(r"(?:^|/)__snapshots__/[^/]+(?P<end>\.snap\.[cm]?js)$")
_ENDS = (".js", ".ts", ".mjs", ".jsx", ".tsx")
_STORY = re.compile(r"(?:^|/)stories/|\.stories\.")
#: names of files that run everything below their folder
_STARTS = ("index", "run", "runner", "main", "all", "test", "tests", "spec")
#: the end of a test's name without its extension: `Menu.test`, `menu-spec`, `MenuTest`, `Menu.spec.browser`
_TEST_WORD = re.compile(
    r"(?:\.(?:tests?|specs?)(?:\.[\w-]+){0,2}|[.\-_](?:tests?|specs?|cy)|(?<=[a-z0-9])(?:Tests?|Specs?))$"
)


def files(
    scope: str, tree: Collection[str], fix_patch: str, test_patch: str, manifest: str | None = None
) -> tuple[str, ...]:
    """The test files of an instance, sorted; empty for `full`. `tree` are the paths of its base, `manifest` is the text
    of the root's package.json."""
    if scope == "full":
        return ()
    return tuple(sorted({*touched(tree, test_patch, manifest), *related(tree, paths(fix_patch))}))


def touched(tree: Collection[str], test_patch: str, manifest: str | None = None) -> tuple[str, ...]:
    """The files of the test patch, and the tests that read test data that it changes, sorted. The runner itself skips
    files that are not tests (fixtures)."""
    changed = paths(test_patch)
    there = {*tree, *changed}
    code = {test for path in changed if _CODE.search(test := _test_of(path, there)) and not _sets_up(path)}
    code = set(filter(is_runnable, code)) or code
    data = [path for path in changed if is_test_file(path) and not _CODE.search(path) and not _is_stored(path)]
    return tuple(sorted(code | _readers({*tree, *code}, data, code, named_tests(manifest))))


def _sets_up(path: str) -> bool:
    """Whether a file is configuration or set-up by its name (`setupTests.js`), and therefore not a test."""
    return is_configuration(path) and not re.search(r"[.\-_](?:test|spec|cy)\.", PurePosixPath(path).name)


def _is_stored(path: str) -> bool:
    """Whether a file in a tree of tests was stored by a test: a snapshot, or a screenshot, neither of which is a
    test."""
    return path.endswith(".snap") or is_picture(path)


def _readers(tree: Collection[str], data: Iterable[str], code: Collection[str], named: Collection[str]) -> set[str]:
    """The tests that read test data; none if the patch changes a test in the same folder."""
    by_folder: dict[PurePosixPath, list[PurePosixPath]] = defaultdict(list)
    for path in tree:
        if _CODE.search(path) and is_test_file(path) and "node_modules" not in path.split("/"):
            by_folder[PurePosixPath(path).parent].append(PurePosixPath(path))
    found: set[str] = set()
    for folders in {tuple(PurePosixPath(path).parents) for path in data}:
        above = [folder for folder in folders if folder in by_folder and _is_near(folder, by_folder[folder])]
        tests = ([path for path in by_folder[folder] if _starts(path, named)] for folder in above)
        nearest = [str(path) for path in next(filter(None, tests), by_folder[above[0]] if above else [])]
        listed = [path for path in nearest if path in named] or nearest
        found.update(() if any(path in code for path in listed) else listed)
    return found


def _is_near(folder: PurePosixPath, tests: Iterable[PurePosixPath]) -> bool:
    """Whether tests of a folder may read data below it: in a tree of tests, or next to a component."""
    return any(part in _TEST_FOLDERS for part in folder.parts) or bool(folder.name) and _is_component(folder, tests)


def _starts(path: PurePosixPath, named: Collection[str]) -> bool:
    return str(path) in named or path.stem.lower() in _STARTS or bool(_TEST_WORD.search(path.stem))


def named_tests(manifest: str | None) -> frozenset[str]:
    """The words of a manifest's test scripts, some of which are paths."""
    try:
        scripts = json.loads(manifest or "{}").get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return frozenset()
    entries = scripts.items() if isinstance(scripts, dict) else ()
    texts = [text for name, text in entries if name.startswith("test") and isinstance(text, str)]
    return frozenset(word.strip("'\"").removeprefix("./") for text in texts for word in text.split())


def related(tree: Collection[str], changed: Iterable[str]) -> set[str]:
    """The tests of a tree that are related to changed sources."""
    tests = [PurePosixPath(path) for path in tree if is_test(path)]
    by_folder: dict[PurePosixPath, list[PurePosixPath]] = defaultdict(list)
    for test in tests:
        by_folder[_home(test)].append(test)
    sources = [PurePosixPath(path) for path in changed if _is_source(path)]
    return {str(test) for source in sources for test in (*_near(source, by_folder), *_parallel(source, tests))}


def _near(source: PurePosixPath, by_folder: Mapping[PurePosixPath, list[PurePosixPath]]) -> Iterator[PurePosixPath]:
    """The tests of the nearest folder that has any, except the root."""
    folders = [folder for folder in list(source.parents)[: _HEIGHT + 1] if folder.name and by_folder.get(folder)]
    for test in by_folder[folders[0]] if folders else ():
        if _stem(test) == _stem(source) or _is_component(folders[0], by_folder[folders[0]]):
            yield test


def _is_component(folder: PurePosixPath, tests: Iterable[PurePosixPath]) -> bool:
    component = folder.parent if folder.name in _PLAIN_FOLDERS else folder
    return any(_stem(test).lower() == component.name.lower() for test in tests)


def _parallel(source: PurePosixPath, tests: Iterable[PurePosixPath]) -> Iterator[PurePosixPath]:
    """Tests named like the source, in a folder of the same name: `test/components/icons/Status-test.js`."""
    return (test for test in tests if _stem(test) == _stem(source) and _home(test).name == source.parent.name)


def _is_source(path: str) -> bool:
    return bool(_CODE.search(path)) and not is_protected(path) and not _STORY.search(path)


def is_test(path: str) -> bool:
    """Whether a path is a test that a runner runs: by its own name, or by its folder's. Below `__tests__`, Jest runs
    everything, however deep it is."""
    pure = PurePosixPath(path)
    by_name = _TEST_WORD.search(pure.stem) or pure.parent.name in _TEST_FOLDERS or "__tests__" in pure.parts
    is_code = _CODE.search(path) and not _MODULE.search(path)
    return bool(is_code and is_runnable(path) and by_name and "node_modules" not in pure.parts)


def _home(test: PurePosixPath) -> PurePosixPath:
    """The folder that a test belongs to: for a test in a folder of tests, the one above."""
    return test.parent.parent if test.parent.name in _TEST_FOLDERS else test.parent


def named_like(path: str) -> str:
    """The name that a source and its tests share: `Menu` of `src/Menu.test.tsx` and `src/Menu.tsx`."""
    return _stem(PurePosixPath(path))


def _stem(path: PurePosixPath) -> str:
    """`Menu` of `Menu.tsx`, `Menu.test.tsx`, `Menu.test.events.ts` and `Menu-test.js`."""
    return _TEST_WORD.sub("", path.stem)


def _test_of(path: str, there: Collection[str]) -> str:
    """`__snapshots__/X.test.tsx.snap` belongs to `X.test.tsx` next to its folder, and `__snapshots__/X.test.snap.js` to
    the file of these that is `X.test.js`, or has another extension."""
    pure = PurePosixPath(path)
    folder = pure.parent.parent if pure.parent.name == "__snapshots__" else pure.parent
    if module := _MODULE.search(path):
        named = [str(folder / f"{pure.name.removesuffix(module['end'])}{end}") for end in _ENDS]
        return next((test for test in named if test in there), named[0])
    return str(folder / pure.stem) if pure.suffix == ".snap" else path
