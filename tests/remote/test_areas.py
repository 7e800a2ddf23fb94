"""Which files travel between data directories."""

from __future__ import annotations

import pytest
from factories import REPO

from pipeline.core.errors import UserError
from pipeline.remote.areas import filters, travels


@pytest.mark.parametrize(
    ("path", "does"),
    [
        ("02_dataset/acme__ui.jsonl", True),
        ("subsets/lite.txt", True),
        ("subsets/lite-v2.txt", True),
        ("05_analysis/report.html", False),
        ("01_raw/acme__ui/clone", False),
        ("subsets/.lite.txt.abcdefgh", False),
        ("archive/lite.txt", False),
    ],
)
def test_what_others_are_made_of_travels(path: str, does: bool) -> None:
    assert travels(path) is does


@pytest.mark.parametrize("stages", [(), ("predict",)])
def test_subsets_travel_with_every_stage(stages: tuple[str, ...]) -> None:
    """A campaign on a server did not find its subset."""
    assert "--include=/subsets/***" in filters(stages, [REPO])


@pytest.mark.rule("bad-input")
def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(UserError, match="unknown stage 'guess'"):
        filters(["guess"])
