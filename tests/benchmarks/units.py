"""Benchmark of units on workers: what coordinator and scheduler take for each, with a real scheduler and real workers.

`just bench units [--units N] [--slots N] [--seconds S] [--json FILE]`. Needs no container engine: units return at once,
so that nothing but their way there and back is measured; a second batch sleeps, to compare two workers with one. All
processes share this machine, and the clock counts what performs the units, too. Needs Linux. Writes a temporary folder.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
from dask_double import Dask
from work_requests import Slow, Square

from benchmarks.goals import Figure, report
from pipeline.core.cluster import ADDRESS, RemoteWorker
from pipeline.core.work import each, silent

#: units one after the other, for the time of one; sleeping units, and how many of them a worker performs at a time
ALONE, SLEEPERS, SLEEPING = 50, 24, 4


@click.command()
@click.option("--units", default=10_000, show_default=True)
@click.option("--slots", default=8, show_default=True, help="Units at a time on each of the two workers.")
@click.option("--seconds", default=1.0, show_default=True, help="How long each unit of the second batch sleeps.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(units: int, slots: int, seconds: float, path: Path | None) -> None:
    """Measure the overhead of units; exit code 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        report("units on workers", list(figures(Path(folder), units, slots, seconds)), path)


def figures(folder: Path, units: int, slots: int, seconds: float) -> Iterator[Figure]:
    by_one = _slept(folder / "one", 1, seconds)
    with Dask(_new(folder / "two"), workers=0) as dask:
        _join(dask, 2, slots)
        yield from _scheduled(dask, units, 2 * slots)
        yield Figure("one unit after the other, there and back", 1000 * _alone(), "ms", ("below", 50))
    two = _slept(folder / "three", 2, seconds)
    yield Figure("two workers against one, sleeping units", by_one / two, "×", ("at least", 1.7))


def _scheduled(dask: Dask, units: int, jobs: int) -> Iterator[Figure]:
    """A batch that does nothing: wall-clock time, and the processor time of both sides."""
    processes = dask.scheduler.pid, os.getpid()
    before, started = [_processor(process) for process in processes], time.monotonic()
    found = dict(each([Square(number) for number in range(units)], jobs=jobs, engine="dask"))
    seconds = time.monotonic() - started
    assert all(result == request.number**2 for request, result in found.items()) and len(found) == units
    took = [_processor(process) - spent for process, spent in zip(processes, before, strict=True)]
    yield Figure(f"{units:,} units, until the last result", seconds, "s", ("at most", 30))
    yield Figure("of it the processor, for scheduler and coordinator", sum(took), "s")
    yield Figure("of it the scheduler, for a unit", 1000 * took[0] / units, "ms", ("below", 50))


def _alone() -> float:
    """Seconds of one unit, as the median of units one after the other."""
    worker, took = RemoteWorker(), list[float]()
    for number in range(ALONE):
        started = time.monotonic()
        worker.perform(Square(number), silent)
        took.append(time.monotonic() - started)
    worker.end()
    return statistics.median(took)


def _slept(folder: Path, workers: int, seconds: float) -> float:
    """Seconds of a batch of sleeping units, once every slot has performed one."""
    with Dask(_new(folder), workers=0) as dask:
        _join(dask, workers, SLEEPING)
        started = time.monotonic()
        units = [Slow(number, str(_new(folder / "begun")), seconds) for number in range(SLEEPERS)]
        assert len(list(each(units, jobs=workers * SLEEPING, engine="dask"))) == SLEEPERS
        return time.monotonic() - started


def _join(dask: Dask, workers: int, slots: int) -> None:
    """Start workers, and let every slot start its process."""
    os.environ[ADDRESS] = dask.address
    for number in range(workers):
        dask.join(f"worker{number}", slots)
    meeting, meets = _new(dask.folder / "meeting"), workers * slots
    units = [Slow(number, str(meeting), meets=meets) for number in range(meets)]
    assert len(list(each(units, jobs=meets, engine="dask"))) == meets


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _processor(process: int) -> float:
    """Seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
