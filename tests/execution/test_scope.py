"""The scope: which test files are run for an instance."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pipeline.execution.scope import files, is_test, named_like, related, touched


def patch(*paths: str) -> str:
    return "".join(f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..e69de29\n" for path in paths)


@pytest.mark.rule("scope")
@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["src/Menu.test.tsx"], ["src/Menu.test.tsx"]),
        (["src/__tests__/Menu-test.js"], ["src/__tests__/Menu-test.js"]),
        (["src/__tests__/__snapshots__/Menu.test.tsx.snap"], ["src/__tests__/Menu.test.tsx"]),
        (["src/Menu.test.tsx.snap"], ["src/Menu.test.tsx"]),
        (["__snapshots__/a b.test.mjs.snap"], ["a b.test.mjs"]),
        (["src/Menu.test.tsx", "src/__snapshots__/Menu.test.tsx.snap"], ["src/Menu.test.tsx"]),
        (["b.test.ts", "a.test.ts"], ["a.test.ts", "b.test.ts"]),
        (["setupTests.js", "jest.config.js", "test/menu.js"], ["test/menu.js"]),
        (["test/fixture.json", "test/logo.png", "src/__snapshots__/page.html.snap", "test/README"], []),
        ([], []),
    ],
)
def test_the_files_that_a_test_patch_touches(paths: list[str], expected: list[str]) -> None:
    """A snapshot stands for its test; files without code (fixtures, images) cannot be run."""
    assert list(touched((), patch(*paths))) == expected


@pytest.mark.rule("scope")
@pytest.mark.parametrize(
    ("tree", "changed", "expected"),
    [
        ((), ["test/dom/__snapshots__/menu.test.snap.js"], ["test/dom/menu.test.js"]),
        (["test/dom/menu.test.ts"], ["test/dom/__snapshots__/menu.test.snap.js"], ["test/dom/menu.test.ts"]),
        ((), ["src/__snapshots__/a-test.snap.mjs", "src/a-test.tsx"], ["src/a-test.tsx"]),
        ((), ["test/menu.snap.js"], ["test/menu.snap.js"]),
    ],
)
def test_a_snapshot_module_selects_its_test(tree: Iterable[str], changed: list[str], expected: list[str]) -> None:
    """Web Test Runner's snapshots are code: they were run as pages, and their tests were not run."""
    assert list(touched(tree, patch(*changed))) == expected


@pytest.mark.parametrize(("file", "expected"), [("menu-test.js", True), ("__snapshots__/menu-test.snap.js", False)])
def test_a_snapshot_module_is_no_test(file: str, expected: bool) -> None:
    assert is_test(f"src/menu/__tests__/{file}") == expected


#: a suite whose tests are data; a script names the program that runs them, or its name marks it as a start file
DATA = (
    "package.json",
    "tests/run.js",
    "tests/coverage.js",
    "tests/alias-test.js",
    "tests/helper/runner.js",
    "tests/languages/sql/string.test",
    "test/index.js",
    "test/utility.js",
    "test/markup/index.js",
    "test/markup/sql/chars.txt",
    "test/detect/index.js",
    "test/fixtures/page.html",
    "src/__tests__/Menu-test.js",
    "src/__tests__/menus.json",
    "src/Tabs.test.js",
    "docs/menu.txt",
)
SCRIPTS = """{"scripts": {
  "test:all": "mocha tests/run.js && mocha ./tests/alias-test.js",
  "test:again": "mocha tests/coverage.js",
  "lint": "mocha tests/helper/runner.js"}}"""


@pytest.mark.rule("scope")
@pytest.mark.parametrize(
    ("changed", "manifest", "expected"),
    [
        (["tests/languages/sql/string.test"], SCRIPTS, ["tests/alias-test.js", "tests/coverage.js", "tests/run.js"]),
        (["tests/languages/sql/string.test"], None, ["tests/alias-test.js", "tests/run.js"]),
        (
            ["tests/languages/sql/new.test"],
            '{"scripts": []}',
            ["tests/alias-test.js", "tests/run.js"],
        ),
        (["test/markup/sql/chars.txt"], "broken", ["test/markup/index.js"]),
        (["test/markup/sql/chars.txt"], "[" * 100_000, ["test/markup/index.js"]),
        (["test/markup/sql/chars.txt", "test/detect/x/y.txt"], None, ["test/detect/index.js", "test/markup/index.js"]),
        (["test/fixtures/page.html"], None, ["test/index.js"]),
        (["src/__tests__/menus.json"], None, ["src/__tests__/Menu-test.js"]),
        (["src/__tests__/menus.json", "src/__tests__/Menu-test.js"], None, ["src/__tests__/Menu-test.js"]),
        (["src/__tests__/menus.json", "src/__tests__/New-test.js"], None, ["src/__tests__/New-test.js"]),
        (["test/__snapshots__/page.html.snap"], None, []),
        (["docs/menu.txt"], None, []),
        (["src/Menu/__tests__/menu.json"], None, []),
    ],
)
def test_data_select_the_program_that_reads_them(changed: list[str], manifest: str | None, expected: list[str]) -> None:
    """Some suites consist of data that one program reads; if a test changes in the same folder, that test stands for
    the data."""
    assert list(touched(DATA, patch(*changed), manifest)) == expected
    assert list(files("touched", DATA, "", patch(*changed), manifest)) == expected
    assert files("full", DATA, "", patch(*changed), manifest) == ()


COMPONENTS = (
    "src/Button/Button.js",
    "src/Button/__tests__/Button-test.js",
    "src/Button/__tests__/Button-kind-test.js",
    "src/Button/__tests__/__snapshots__/Button-test.js.snap",
    "src/Button/stories/Simple.js",
    "src/Menu/Menu.tsx",
    "src/Menu/Menu.test.tsx",
    "src/index.test.ts",
    "src/themes/base.js",
    "test/Menu/Menu-test.js",
    "root.test.js",
)
BUTTON = {"src/Button/__tests__/Button-test.js", "src/Button/__tests__/Button-kind-test.js"}
HOOKS = ("src/hooks/useId.ts", "src/hooks/useField.ts", "src/hooks/__tests__/useId.test.ts")
#: tests in a tree that mirrors the folders of the sources, as Jest runs it
APART = ("packages/react/__tests__/src/Loader/index.js", "packages/react/__tests__/src/Menu/index.js")
QUALIFIED = ("src/Drawer.ts", "src/Drawer.test.floating-components.ts", "src/Menu.spec.browser.ts", "src/Tabs.test.ts")
PACKAGE = ("packages/dialog/src/dialog.test.tsx", "packages/dialog/src/focus.test.tsx", "packages/dialog/src/utils.ts")


@pytest.mark.rule("scope")
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("src/Button/Button.js", BUTTON),
        ("src/Button/parts/Icon.js", BUTTON),
        ("src/Menu/Menu.tsx", {"src/Menu/Menu.test.tsx", "test/Menu/Menu-test.js"}),
        ("src/themes/base.js", set()),
        ("src/index.ts", {"src/index.test.ts"}),
        ("src/hooks/useId.ts", {"src/hooks/__tests__/useId.test.ts"}),
        ("src/hooks/useField.ts", set()),
        ("packages/dialog/src/utils.ts", {*PACKAGE[:2]}),
        ("src/a/b/c/deep.js", set()),
        ("packages/react/src/Loader/index.tsx", {APART[0]}),
        ("top.js", set()),
        ("src/Drawer.ts", {QUALIFIED[1]}),
        ("src/Button/stories/Simple.js", set()),
        ("src/Button/Button.stories.tsx", set()),
        ("src/Menu/Menu.test.tsx", set()),
        ("src/Menu/README.md", set()),
        ("src/Menu/package.json", set()),
    ],
)
def test_the_tests_that_are_related_to_a_changed_source(changed: str, expected: set[str]) -> None:
    """Those of its component; if a folder belongs to no component, those with a similar name."""
    assert related((*COMPONENTS, *HOOKS, *QUALIFIED, *PACKAGE, *APART), [changed]) == expected


@pytest.mark.rule("scope")
@pytest.mark.parametrize(
    ("path", "name"),
    [
        (QUALIFIED[1], "Drawer"),
        (QUALIFIED[2], "Menu"),
        ("src/speed-test.service.ts", ""),
        ("src/a.test.helpers.ts", ""),
    ],
)
def test_what_follows_the_word_test_may_tell_kinds_apart(path: str, name: str) -> None:
    """Such tests were not run with the sources that they test, and no base without them was found to be sick."""
    assert is_test(path) is bool(name)
    assert not name or named_like(path) == name


@pytest.mark.rule("scope")
def test_the_scopes() -> None:
    fix, tests = patch("src/Menu/Menu.tsx"), patch("src/Tabs/Tabs.test.tsx")
    wanted = ("src/Menu/Menu.test.tsx", "src/Tabs/Tabs.test.tsx", "test/Menu/Menu-test.js")
    assert files("touched", COMPONENTS, fix, tests) == wanted
    assert files("full", COMPONENTS, fix, tests) == ()
