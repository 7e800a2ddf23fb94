"""Where work runs: side by side, handed over as it completes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from pipeline.core.work import Interrupts, Prepared, each, in_groups


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


# -- groups ----------------------------------------------------------------------------------------------------------
def wait(event: threading.Event) -> None:
    assert event.wait(30)


def test_the_others_of_a_group_wait_until_it_is_prepared_and_no_thread_does() -> None:
    """An install takes minutes: while it is made, other environments' instances are worked on."""
    ended, order = threading.Event(), []

    def work(name: str, prepared: Prepared) -> str:
        order.append(name)
        if name == "first":
            wait(ended)
            order.append("prepared")
            prepared()
        if name == "elsewhere":
            ended.set()
        return name

    groups = [["first", "second"], ["other", "elsewhere"]]
    assert sorted(in_groups(groups, work, jobs=2)) == ["elsewhere", "first", "other", "second"]
    assert order == ["first", "other", "elsewhere", "prepared", "second"]


def test_a_group_whose_first_does_not_say_so_is_prepared_at_its_end() -> None:
    assert list(in_groups([[1, 2, 3]], lambda number, _: number, jobs=2)) == [1, 2, 3]


def test_groups_are_prepared_side_by_side() -> None:
    meeting = threading.Barrier(2, timeout=30)
    assert len(list(in_groups([["a"], ["b"]], lambda *_: meeting.wait(), jobs=2))) == 2


def test_one_more_thread_prepares_ahead_and_works_no_more_at_a_time() -> None:
    """With one job the next environment is made while the tests of this one run; its tests come after them."""
    ahead, working = threading.Event(), []

    def work(name: str, prepared: Prepared) -> int:
        if name == "next":
            ahead.set()
        prepared()
        working.append(name)
        if name == "this":
            wait(ahead)
            time.sleep(0.1)
        at_once = len(working)
        working.remove(name)
        return at_once

    assert list(in_groups([["this"], ["next", "last"]], work, jobs=1, ahead=1)) == [1, 1, 1]


def test_no_more_groups_are_prepared_than_there_is_use_for() -> None:
    """An environment that is made long before its instances run takes disk, and may have gone before they do."""
    made = []

    def work(number: int, prepared: Prepared) -> int:
        if number not in made:
            made.append(number)
            prepared()
        time.sleep(0.01)
        return made[-1] - number

    assert max(in_groups([[number] * 3 for number in range(10)], work, jobs=1, ahead=1)) <= 2


# -- Ctrl-C ----------------------------------------------------------------------------------------------------------
def press(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def interrupted(work: Callable[[int], int], done: list[int], interrupts: Interrupts) -> None:
    with pytest.raises(KeyboardInterrupt):
        for one in each(range(100), work, jobs=2, interrupts=interrupts):
            done.append(one)


def test_the_first_interrupt_stops_new_work_and_keeps_what_is_under_way() -> None:
    said, begun, done = threading.Event(), [], []

    def work(number: int) -> int:
        begun.append(number)
        if number == 1:
            press()
        wait(said)
        return number

    before = signal.getsignal(signal.SIGINT)
    interrupted(work, done, Interrupts(first=said.set))
    assert sorted(done) == sorted(begun) == [0, 1]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_interrupt_stops_at_once() -> None:
    ended, done = threading.Event(), []

    def work(number: int) -> int:
        if number == 1:
            press()
        wait(ended)
        return number

    started = time.monotonic()
    interrupted(work, done, Interrupts(first=press, second=ended.set))
    assert done == [] and ended.is_set()
    assert time.monotonic() - started < 20


def test_a_request_to_end_stops_at_once() -> None:
    """Schedulers and service managers send it, and kill what is there some seconds later."""
    ended, done = threading.Event(), []

    def work(number: int) -> int:
        if number == 1:
            press(signal.SIGTERM)
        wait(ended)
        return number

    before = signal.getsignal(signal.SIGTERM)
    interrupted(work, done, Interrupts(second=ended.set))
    assert done == [] and ended.is_set()
    assert signal.getsignal(signal.SIGTERM) is before
