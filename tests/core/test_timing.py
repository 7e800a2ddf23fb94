"""Where a unit spends its time."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from pipeline.core.timing import KINDS, Clock, timed


def test_a_clock_measures_only_its_own_thread() -> None:
    elsewhere = threading.Thread(target=lambda: spend("tests"))
    with Clock() as clock:
        elsewhere.start()
        elsewhere.join()
        with suppress(ZeroDivisionError):
            spend("install", fail=True)
        assert clock.seconds["other"] < 30, "it can be read meanwhile"
    spend("tests")
    assert tuple(clock.seconds) == KINDS
    assert clock.seconds["tests"] == 0
    assert clock.seconds["install"] >= 0.05 and clock.seconds["other"] >= 0


def spend(kind: str, fail: bool = False) -> None:
    with timed(kind):
        time.sleep(0.06)
        assert not fail or 1 / 0
