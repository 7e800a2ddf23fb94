"""The model of the rehearsal: its edits are what the gold patch does, in the form that magentless reads."""

from __future__ import annotations

import pytest
from magentless.edits import parse_edits
from magentless.matching import apply_edit

from benchmarks.knowing import Change, Knowing, Known, answer
from pipeline.llm.provider import Refusal

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


def test_of_instances_with_the_same_issue_the_one_with_more_is_meant() -> None:
    """Several pull requests may be about one issue: a model that refuses would end the rehearsal."""
    changes = [[Change(f"src/{name}.tsx", "a\n", "b\n")] for name in ("one", "both", "again")]
    titles = (["Issue: first\n"], ["Issue: first\n", "Issue: second\n"], ["Issue: first\n"])
    model = Knowing([Known(*of) for of in zip(titles, changes, strict=True)])
    assert "src/one.tsx" in model.reply("Step: files\n\nIssue: first\n").text
    assert "src/both.tsx" in model.reply("Step: files\n\nIssue: first\nIssue: second\n").text
    with pytest.raises(Refusal, match="no instance"):
        model.reply("Step: files\n\nIssue: third\n")


@pytest.mark.parametrize(("skill", "edits"), [("knows", ["src/b.tsx"]), ("guesses", ["rehearsal-1.js"]), ("talks", [])])
def test_models_know_guess_and_talk(skill: str, edits: list[str]) -> None:
    known = [Known([f"Issue: {name}\n"], [Change(f"src/{name}.tsx", "a\n", "c\n")]) for name in "ab"]
    said = Knowing(known, skill).reply("Step: repair\n\nIssue: b\n").text
    assert [edit.path for edit in parse_edits(said)] == edits
