"""Search/replace edits as models write them."""

from __future__ import annotations

import pytest
from magentless.causes import Ended
from magentless.edits import EXAMPLE, Edit, parse_edits
from magentless.paths import path_of
from magentless.prompting import template

BLOCK = "### src/a.tsx\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"
EDIT = Edit("src/a.tsx", ("old",), ("new",))


@pytest.mark.trap("fence-language")
@pytest.mark.parametrize("language", ["", "tsx", "jsx", "ts", "typescript", "diff", "css"])
def test_the_language_of_the_fence_does_not_matter(language):
    """MagentLess takes edits from fences of one configured language: `tsx` gives none."""
    assert parse_edits(f"Add a label.\n\n```{language}\n{BLOCK}```\nDone.") == [EDIT]


def test_an_edit_needs_no_fence():
    assert parse_edits(BLOCK) == [EDIT]


@pytest.mark.parametrize(
    "line",
    [
        *("### `src/a.tsx`", "## **src/a.tsx**", "### File: src/a.tsx", "### src/a.tsx (new)", "### 1. src/a.tsx:"),
        *("### src/a.tsx:12", "### `src/a.tsx:12-30`", "### src/a.tsx:12:5", "### src/a.tsx (lines 3-5)"),
    ],
)
def test_forms_of_the_path_line(line):
    assert parse_edits(BLOCK.replace("### src/a.tsx", line)) == [EDIT]


@pytest.mark.parametrize(
    "line",
    [
        *("### File 1: `src/a.tsx`", "File path: `src/a.tsx`", "**File 2:** src/a.tsx", "In `src/a.tsx`:"),
        *("Update src/a.tsx:", "**Changes in `src/a.tsx`:**", "Edit **src/a.tsx**"),
    ],
)
def test_forms_of_a_label_of_the_path(line):
    assert parse_edits(BLOCK.replace("### src/a.tsx", line)) == [EDIT]


@pytest.mark.parametrize("path", ["`src/a.tsx`", "**src/a.tsx**", '"./src/a.tsx"', "**`src/a.tsx`**:"])
def test_the_path_after_search_may_be_quoted_or_bold(path):
    """The marks were taken for a part of the path, which then named no file."""
    assert parse_edits(BLOCK.replace("### src/a.tsx\n", "").replace("SEARCH", f"SEARCH {path}")) == [EDIT]


def test_a_file_name_in_a_sentence_does_not_replace_the_path():
    assert parse_edits(BLOCK.replace("<<<<<<< SEARCH", "In a.tsx:\n<<<<<<< SEARCH")) == [EDIT]


@pytest.mark.parametrize(
    "heading",
    [
        *("### 1. Update the button", "#### 2) Add a label", "### 1.Update", "### Explanation...", "## and/or"),
        *("### v1.2 of the API", "### 1.2 Labels", "### Light/dark themes", "### e.g. a label"),
    ],
)
def test_a_heading_of_a_step_is_not_a_path(heading):
    assert path_of(heading) == ""
    assert parse_edits(BLOCK.replace("<<<<<<< SEARCH", f"{heading}\n<<<<<<< SEARCH")) == [EDIT]


def test_a_path_holds_until_the_next():
    again = BLOCK.replace("### src/a.tsx\n", "### Now add the other b\n").replace("new", "newer")
    paths = [edit.path for edit in parse_edits(BLOCK + again + BLOCK.replace("a.tsx", "b.css"))]
    assert paths == ["src/a.tsx", "src/a.tsx", "src/b.css"]


@pytest.mark.trap("deletion-and-new-file")
def test_a_deletion_and_a_new_file_are_edits():
    """In MagentLess empty intervals crash, a pure deletion never matches and new files are impossible."""
    reply = BLOCK.replace("new\n", "") + BLOCK.replace("old\n", "")
    assert parse_edits(reply) == [Edit("src/a.tsx", ("old",), ()), Edit("src/a.tsx", (), ("new",))]


@pytest.mark.parametrize(
    "end", ["=======", "=======\nnew\n>>>>>", "old", "new\n>>>>>>> REPLACE", f"=======\nnew\n{BLOCK}"]
)
def test_a_block_that_is_not_closed_ends_the_sample(end):
    """The other blocks alone would be only a part of the intended change."""
    with pytest.raises(Ended, match="NO_EDITS.*a.ts.*not complete"):
        parse_edits(f"{BLOCK}### a.ts\n<<<<<<< SEARCH\nold\n{end}")


def test_an_edit_without_a_change_is_ignored():
    assert parse_edits(BLOCK.replace("new", "old")) == []


def test_windows_line_ends_in_the_reply():
    assert parse_edits(BLOCK.replace("\n", "\r\n")) == [EDIT]


def test_without_a_path_line_the_path_is_empty():
    assert parse_edits(BLOCK.partition("\n")[2])[0].path == ""


@pytest.mark.parametrize(
    "reply",
    [
        "**src/a.tsx**\n```tsx\n{}\n```",
        "src/a.tsx\n```tsx\n{}\n```",
        "`src/a.tsx`:\n{}",
        "1. `./src/a.tsx`\n{}",
        "File: src/a.tsx\n{}",
        "**File:** `src/a.tsx`\n{}",
        "In file src/a.tsx:\n{}",
        "### ./src/a.tsx\n{}",
        "```tsx\n// src/a.tsx\n{}\n```",
        "```css\n/* src/a.tsx */\n{}\n```",
        "<!-- src/a.tsx -->\n{}",
        "```tsx src/a.tsx\n{}\n```",
        "```tsx:src/a.tsx\n{}\n```",
        '```tsx title="src/a.tsx"\n{}\n```',
        "### [src/a.tsx](./src/a.tsx)\n{}",
        "[`src/a.tsx`](src/a.tsx):\n{}",
        "<file>src/a.tsx</file>\n{}",
        "<Path> ./src/a.tsx </Path>\n{}",
    ],
)
def test_a_path_is_read_in_every_common_form(reply):
    assert parse_edits(reply.format(BLOCK.partition("\n")[2])) == [EDIT]


@pytest.mark.parametrize(
    ("search", "divider", "replace"),
    [
        ("<<<<<< SEARCH", "======", ">>>>>> REPLACE"),
        ("<<<<<<<< SEARCH", "========", ">>>>>>>> REPLACE"),
        ("<<<<<<<", "=======", ">>>>>>>"),
        ("<<<<<<< SEARCH", "=======", ">>>>>>>"),
        ("<<<<<<<SEARCH", "=======", ">>>>>>>REPLACE"),
        ("<<<<<<< SEARCH src/a.tsx", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH: ./src/a.tsx", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<< ORIGINAL", "=======", ">>>>>>> UPDATED"),
        ("<<<<<<< search", "=======", ">>>>>>> replace"),
        ("<<<<<<< HEAD", "=======", ">>>>>>> feature/menu-label"),
        ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACED"),
        ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE```"),
        ("<<<<<<< SEARCH src/a.tsx:12", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH BLOCK", "=======", ">>>>>>> REPLACE BLOCK"),
        ("<<<<<<< SEARCH in src/a.tsx", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH (src/a.tsx)", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH path=src/a.tsx", "=======", ">>>>>>> REPLACE"),
        ('<<<<<<< SEARCH file="src/a.tsx"', "=======", ">>>>>>> REPLACE"),
        (r"<<<<<<< SEARCH src\a.tsx", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH (lines 3-4)", "=======", ">>>>>>> REPLACE"),
        ("**<<<<<<< SEARCH**", "**=======**", "**>>>>>>> REPLACE**"),
        ("<<<<< SEARCH", "=======", ">>>>> REPLACE"),
        ("<<<<<<< SEARCH", "=====", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH", "======= REPLACE", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE src/a.tsx"),
        ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE:"),
        ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE ```"),
    ],
)
def test_marks_as_models_write_them(search, divider, replace):
    head = "" if "a.tsx" in search else "### src/a.tsx\n"
    assert parse_edits(f"{head}{search}\nold\n{divider}\nnew\n{replace}\n") == [EDIT]


@pytest.mark.parametrize(
    ("search", "new"),
    [("Title\n=====", "Name\n===="), ("old", "Title\n====="), ("Title\n==========", "Name"), ("Title\n======", "Name")],
)
def test_a_line_below_a_title_does_not_divide_a_block(search, new):
    edit = Edit("src/a.tsx", tuple(search.splitlines()), tuple(new.splitlines()))
    assert parse_edits(BLOCK.replace("old", search).replace("new", new)) == [edit]


def test_the_path_may_be_after_the_last_mark_alone():
    assert parse_edits(BLOCK.partition("\n")[2].replace("REPLACE", "REPLACE src/a.tsx")) == [EDIT]


@pytest.mark.parametrize(
    "line",
    [
        *("<<<<<<< SEARCH the label", "Block 2: <<<<<<< SEARCH", "<<<<<<< ours", "<<< SEARCH", "// <<<<<<< SEARCH"),
        *("- <<<<<<< SEARCH", "> <<<<< search", "<<<<<<< THE SEARCH", "`<<<<<<< SEARCH for it`"),
    ],
)
def test_a_mark_that_is_not_understood_ends_the_sample(line):
    """Its block was left out, and the others, a part of the change, took part in the vote."""
    with pytest.raises(Ended, match="NO_EDITS.*not understood"):
        parse_edits(BLOCK + BLOCK.replace("<<<<<<< SEARCH", line))


@pytest.mark.parametrize("line", [">>>>>>> REPLACE", ">>>>>>> REPLACE with this", ">>>> the REPLACE"])
def test_a_mark_without_a_block_ends_the_sample(line):
    with pytest.raises(Ended, match="NO_EDITS.*not understood"):
        parse_edits(f"{BLOCK}{line}\n")


def test_a_last_mark_with_other_text_ends_the_sample():
    with pytest.raises(Ended, match="NO_EDITS.*not complete"):
        parse_edits(BLOCK.replace("REPLACE", "REPLACE the label") + BLOCK)


def test_a_sentence_about_marks_is_no_mark():
    assert parse_edits(f"I use `<<<<<<< SEARCH` and `>>>>>>> REPLACE`. SEARCH and REPLACE:\n{BLOCK}") == [EDIT]


@pytest.mark.parametrize("line", ["let a: B<C<D<E<F>>>> = s.replace(b);", "a <<<< searched", "=== REPLACE"])
def test_code_that_has_signs_or_words_of_marks_is_no_mark(line):
    assert parse_edits(BLOCK.replace("new", line)) == [Edit("src/a.tsx", ("old",), (line,))]


def test_fences_and_window_headings_inside_a_block_are_ignored():
    block = BLOCK.replace("old", "```tsx\n[lines 1-20 of 80]\nold\n```").replace("new", "```\nnew\n```")
    assert parse_edits(block) == [EDIT]


def test_a_repeated_example_of_the_prompt_is_ignored():
    """A small model repeats it before its own edits, or instead of them."""
    example = BLOCK.replace("src/a.tsx", EXAMPLE)
    assert parse_edits(example + BLOCK) == [EDIT]
    assert f"### {EXAMPLE}\n" in template("repair").template


@pytest.mark.parametrize(
    ("search", "replace", "expected"),
    [
        (("    5 |   <a>", "    6 | </b>"), ("    5 |   <i>", "  <u>"), (("  <a>", "</b>"), ("  <i>", "  <u>"))),
        (("5: a", "", "6: b"), ("5: c",), (("a", "", "b"), ("c",))),
        (
            ("5 | a",),
            ("  tabIndex={open ? 0 : -1}", "  level: 1 | 2"),
            (("a",), ("  tabIndex={open ? 0 : -1}", "  level: 1 | 2")),
        ),
        (("5 | a",), ("  2: 'two',",), (("a",), ("  2: 'two',",))),
        (("5) a", "6)   b"), ("5) c",), (("a", "  b"), ("c",))),
        (("12. a", "13.   b"), ("12. c",), (("a", "  b"), ("c",))),
        (("12\ta", "13\t  b"), ("12\tc",), (("a", "  b"), ("c",))),
        (("L12: a", "L13:   b"), ("L12: c",), (("a", "  b"), ("c",))),
        (("", "5: a", "6:", "7: b"), (), (("", "a", "", "b"), ())),
        (("5: a", "", "7: b"), (), (("a", "", "b"), ())),
        (("5: a", "7: b"), (), None),
        (("5. a", "", "", "7. b"), (), None),
        (("1.5 a",), (), None),
        (("12 a",), (), None),
        (("5 | a", "6: b"), (), None),
        (("5 | a", "b"), (), None),
        (("6 | a", "5 | b"), (), None),
        (("a",), (), None),
        (("9" * 5000 + " | a",), (), None),
    ],
)
def test_copied_line_numbers_can_be_left_out(search, replace, expected):
    found = Edit("a", search, replace).unnumbered
    assert (found and (found.search, found.replace)) == expected
