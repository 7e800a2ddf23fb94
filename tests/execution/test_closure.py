"""From the files that a runner was seen to read to the files that configure it, under any name, without the source
under test."""

from __future__ import annotations

import pytest

from pipeline.ecosystems.protection import protection
from pipeline.execution.closure import Seen, closure, targets

TEST = "src/Menu.test.js"


def closed(
    seen: dict[str, object],
    *written: str,
    sources: tuple[str, ...] = ("src/Menu.js",),
    packages: dict[str, str] | None = None,
) -> tuple[str, ...]:
    """The protected files. `written` lists imports as `from > to`; the test imports what it tests."""
    edges = [tuple(one.split(" > ")) for one in (f"{TEST} > src/Menu.js", *written)]
    given = Seen(**{name: frozenset(paths) for name, paths in seen.items()})
    return closure(given, edges, tests={TEST}, sources=set(sources), packages=packages or {})


@pytest.mark.trap("guessed-configuration")
def test_files_that_the_runner_names_and_loads_are_closed_over_imports() -> None:
    seen = {"named": ["tools/odd.js"], "loaded": ["tools/turn.js"], "edges": [("tools/turn.js", "tools/how.js")]}
    found = closed(seen, "tools/odd.js > tools/words.js", "tools/words.js > tools/more.js")
    assert found == ("tools/how.js", "tools/more.js", "tools/odd.js", "tools/turn.js", "tools/words.js")


def test_paths_in_a_text_are_ignored_once_loaded_files_are_known() -> None:
    """A path in a configuration may also be an entry point of the library, so it adds nothing once the loaded files are
    known."""
    seen = {"loaded": ["tools/unit.js"], "edges": [("tools/unit.js", "tools/more.js")], "named": ["tools/odd.mjs"]}
    written = ("tools/unit.js > lib/entry.js", "tools/more.js > lib/other.js", "tools/odd.mjs > tools/words.mjs")
    assert closed(seen, *written) == ("tools/more.js", "tools/odd.mjs", "tools/unit.js", "tools/words.mjs")


def test_sources_mentioned_in_a_configuration_are_not_protected() -> None:
    """A list of files for a browser names sources too: those beside the files that gold changes."""
    assert closed({"mentioned": ["tools/main.js", "src/theme.js", "src/Menu.js"]}) == ("tools/main.js",)


def test_files_protected_by_name_are_not_listed() -> None:
    seen = {"named": ["jest.config.js", ".babelrc", "tools/odd.js"], "loaded": ["package.json", "test/a.test.js"]}
    assert closed(seen) == ("tools/odd.js",)


def test_sources_that_a_set_up_file_imports_are_not_protected() -> None:
    """Unprotected: sources that the tests reach, sources that gold changes, and whatever such a source imports."""
    written = (
        "tools/odd.js > src/Menu.js", "tools/odd.js > src/label.js", "tools/odd.js > src/Alert.js",
        "src/Menu.js > src/label.js", "src/Alert.js > src/icon.js",
    )  # fmt: skip
    assert closed({"named": ["tools/odd.js"]}, *written, sources=("src/Alert.js",)) == ("tools/odd.js",)


def test_a_set_up_file_that_imports_the_whole_library() -> None:
    """Its index lies above the code under test, so everything that it imports belongs to the library, tested here or
    not."""
    written = ("tools/odd.js > src/index.js", "src/index.js > src/Menu.js", "src/index.js > src/theme.js")
    assert closed({"named": ["tools/odd.js"]}, *written, "src/theme.js > src/color.js") == ("tools/odd.js",)


@pytest.mark.trap("guessed-configuration")
def test_a_helper_of_a_set_up_file_that_imports_a_source() -> None:
    """The helper is no index: what it imports does not lie below it."""
    written = ("tools/odd.js > tools/words.js", "tools/words.js > src/Menu.js", "tools/words.js > src/label.js")
    assert closed({"named": ["tools/odd.js"]}, *written) == ("src/label.js", "tools/odd.js", "tools/words.js")


def test_a_set_up_file_that_tests_import_is_still_one() -> None:
    seen = {"named": ["tools/odd.js"], "loaded": ["tools/turn.js"]}
    assert closed(seen, f"{TEST} > tools/odd.js", f"{TEST} > tools/turn.js") == ("tools/odd.js",)


def test_a_set_up_that_gold_changes_is_a_source() -> None:
    assert closed({"named": ["src/polyfill.js", "tools/odd.js"]}, sources=("src/polyfill.js",)) == ("tools/odd.js",)


@pytest.mark.trap("guessed-configuration")
def test_a_stub_is_configuration_and_an_alias_is_not() -> None:
    """In both cases the runner replaces a name by a file. One replaces a style and is a stub; the other is a
    package."""
    mapped = [(r"\.css$", "tools/style.js"), ("^@org/ui$", "packages/ui/src/index.js"), ("^lib$", "src/index.js")]
    edges = [("src/Menu.js", "tools/style.js"), (TEST, "packages/ui/src/index.js"), (TEST, "src/index.js")]
    found = closed({"mapped": mapped, "edges": edges}, packages={"packages/ui": "@org/ui", "": "lib"})
    assert found == ("tools/style.js",)


@pytest.mark.parametrize("pattern", ["^@theme$", "@org/theme", r"^theme\.js$"])
def test_a_single_name_mapped_to_a_file_beside_the_sources_is_an_alias(pattern: str) -> None:
    """If the file lies elsewhere, or if the pattern matches several names, it is a stub."""
    assert closed({"mapped": [(pattern, "src/theme.js"), (pattern, "tools/theme.js")]}) == ("tools/theme.js",)
    assert closed({"mapped": [(r"\.css$", "src/style.js")]}) == ("src/style.js",)


def test_a_source_that_is_handed_out_by_another_name() -> None:
    """It is a source if other sources also import it by path, or if it lies above the code under test."""
    mapped = [("theme", "src/theme.js"), ("all", "src/index.js")]
    assert closed({"mapped": mapped}, "src/Menu.js > src/theme.js", "src/index.js > src/Menu.js") == ()


def test_a_pattern_that_is_invalid_in_python_is_compared_literally() -> None:
    mapped = [("@org/(?<ui", "tools/a.js"), ("lib(", "tools/b.js")]
    assert closed({"mapped": mapped}, packages={"": "lib("}) == ("tools/a.js",)


def test_a_file_beside_a_source_of_the_same_name_is_left_out() -> None:
    """A file that would be loaded in its place is a source, and protecting the first would protect that source too."""
    assert closed({"loaded": ["src/Menu.json", "tools/turn.js"]}) == ("tools/turn.js",)


@pytest.mark.parametrize(
    ("asked", "found"),
    [("./a", ["x/a.ts"]), ("./a.js", ["x/a.ts"]), ("..", ["index.js"]), ("./b", ["x/b/index.tsx"]), ("../../y", [])],
)
def test_an_import_path_has_its_possible_files(asked: str, found: list[str]) -> None:
    assert targets(asked, "x", {"x/a.ts", "x/b/index.tsx", "index.js", "y.js"}) == found


@pytest.mark.trap("guessed-configuration")
@pytest.mark.parametrize(
    "path",
    ["tools/turn.js", "tools/turn", "tools/turn.cjs", "tools/turn.json", "tools/turn/index.ts", "tools/", "house.js",
     "house/index.mjs", ".swc", "jest.config.js", "tools/deep/", "pkg/.env.test", "postcss.config.mjs",
     "jsconfig.json", "svelte.config.js", "site/next.config.mjs"],
)  # fmt: skip
def test_a_file_that_would_be_found_first_is_protected(path: str) -> None:
    """Protected as well: a file that would be found first, a folder of the same name, and a link that replaces its
    folder."""
    assert protection(["tools/turn.js", "house/index.js", ".swc", "tools/deep/a.yml"])(path)


@pytest.mark.parametrize("path", ["tools/turn.css", "tools/turning.js", "tools/turn/on.js", "src/", "tools", "a.swc"])
def test_other_neighboring_files_are_not_protected(path: str) -> None:
    assert not protection(["tools/turn.js", "house/index.js", ".swc", "tools/deep/a.yml"])(path)
