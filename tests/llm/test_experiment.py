"""Which experiment pays for a request."""

from __future__ import annotations

from dataclasses import replace

from pipeline.core.store import digest
from pipeline.llm.experiment import Experiment

REPAIR = Experiment("o/r", "m", "agent", "settings")


def test_old_costs_stay_with_their_experiment() -> None:
    """The ledger of a paid run is found again: tracks, which came later, do not change whose costs these are."""
    assert REPAIR.id == digest("o/r", "m", "agent", "settings")


def test_a_track_is_a_separate_experiment() -> None:
    assert replace(REPAIR, track="pages").id != REPAIR.id
