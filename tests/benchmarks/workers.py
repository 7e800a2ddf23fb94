"""What the distributed engine costs: units through a real scheduler and workers, all on this machine.

`just bench workers [--units N] [--json FILE]`. Units that do nothing show the time of scheduling, units that sleep the
gain of a second worker. Does not cover the network and the units' own work.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from dask_double import Dask
from namespaces import until
from work_requests import Slow, Square

from benchmarks.goals import Figure, report
from pipeline.core import cluster
from pipeline.core.work import each

#: units at a time, in two workers; the length of a unit that sleeps, in seconds, and how many there are
SLOTS, SLEEP, SLEEPERS = 4, 1.0, 24


def seconds(requests: Sequence[Any], workers: int) -> float:
    """How long it takes to perform units; each slot has performed one before, so its process has started."""
    jobs = workers * SLOTS
    began = time.monotonic()
    assert len(dict(each(requests, jobs=jobs, engine="dask"))) == len(requests)
    return time.monotonic() - began


def processor_seconds(process: int) -> float:
    """The processor time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(folder: Path, workers: int, units: int) -> tuple[float, float, float]:
    """Seconds of sleeping units, seconds of units that do nothing, and the scheduler's processor seconds for these."""
    with Dask(folder, workers=0) as dask:
        os.environ[cluster.ADDRESS] = dask.address
        for number in range(workers):
            dask.join(f"worker{number}", SLOTS)
        until(lambda: (folder / "dask.log").read_text().count("working for") == workers)
        seconds([Square(number) for number in range(4 * workers * SLOTS)], workers)
        begun = folder / "begun"
        begun.mkdir()
        slept = seconds([Slow(number, str(begun), SLEEP) for number in range(SLEEPERS)], workers)
        before = processor_seconds(dask.scheduler.pid)
        taken = seconds([Square(number) for number in range(units)], workers) if units else 0.0
        return slept, taken, processor_seconds(dask.scheduler.pid) - before


@click.command()
@click.option("--units", default=10_000, show_default=True, help="Units that do nothing.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Also write the figures here.")
def main(units: int, target: Path | None) -> None:
    with TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in ("one", "two")]
        for place in places:
            place.mkdir()
        alone, _, _ = measured(places[0], 1, 0)
        slept, taken, scheduler = measured(places[1], 2, units)
    figures = [
        Figure("10,000 units", taken / units * 10_000, "s", ("at most", 30)),
        Figure("a unit, in all", taken / units * 1000, "ms", ("below", 50)),
        Figure("a unit, of the scheduler's processor time", scheduler / units * 1000, "ms"),
        Figure("two workers, of sleeping units", alone / slept, "times one", ("at least", 1.7)),
    ]
    report("The distributed engine", figures, target)


if __name__ == "__main__":
    main()
