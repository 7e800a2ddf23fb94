"""Benchmark of the page track's engine, against one Node process and one browser for each page.

`just bench pages [--cases FOLDER] [--all] [--rounds 1] [--jobs 2] [--json FILE]`, with a browser. Both run the same
examples through the same assertions; by default only good examples, since failing ones mostly wait for something that
never happens. Waits by the clock in tests (`page.waitForTimeout`) are reported apart and count in neither time. Goal:
five times the pages per second. The other harness with one process and browser for all pages of a job, without
isolation, shows what could still be gained: the work that both have to do. Processor seconds are those of all
processes. Writes nothing but the figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.goals import Figure, report
from pipeline.browser import executable
from pipeline.browser.axe import AXE
from pipeline.core.work import each
from pipeline.pages.cases import OWN, Case, Example, load_cases
from pipeline.pages.engine import MERGE, Limits, playwright_core
from pipeline.pages.running import RunPage, code_of

ONE_PAGE = Path(__file__).with_name("one_page.js")
Page = tuple[Case, Example]


class Took(NamedTuple):
    """Pages, wall-clock and processor seconds, and the seconds that tests waited by the clock."""

    pages: int
    seconds: float
    cpu: float
    waits: float

    @property
    def rate(self) -> float:
        """Pages per second, without those waits."""
        return self.pages / (self.seconds - self.waits)


@click.command()
@click.option("--cases", type=click.Path(path_type=Path, exists=True), default=OWN, help="A folder of cases.")
@click.option("--all", "everything", is_flag=True, help="Examples that fail, too.")
@click.option("--rounds", type=int, default=1, show_default=True, help="How often all examples are run.")
@click.option("--jobs", type=int, default=2, show_default=True, help="Processes of ours.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(cases: Path, everything: bool, rounds: int, jobs: int, path: Path | None) -> None:
    """Measure the engine of the track of pages against its goal."""
    pages = [
        (case, example) for case in load_cases(cases) for example in case.examples if everything or example.is_good
    ]
    ways = {
        "a process and a browser for each": one_by_one(pages * rounds),
        "the engine": engine(pages * rounds, jobs),
        "the harness with warm browsers": warm(pages * rounds, jobs),
    }
    theirs, ours, left = ways.values()
    figures = [Figure("pages", ours.pages, "pages")]
    figures += [Figure(name, took.rate, "pages/s") for name, took in ways.items()]
    figures += [Figure(f"processors: {name}", took.cpu / took.pages, "s a page") for name, took in ways.items()]
    figures += [
        Figure("times as many", ours.rate / theirs.rate, "x", ("at least", 5)),
        Figure("times as many with warm browsers", left.rate / theirs.rate, "x"),
        Figure("waits by the clock in tests", theirs.waits, "s"),
    ]
    report("pages", figures, path)


def engine(pages: Sequence[Page], jobs: int) -> Took:
    """Our engine with running processes: one page for each starts them."""
    requests = [RunPage(f"{case.name} {one.name}", one.html, code_of(case), screenshot=True) for case, one in pages]
    list(each(requests[:jobs], jobs=jobs))
    started, before = time.monotonic(), busy()
    seen = [looked.observed for _, looked in each(requests, jobs=jobs)]
    seconds, cpu = time.monotonic() - started, busy() - before
    return Took(len(seen), seconds, cpu, sum(observed.seconds["waits"] for observed in seen) / jobs)


def one_by_one(pages: Sequence[Page]) -> Took:
    """The other way, one page after another. Raises CalledProcessError on failure."""
    return _harness([[page] for page in pages], 1)


def warm(pages: Sequence[Page], jobs: int) -> Took:
    """The other way with as many processes as ours, each with one browser for all its pages."""
    return _harness([pages[job::jobs] for job in range(jobs)], jobs)


def _harness(batches: Sequence[Sequence[Page]], jobs: int) -> Took:
    started, before = time.monotonic(), busy()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as threads:
        waits = sum(threads.map(_harnessed, batches, [Path(folder, str(place)) for place in range(len(batches))]))
    return Took(sum(map(len, batches)), time.monotonic() - started, busy() - before, waits / jobs)


def _harnessed(pages: Sequence[Page], folder: Path) -> float:
    """Run pages in one process; returns the seconds that tests waited by the clock."""
    folder.mkdir()
    pairs = []
    for place, (case, one) in enumerate(pages):
        html = folder / f"{place}.html"
        html.write_text(one.html, encoding="utf-8")
        pairs.append([str(html), str(case.folder / "test.js")])
    (folder / "pages.json").write_text(json.dumps(pairs), encoding="utf-8")
    node, playwright = playwright_core()
    fixed = [ONE_PAGE, playwright, AXE.file(), MERGE.file(), executable(), Limits().action, folder / "pages.json"]
    done = subprocess.run([node, *map(str, fixed)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["waits"]


def busy() -> float:
    """The seconds that the processors have worked, for any process: measure on a quiet machine."""
    ticks = Path("/proc/stat").read_text(encoding="ascii").split()[1:4]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
