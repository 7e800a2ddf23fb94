"""Benchmark of start-up: the time of `--help` beyond an empty interpreter's, and the imports of other commands.

`just bench start [--times 15] [--json FILE]`. The median of that many alternating starts, in wall-clock and processor
time. Writes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import click

from benchmarks.goals import Figure, report
from benchmarks.processes import PROGRAM, Spent, spent

#: what is started -> its arguments
STARTED = {
    "an empty interpreter": (sys.executable, "-c", "pass"),
    "--help": (PROGRAM, "--help"),
    "build --help": (PROGRAM, "build", "--help"),
    "analyze --help": (PROGRAM, "analyze", "--help"),
}


@click.command()
@click.option("--times", default=15, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(times: int, path: Path | None) -> None:
    """Measure the start; exit code 1 when a goal is missed."""
    report("start", list(figures(times)), path)


def figures(times: int) -> Iterator[Figure]:
    """Each start runs once before it counts, so that its byte code exists."""
    rounds = [{name: spent(words) for name, words in STARTED.items()} for _ in range(times + 1)][1:]
    empty = [round_["an empty interpreter"] for round_ in rounds]
    for name in list(STARTED)[1:]:
        seconds = median(_above(one[name], other) for one, other in zip(rounds, empty, strict=True))
        goal = ("at most", 0.05) if name == "--help" else None
        yield Figure(f"{name}, above an empty interpreter", seconds, "s", goal)
    yield Figure("an empty interpreter", median(measured.seconds for measured in empty), "s")


def _above(one: Spent, empty: Spent) -> float:
    """In processor time: on a loaded machine, wall-clock times vary."""
    return one.processor - empty.processor


if __name__ == "__main__":
    main()
