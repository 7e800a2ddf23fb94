"""An agent's replies: how far each came, and the shares that people see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analyze.conftest import add_metadata

from pipeline import analyze
from pipeline.analyze.reading.replied import replies
from pipeline.core.errors import UserError

FUNNEL = dict.fromkeys(("located", "shown", "edited", "matched", "applied", "parses", "selected"), 0)
PLACE = Path("metadata.json")


def reply(reached: str, cause: str | None = None, *ways: str) -> dict[str, Any]:
    return {"reached": reached, "cause": cause, "edits": [{"path": "a.ts", "match": way} for way in ways]}


def said(*samples: list[dict[str, Any]]) -> dict[str, Any]:
    """An agent's metadata for samples with these replies; the last one counted."""
    records = [{"number": number, **some[-1], "replies": some} for number, some in enumerate(samples)]
    return {"funnel": FUNNEL, "samples": records}


def test_a_reply_passed_the_stages_up_to_the_one_it_reached() -> None:
    samples = [
        [reply("shown", "CUT_ANSWER"), reply("parses", None, "exact", "new file")],
        [reply("edited", "SEARCH_MISMATCH", "exact")],
        [reply("applied", "INVALID_PATCH", "ignoring indentation")],
    ]
    assert list(replies(said(*samples), PLACE)) == [
        (0, 1, False, False, False, False, None, "CUT_ANSWER"),
        (0, 2, True, True, True, True, True, ""),
        (1, 1, True, False, False, False, None, "SEARCH_MISMATCH"),
        (2, 1, True, True, True, False, False, "INVALID_PATCH"),
    ]


def test_a_record_of_an_older_agent_has_one_reply_for_each_sample() -> None:
    older = said([reply("shown", "NO_EDITS")])
    del older["samples"][0]["replies"]
    assert list(replies(older, PLACE)) == [(0, 1, False, False, False, False, None, "NO_EDITS")]


@pytest.mark.parametrize("metadata", [{}, {"funnel": {"planned": 1}, "samples": [{}]}, {"funnel": FUNNEL}])
def test_metadata_without_replies_has_none(metadata: dict[str, Any]) -> None:
    assert list(replies(metadata, PLACE)) == []


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    "samples",
    [
        [{}],
        ["sample"],
        [{"number": 0, "reached": "nowhere"}],
        [{"number": "0", "reached": "edited"}],
        [{"number": 0, "reached": "edited", "cause": ["x"]}],
        3,
    ],
)
def test_samples_of_another_form_are_refused(samples: Any) -> None:
    with pytest.raises(UserError) as caught:
        list(replies({"funnel": FUNNEL, "samples": samples}, PLACE))
    assert (caught.value.path, caught.value.field) == (PLACE, "samples")


def test_the_table_has_the_shares_of_all_replies(store) -> None:
    add_metadata(store, "acme__ui-1", **said([reply("shown", "CUT_ANSWER"), reply("parses", None, "exact")]))
    add_metadata(store, "acme__ui-2", **said([reply("edited", "SEARCH_MISMATCH")], [reply("applied", "INVALID_PATCH")]))
    (row,) = analyze.tables(analyze.load(store))["replies"].to_dict("records")
    assert (row["model"], row["replies"]) == ("model-a", 4)
    shares = {name: value for name, value in row.items() if name.endswith("_pct")}
    assert shares == {
        "reply_edits_pct": 75,
        "reply_matches_pct": 50,
        "reply_applies_pct": 50,
        "reply_parses_pct": 25,
        "verbatim_pct": 50,
        "cut_pct": 25,
        "again_pct": 25,
    }
