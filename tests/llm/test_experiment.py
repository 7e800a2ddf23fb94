"""Which experiment pays for a request."""

from __future__ import annotations

from dataclasses import replace

from pipeline.core.store import digest
from pipeline.llm.experiment import Experiment

REPAIR = Experiment("o/r", "m", "agent", "settings")


def test_old_money_stays_with_its_experiment() -> None:
    """The ledger of a paid run is found again: tracks, which came later, do not change whose costs these are."""
    assert REPAIR.id == digest("o/r", "m", "agent", "settings")


def test_a_track_is_an_experiment_of_its_own() -> None:
    assert replace(REPAIR, track="pages").id != REPAIR.id
