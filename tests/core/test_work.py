"""Where work runs: in parallel, with each result handed over as soon as it is complete."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from work_requests import Square

from pipeline.core.errors import InfrastructureError
from pipeline.core.work import ENGINES, Event, Interrupts, Settled, Tell, each


@dataclass(frozen=True)
class Do:
    """A request that calls a function, for what only threads of one process can show."""

    item: Any
    work: Callable[..., Any]
    affinity: str = ""

    @property
    def name(self) -> str:
        return str(self.item)

    def perform(self, tell: Tell) -> Any:
        return self.work(self.item, lambda: tell(Event(self.name, kind="ready")))

    def failed(self, error: Exception) -> Any:
        return error


def done(items: Iterable[Any], work: Callable[[Any], Any], **how: Any) -> Iterator[Any]:
    """The results of plain work on items, in the order of completion."""
    requests = [Do(item, lambda item, _: work(item)) for item in items]
    return (result for _, result in each(requests, **how))


Prepared = Callable[[], None]


def in_groups(groups: Iterable[Iterable[Any]], work: Callable[[Any, Prepared], Any], **how: Any) -> Iterator[Any]:
    """The results of work on groups, each with its own affinity."""
    requests = [Do(item, work, str(number)) for number, group in enumerate(groups) for item in group]
    return (result for _, result in each(requests, **how))


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_item_is_worked_on_once(jobs: int) -> None:
    assert sorted(done(range(20), lambda number: number * 2, jobs=jobs)) == list(range(0, 40, 2))
    assert list(done([], lambda item: item, jobs=jobs)) == []


def test_a_result_is_returned_before_the_others_are_done() -> None:
    """The caller writes it at once, so an interrupted batch loses only the units under way."""
    written = threading.Event()

    def work(name: str) -> str:
        if name == "slow":
            assert written.wait(30)
        return name

    results = done(["slow", "fast"], work, jobs=2)
    assert next(results) == "fast"
    written.set()
    assert list(results) == ["slow"]


def test_jobs_run_side_by_side() -> None:
    meeting = threading.Barrier(2, timeout=30)
    assert len(list(done([1, 2], lambda _: meeting.wait(), jobs=2))) == 2


@pytest.mark.parametrize(
    ("error", "traces"), [(InfrastructureError("no engine", cause="engine"), False), (ValueError("no value"), True)]
)
def test_only_unexpected_errors_have_a_traceback(
    error: Exception, traces: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """An expected failure is explained by the unit's outcome."""

    def fail(_: int) -> None:
        raise error

    with caplog.at_level("INFO", logger="pipeline"):
        assert list(done([1], fail, jobs=1)) == [error]
    assert any(record.exc_info for record in caplog.records) == traces


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_failure_of_this_machine_is_the_result_of_its_unit(engine: str) -> None:
    """There is no other machine that could perform it."""
    requests = [Square(1, ways="engine"), Square(2)]
    assert [result for _, result in sorted(each(requests, jobs=1, engine=engine), key=lambda done: done[0].number)] == [
        "InfrastructureError: the machine failed",
        4,
    ]


@pytest.mark.invariant(7)
def test_one_broken_unit_never_stops_a_batch() -> None:
    """Its failure becomes a result, as its request defines."""
    results = list(done(range(3), lambda number: 6 // number, jobs=2))
    assert sorted(map(str, results)) == ["3", "6", "integer division or modulo by zero"]


def test_a_settled_request_is_not_performed() -> None:
    begun = []
    requests = [Do(number, lambda number, _: begun.append(number)) for number in range(4)]
    given = each(requests, jobs=2, admit=lambda settled: Settled("known") if settled.item % 2 else settled)
    assert sorted((request.item, result) for request, result in given if result) == [(1, "known"), (3, "known")]
    assert sorted(begun) == [0, 2]


def test_events_of_a_unit_are_passed_on() -> None:
    heard = []
    list(in_groups([["a"]], lambda _, prepared: prepared(), jobs=1))
    list(each([Do("a", lambda _, prepared: prepared())], jobs=1, hear=heard.append))
    assert heard == [Event("a", kind="ready")]


# -- groups ----------------------------------------------------------------------------------------------------------
def wait(event: threading.Event) -> None:
    assert event.wait(30)


def test_a_group_waits_for_its_first_unit_without_blocking_a_thread() -> None:
    """An install takes minutes; meanwhile instances of other environments are worked on."""
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


def test_a_group_counts_as_prepared_when_its_first_unit_ends() -> None:
    assert list(in_groups([[1, 2, 3]], lambda number, _: number, jobs=2)) == [1, 2, 3]


def test_groups_are_prepared_side_by_side() -> None:
    meeting = threading.Barrier(2, timeout=30)
    assert len(list(in_groups([["a"], ["b"]], lambda *_: meeting.wait(), jobs=2))) == 2


def test_an_extra_thread_prepares_ahead_but_no_more_units_work_at_a_time() -> None:
    """With one job, the next environment is made while the current one's tests run; its own tests follow them."""
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


def test_groups_are_not_prepared_long_before_they_are_needed() -> None:
    """An environment made long before its instances takes disk space, and may be removed before they run."""
    made = []

    def work(number: int, prepared: Prepared) -> int:
        if number not in made:
            made.append(number)
            prepared()
        time.sleep(0.01)
        return made[-1] - number

    assert max(in_groups([[number] * 3 for number in range(10)], work, jobs=1, ahead=1)) <= 2


class OneSlot:
    """A worker that shares one slot with others. Once these units wait for it, it takes them in this order."""

    keeps_slot = True
    changed = threading.Condition()
    order = [("a1", set()), ("b1", {"a2", "a3"}), ("a2", set()), ("a3", set()), ("b2", set())]

    def __init__(self) -> None:
        self.left, self.waiting = list(self.order), set[str]()

    def perform(self, request: Any, tell: Tell) -> Any:
        with self.changed:
            self.waiting.add(request.name)
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self._is_next(request.name), 10), f"no slot for {request.name}"
        result = request.perform(tell)
        with self.changed:
            self.left.pop(0)
            self.changed.notify_all()
        return result

    def _is_next(self, name: str) -> bool:
        return self.left[0][0] == name and self.left[0][1] <= self.waiting

    def end(self) -> None:
        """Nothing is ended."""


def test_a_unit_in_the_last_slot_does_not_wait_for_queued_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a host loses power, its slots are gone, and there are more jobs than slots."""
    worker = OneSlot()
    monkeypatch.setitem(ENGINES, "one slot", lambda: worker)
    groups = [["a1", "a2", "a3"], ["b1", "b2"]]

    def work(name: str, prepared: Prepared) -> str:
        prepared()
        return name

    assert list(in_groups(groups, work, jobs=2, ahead=1, engine="one slot")) == ["a1", "b1", "a2", "a3", "b2"]


# -- Ctrl-C ----------------------------------------------------------------------------------------------------------
def press(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def interrupted(work: Callable[[int], int], ended: list[int], interrupts: Interrupts) -> None:
    with pytest.raises(KeyboardInterrupt):
        for one in done(range(100), work, jobs=2, interrupts=interrupts):
            ended.append(one)


def test_the_first_interrupt_stops_new_work_and_finishes_running_units() -> None:
    announced, begun, done = threading.Event(), [], []

    def work(number: int) -> int:
        begun.append(number)
        if number == 1:
            press()
        wait(announced)
        return number

    before = signal.getsignal(signal.SIGINT)
    interrupted(work, done, Interrupts(first=announced.set))
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
    """Schedulers and service managers send a signal, and kill what is left some seconds later."""
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


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_failure_of_the_coordinator_is_raised(engine: str) -> None:
    """If the disk is full where events are recorded, no result blames the unit, and no further unit starts."""

    def hear(event: Event) -> None:
        raise OSError("no space left")

    found = []
    with pytest.raises(OSError, match="no space left"):
        for _, result in each([Square(number) for number in range(9)], jobs=1, engine=engine, hear=hear):
            found.append(result)
    assert 0 < len(found) < 9
    assert found == [number**2 for number in range(len(found))]


# -- processes -------------------------------------------------------------------------------------------------------
def squares(engine: str, *requests: Square, **how: Any) -> dict[int, Any]:
    return {request.number: result for request, result in each(requests, jobs=2, engine=engine, **how)}


@pytest.mark.parametrize("affinity", ["", "same"])
def test_threads_and_processes_give_equal_results(affinity: str) -> None:
    requests = [Square(number, affinity) for number in range(6)]
    assert squares("threads", *requests) == squares("processes", *requests) == {n: n * n for n in range(6)}


def test_requests_run_in_other_processes_and_send_events(caplog: pytest.LogCaptureFixture) -> None:
    heard = []
    with caplog.at_level("DEBUG", logger="pipeline"):
        squares("processes", Square(2), Square(3), hear=heard.append)
    assert {event.text for event in heard} == {"ready now"}
    assert os.getpid() not in {event.data for event in heard}
    assert any(record.getMessage().startswith("square of 2 in ") for record in caplog.records)


@pytest.mark.invariant(7)
def test_a_dead_process_fails_only_its_own_unit() -> None:
    found = squares("processes", Square(1), Square(2, ways="dies"), Square(3, ways="raises"), *map(Square, (4, 5)))
    assert found == {
        1: 1,
        2: "InfrastructureError: the process that worked on it ended with 7",
        3: "ValueError: no number",
        4: 16,
        5: 25,
    }


def test_an_immediate_stop_ends_processes(tmp_path: Path) -> None:
    """A unit that takes minutes must not outlive a command that was told to stop."""
    requests = [Square(number, ways="hangs", folder=str(tmp_path)) for number in range(2)]

    def begun() -> None:
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.05)
        press(signal.SIGTERM)

    threading.Thread(target=begun, daemon=True).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        squares("processes", *requests)
    assert time.monotonic() - started < 30
    while multiprocessing.active_children() and time.monotonic() - started < 90:
        time.sleep(0.05)
    assert not multiprocessing.active_children()
