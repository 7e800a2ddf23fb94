"""Where work runs: side by side, handed over as it completes."""

from __future__ import annotations

import threading
import time

import pytest

from pipeline.core.engine import each


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_item_is_worked_on_once(jobs: int) -> None:
    assert sorted(each(range(20), lambda number: number * 2, jobs=jobs)) == list(range(0, 40, 2))
    assert list(each([], lambda item: item, jobs=jobs)) == []


def test_a_result_is_handed_over_before_the_others_are_done() -> None:
    """Its caller writes it at once: an interrupted batch loses only what was under way."""
    written = threading.Event()

    def work(name: str) -> str:
        if name == "slow":
            assert written.wait(30)
        return name

    results = each(["slow", "fast"], work, jobs=2)
    assert next(results) == "fast"
    written.set()
    assert list(results) == ["slow"]


def test_jobs_run_side_by_side() -> None:
    meeting = threading.Barrier(2, timeout=30)
    assert len(list(each([1, 2], lambda _: meeting.wait(), jobs=2))) == 2


def test_what_work_raises_ends_the_batch() -> None:
    """Work records its own failures; whatever it raises all the same is a bug that must be seen."""
    begun = []

    def work(number: int) -> int:
        begun.append(number)
        time.sleep(0.02)
        return 1 // number

    with pytest.raises(ZeroDivisionError):
        list(each(range(200), work, jobs=1))
    assert len(begun) < 200
