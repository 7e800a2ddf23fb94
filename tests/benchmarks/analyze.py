"""Benchmark of stage 05: time and memory of all frames, tables, figures and the report, on generated data.

`just bench analyze [--instances N] [--models N] [--tests N] [--json FILE]`. The analysis is the console program, so
start-up counts. Writes a temporary folder; making the data (tests/analysis_data.py) is not measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
from analysis_data import Size, generate

from benchmarks.goals import Figure, report
from pipeline.core.store import Store

TESTS = Path(__file__).parents[1]
#: ru_maxrss counts kibibytes, on macOS bytes
RSS_UNIT = 2**20 if sys.platform == "darwin" else 2**10


class Run(NamedTuple):
    """Wall-clock seconds, processor seconds, and bytes."""

    seconds: float
    processor: float
    memory: int


@click.command()
@click.option("--instances", default=1000, show_default=True)
@click.option("--models", default=10, show_default=True)
@click.option("--tests", default=500, show_default=True, help="Tests of each instance.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(instances: int, models: int, tests: int, path: Path | None) -> None:
    """Measure stage 05; exit code 1 when a goal is missed."""
    report("05 analyze", list(_figures(Size(instances, models, tests))), path)


def _figures(size: Size) -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        store = generate(Store(Path(folder) / "data"), size)
        run = _analyze(store)
        name = f"{size.instances:,} instances x {size.models} models x {size.tests} tests"
        yield Figure(name, run.seconds, "s", ("at most", 10))
        yield Figure("of it the processor", run.processor, "s")
        yield Figure("peak memory", run.memory / 1e9, "GB", ("below", 2))
        yield Figure("input", _size(store.root, "0*/**/*.json*"), "MB")
        yield Figure("first page of the report", _size(store.analysis, "report.html"), "MB", ("below", 3))
        yield Figure("tables", len(list(store.analysis.glob("tables/*.csv"))), "")
        yield Figure("figures", len(list(store.analysis.glob("figures/*.svg"))), "")


def _analyze(store: Store) -> Run:
    """Run the program to its end. Raises CalledProcessError."""
    command = [Path(sys.executable).with_name("a11y-bench"), "analyze", "--data", str(store.root)]
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=TESTS.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise subprocess.CalledProcessError(status, command)
    seconds = time.perf_counter() - started
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT)


def _size(folder: Path, pattern: str) -> float:
    return sum(path.stat().st_size for path in folder.glob(pattern)) / 1e6


if __name__ == "__main__":
    main()
