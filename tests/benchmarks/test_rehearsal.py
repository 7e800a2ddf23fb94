"""The model of the rehearsal: its edits are what the gold patch does, in the form that magentless reads."""

from __future__ import annotations

import pytest
from magentless.edits import parse_edits
from magentless.matching import apply_edit

from benchmarks.knowing import Change, answer

ALIKE = "".join(f"<li>\n{'  <b/>' if place == 2 else ''}\n</li>\n" for place in range(4))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        (ALIKE, ALIKE.replace("</li>", "</li>\n<hr>", 1)),
        (ALIKE, ALIKE + "<li>\n\n</li>\n"),
        (ALIKE, ALIKE.removesuffix("<li>\n\n</li>\n")),
        ("a\nb\n", "new\na\nb\n"),
        ("a\nb", "a\nc"),
        ("a\nb\n", ""),
    ],
)
def test_an_edit_makes_the_file_after_of_the_file_before(before: str, after: str) -> None:
    (edit,) = parse_edits(Change("src/a.tsx", before, after).edit)
    assert apply_edit(before, edit)[:2] == (after, "exact")


def test_a_new_file_is_an_edit_and_no_place() -> None:
    changes = [Change("src/new.tsx", None, "a\n"), Change("src/a.tsx", "a\nb\nc\n", "a\nB\nc\n")]
    assert [edit.makes_file for edit in parse_edits(answer("repair", changes))] == [True, False]
    assert answer("files", changes) == answer("elements", changes) == "src/a.tsx"
    assert (answer("lines", changes), answer("folders", changes)) == ("src/a.tsx\nline: 2-2", "")
