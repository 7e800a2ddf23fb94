"""The leaderboard's tables: which submissions are compared, and which are listed below without a rank."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from pipeline.submission.bundle import Submission
from pipeline.submission.leaderboard import render

NAMES = ("acme__ui-1", "acme__ui-2")


def submission(model: str, outcomes: dict[str, int], **changes: Any) -> Submission:
    fields: dict[str, Any] = {"tool": "0", "made": "2026-01-02T03:04:05Z", "repo": "acme/ui", "agent": "magentless"}
    fields |= {"run": "r", "instances": NAMES, "cost_usd": None, "law": ("a",), "files": {}, "digest": "d" * 32}
    return Submission(**fields | {"model": model, "outcomes": outcomes} | changes)


def rows(page: str) -> dict[str, str]:
    """The rows of all tables in order: model -> the cells' text."""
    texts = [re.sub(r"<[^>]+>|\s+", " ", row) for row in re.findall(r"<tr[^>]*><th scope=\"row\">.*?</tr>", page, re.S)]
    return {text.split()[0]: text for text in texts}


@pytest.mark.rule("incomplete-is-marked")
def test_incomplete_submissions_and_drafts_have_no_rank_and_no_rate() -> None:
    """However much they resolve, they are listed below the others, by name."""
    late = submission("late", {"resolved": 1, "not_evaluated": 1}, draft=True)
    found = rows(
        render(
            [
                late,
                submission("early", {"resolved": 2}, draft=True),
                submission("older", {"resolved": 1, "not_evaluated": 1}),
                submission("weak", {"unresolved": 2}),
                submission("fair", {"resolved": 1, "unresolved": 1}),
            ]
        )
    )
    assert list(found) == ["fair", "weak", "early", "late", "older"]
    assert [name for name, text in found.items() if "%" in text] == ["fair", "weak"]
    assert [name for name, text in found.items() if " incomplete " in text] == ["late", "older"]
    assert " draft " in found["early"]
    assert render([late]).count('class="bar"') == 0


def test_a_reference_is_not_ranked() -> None:
    """The gold patches were ranked as the best model."""
    found = rows(render([submission("oracle", {"resolved": 2}, agent="oracle"), submission("weak", {"unresolved": 2})]))
    assert list(found) == ["weak", "oracle"]
    assert " reference " in found["oracle"] and "%" not in found["oracle"]


@pytest.mark.parametrize(("images", "differ"), [("two", True), ("one", False), ("", False)])
def test_a_table_says_that_images_differ(images: str, differ: bool) -> None:
    """Older bundles do not say what they ran in."""
    page = render([submission("a", {"resolved": 2}, images="one"), submission("b", {"resolved": 1}, images=images)])
    assert ("Not all ran in the same images" in page) is differ


def test_other_instances_have_their_own_table() -> None:
    fewer = submission("few", {"resolved": 1}, instances=NAMES[:1])
    assert render([submission("all", {"resolved": 2}), fewer]).count("<table") == 2


def test_no_level_of_headings_is_skipped() -> None:
    """axe-core: a table's heading after the page's title was one level too deep."""
    page = render([submission("all", {"resolved": 2})])
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))
