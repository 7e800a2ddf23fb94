"""The watch over a command: how often it makes queries that are expensive for the engine. Needs no engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker import limits


def watch(
    monkeypatch: pytest.MonkeyPatch, took: float, size: int
) -> tuple[limits.Watch, list[float], Callable[[float], None]]:
    """A watch over a layer of that size, which takes correspondingly long to measure; the times of its queries; a way
    to pass time."""
    clock, looks = [0.0], list[float]()

    def written(_: object) -> int:
        looks.append(clock[0])
        clock[0] += took
        return size

    monkeypatch.setattr(limits, "written", written)
    monkeypatch.setattr(limits, "_processes", lambda _: 1)
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock[0])
    made = limits.Watch(any_container(), Limits(disk=100, seconds=1000), any_container())

    def pass_time(seconds: float) -> None:
        clock[0] += seconds

    return made, looks, pass_time


def any_container() -> Any:
    return object()


def test_slow_measurements_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two seconds, the engine was busy for two to four with the size of a large install."""
    made, looks, pass_time = watch(monkeypatch, took=3, size=1)
    for _ in range(60):
        made._reached()
        pass_time(limits.EVERY)
    assert 3 <= len(looks) <= 6
    assert all(later - earlier <= limits.LONGEST + 6 for earlier, later in zip(looks, looks[1:], strict=False))


def test_fast_measurements_are_made_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made, looks, pass_time = watch(monkeypatch, took=0.01, size=1)
    for _ in range(10):
        assert made._reached() is None
        pass_time(limits.EVERY)
    assert len(looks) == 10


def test_a_full_disk_is_noticed_at_the_next_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _, _ = watch(monkeypatch, took=3, size=200)
    assert made._reached() == "disk"


class Dying:
    """A container that starts no command, and whose end a busy engine notices after some queries, or never (None)."""

    id = "dying"

    def __init__(self, looks: int | None) -> None:
        self.looks, self.attrs = looks, dict[str, Any]()

    def reload(self) -> None:
        self.looks = None if self.looks is None else self.looks - 1
        self.attrs = {"State": {"Running": self.looks is None or self.looks > 0, "OOMKilled": False}}

    def stats(self, stream: bool) -> dict[str, Any]:
        return {"pids_stats": {}}


@pytest.mark.invariant(4)
@pytest.mark.parametrize(("looks", "cause"), [(1, "workspace_gone"), (3, "workspace_gone"), (None, "engine")])
def test_an_end_that_the_engine_notices_late(monkeypatch: pytest.MonkeyPatch, looks: int | None, cause: str) -> None:
    monkeypatch.setattr(limits, "written", lambda _: 0)
    monkeypatch.setattr(limits, "BETWEEN", 0)
    monkeypatch.setattr(limits, "start_command", lambda *_: Probe())
    monkeypatch.setattr(limits, "client_of", lambda _: Probe())
    with pytest.raises(InfrastructureError) as caught:
        limits.reached(Dying(looks), Limits(), 137)
    assert caught.value.cause == cause


class Probe(list[bytes]):
    """A command that does not start, and the client that reports it."""

    id = "probe"

    @property
    def api(self) -> Probe:
        return self

    def exec_inspect(self, _: str) -> dict[str, int]:
        return {"ExitCode": limits.NOT_STARTED}
