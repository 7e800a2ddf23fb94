"""Paths in the lines of replies."""

from __future__ import annotations

import pytest
from magentless.paths import meant, namesakes, path_of, read


@pytest.mark.parametrize(
    "path", ["src/404.tsx", ".storybook/preview.tsx", "../a.ts", "app/[id]/(b)/[...c].tsx", "_a.scss"]
)
def test_a_heading_is_any_path_of_a_source_file(path):
    assert path_of(f"### {path}") == path_of(f"## 1. **{path}**: the fix") == path


@pytest.mark.parametrize(
    "line",
    [
        *("**src/a.tsx** (lines 1-3)", "src/a.tsx (modified)", "### Modified: src/a.tsx", "### Edit 1: src/a.tsx"),
        *("For `src/a.tsx`:", "**1. src/a.tsx**", '<file path="src/a.tsx">', "{/* src/a.tsx */}", r"src\a.tsx"),
        *("===== src/a.tsx =====", "src/a.tsx:12-20", "`src/a.tsx:12`", "| src/a.tsx |", "## In src/a.tsx"),
        *("New file: src/a.tsx", "src/a.tsx lines 3-5", "file_path: src/a.tsx", "+++ src/a.tsx", "> src/a.tsx"),
        *("src/a.tsx#L12-L20", '```tsx title="src/a.tsx" {3}', "### Changes to `src/a.tsx`:"),
    ],
)
def test_forms_of_a_line_that_is_a_path(line):
    assert path_of(line) == "src/a.tsx"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("a.tsx", ""),
        ("`a.tsx`", "a.tsx"),
        ("The fix is in src/a.tsx", ""),
        ("e.g.", ""),
        ("React.useId", ""),
        ("src/app/[id]/page.tsx", "src/app/[id]/page.tsx"),
        ("app/[id]/(b)/[...c].tsx", "app/[id]/(b)/[...c].tsx"),
        ("packages/ui/src/a.test.tsx:", "packages/ui/src/a.test.tsx"),
        ("and/or", ""),
        ("```tsx", ""),
        ("In `a.tsx`:", ""),
        ("src/a.tsx.", ""),
        ("src/a.tsx has no label", ""),
        ("src/a.tsx (the button) needs a label", ""),
        ("src/a.tsx, src/b.tsx", ""),
        ("See src/a.tsx", ""),
        ("For example: src/a.tsx", ""),
        ("Add `src/a.tsx` to the imports", ""),
        ("File src/a.tsx stays", ""),
        ("### Update src/a.tsx and the tests", ""),
        ("for (const file in tree.files)", ""),
        ("for file in tree.files:", ""),
        ("path = this.path", ""),
        ('file = "src/a.tsx"', ""),
        ('name="user.email"', ""),
        ("name: 'user.email'", ""),
        ("import './a.css';", ""),
        ('"font.size": 9', ""),
    ],
)
def test_only_a_line_that_is_a_path_counts_as_one(line, path):
    assert path_of(line) == path


@pytest.mark.parametrize(
    ("line", "paths", "rest"),
    [
        ("src/A.tsx, `src/B.tsx` and src/C.tsx", ("src/A.tsx", "src/B.tsx", "src/C.tsx"), ""),
        ('["src/A.tsx","src/B.tsx"]', ("src/A.tsx", "src/B.tsx"), '"]'),
        ('{"files": ["src/A.tsx", "src/B.tsx"]}', ("src/A.tsx", "src/B.tsx"), '"]}'),
        ("src/A.tsx, which has the button", ("src/A.tsx",), ", which has the button"),
        ("For example, src/A.tsx", ("example",), ", src/A.tsx"),
        ("`src/A.tsx`.", ("src/A.tsx",), "`."),
        ("- src/tokens/", ("src/tokens",), ""),
        (r"src\\menu\\A.tsx", ("src/menu/A.tsx",), ""),
        (r"app/\[id\]/my\_page.tsx", ("app/[id]/my_page.tsx",), ""),
        ("...", (), "..."),
    ],
)
def test_a_line_is_read_as_its_paths_and_the_rest(line, paths, rest):
    assert (read(line).paths, read(line).rest) == (paths, rest)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["`", "-", "/*", "[", "1) ", "file 1 ", "<a ", "in: ", "src/a.tsx)", "src/a.tsx, "])
def test_a_repetitive_line_is_read_quickly(text):
    reading = read(text * 30_000 + "!")
    assert path_of(text * 30_000) == "" and reading.is_alone in (True, False)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/menu/Menu.tsx", "src/menu/Menu.tsx"),
        ("/src/menu/Menu.tsx", "src/menu/Menu.tsx"),
        ("a/src/menu/Menu.tsx", "src/menu/Menu.tsx"),
        ("Menu.tsx", "src/menu/Menu.tsx"),
        ("nu.tsx", ""),
        ("lib/Menu.tsx", ""),
        ("index.ts", ""),
        ("", ""),
    ],
)
def test_a_path_stands_for_the_only_one_that_it_ends_or_that_ends_it(path, expected):
    assert meant(path, ["src/menu/Menu.tsx", "src/index.ts", "lib/index.ts"]) == expected


def test_namesakes_have_the_same_file_name():
    known = ["a/x.ts", "b/x.ts", "y.ts"]
    assert namesakes("c/x.ts", known) == ["a/x.ts", "b/x.ts"]
    assert namesakes("a/x.ts", known) == ["a/x.ts"]
