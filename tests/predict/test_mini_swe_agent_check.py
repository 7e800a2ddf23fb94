"""The check of mini-swe-agent's settings, before any request."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.core.shipped import ROOT
from pipeline.predict.agents import load_agent
from pipeline.predict.host import checked

OWN = (ROOT / "vendors" / "mini-swe-agent" / "settings.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("steps = 100", "step = 50", "no setting 'step'"),
        ("steps = 100", "", "'steps' is missing"),
        ("steps = 100", 'steps = "100"', "wrong type"),
        ("steps = 100", "steps = 0", "not above 0"),
    ],
)
def test_unusable_settings_are_refused_before_any_request(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    """Each instance failed with a KeyError, which was booked as the agent's failure."""
    path = tmp_path / "mine.toml"
    path.write_text(OWN, encoding="utf-8")
    assert checked(load_agent("mini-swe-agent", path)).check
    path.write_text(OWN.replace(before, after), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        checked(load_agent("mini-swe-agent", path))
