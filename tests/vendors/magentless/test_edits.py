"""Search/replace edits as models write them."""

from __future__ import annotations

import pytest
from magentless.edits import Edit, parse_edits

BLOCK = "### src/a.tsx\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"
EDIT = Edit("src/a.tsx", ("old",), ("new",))


@pytest.mark.trap("fence-language")
@pytest.mark.parametrize("language", ["", "tsx", "jsx", "ts", "typescript", "diff", "css"])
def test_the_language_of_the_fence_plays_no_role(language):
    """MagentLess takes edits from fences of one configured language: `tsx` gives none."""
    assert parse_edits(f"Add a label.\n\n```{language}\n{BLOCK}```\nDone.") == [EDIT]


def test_an_edit_needs_no_fence():
    assert parse_edits(BLOCK) == [EDIT]


@pytest.mark.parametrize(
    "line", ["### `src/a.tsx`", "## **src/a.tsx**", "### File: src/a.tsx", "### src/a.tsx (new)", "### 1. src/a.tsx:"]
)
def test_forms_of_the_path_line(line):
    assert parse_edits(BLOCK.replace("### src/a.tsx", line)) == [EDIT]


def test_a_path_holds_until_the_next():
    again = BLOCK.replace("### src/a.tsx\n", "### Now add the other b\n").replace("new", "newer")
    paths = [edit.path for edit in parse_edits(BLOCK + again + BLOCK.replace("a.tsx", "b.css"))]
    assert paths == ["src/a.tsx", "src/a.tsx", "src/b.css"]


@pytest.mark.trap("deletion-and-new-file")
def test_a_deletion_and_a_new_file_are_edits():
    """In MagentLess empty intervals crash, a pure deletion never matches and new files are impossible."""
    reply = BLOCK.replace("new\n", "") + BLOCK.replace("old\n", "")
    assert parse_edits(reply) == [Edit("src/a.tsx", ("old",), ()), Edit("src/a.tsx", (), ("new",))]


@pytest.mark.parametrize("end", ["=======", "=======\nnew\n>>>>>>>", "old"])
def test_a_block_cut_short_is_no_edit(end):
    assert parse_edits(f"### a.ts\n<<<<<<< SEARCH\nold\n{end}") == []


def test_an_edit_that_changes_nothing_is_none():
    assert parse_edits(BLOCK.replace("new", "old")) == []


def test_windows_line_ends_in_the_reply():
    assert parse_edits(BLOCK.replace("\n", "\r\n")) == [EDIT]


def test_without_a_path_line_the_path_is_empty():
    assert parse_edits(BLOCK.partition("\n")[2])[0].path == ""
