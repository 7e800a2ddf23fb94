"""Benchmark of the engine of the track of pages, against one Node process and one browser for each page.

`just bench pages [--cases FOLDER] [--all] [--rounds 1] [--jobs 2] [--json FILE]`, with a browser. Both run the same
examples through the same assertions; good ones unless told, since what fails mostly waits for what never comes. What a
test waits by the clock (`page.waitForTimeout`) is told apart and in neither's time. Goal: five times the pages per
second. Writes nothing but the figures.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
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
    """Pages, seconds by the clock, and the seconds of them that tests waited for by the clock."""

    pages: int
    seconds: float
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
    pages = [(case, one) for case in load_cases(cases) for one in case.examples if everything or one.is_good]
    ours, theirs = engine(pages * rounds, jobs), one_by_one(pages * rounds)
    figures = [
        Figure("pages", ours.pages, "pages"),
        Figure("a process and a browser for each", theirs.rate, "pages/s"),
        Figure("the engine", ours.rate, "pages/s"),
        Figure("times as many", ours.rate / theirs.rate, "x", ("at least", 5)),
        Figure("waits by the clock in tests", theirs.waits, "s"),
    ]
    report("pages", figures, path)


def engine(pages: Sequence[Page], jobs: int) -> Took:
    """Ours, with processes that are there already: one page for each starts them."""
    requests = [RunPage(f"{case.name} {one.name}", one.html, code_of(case), screenshot=True) for case, one in pages]
    list(each(requests[:jobs], jobs=jobs))
    started = time.monotonic()
    seen = [looked.observed for _, looked in each(requests, jobs=jobs)]
    waits = sum(one.seconds["waits"] for one in seen) / jobs
    return Took(len(seen), time.monotonic() - started, waits)


def one_by_one(pages: Sequence[Page]) -> Took:
    """The other way. Raises CalledProcessError where it fails."""
    node, playwright = playwright_core()
    fixed = [node, ONE_PAGE, playwright, AXE.file(), MERGE.file(), executable()]
    waits, started = 0.0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder, "page.html")
        for case, one in pages:
            html.write_text(one.html, encoding="utf-8")
            command = [*fixed, html, case.folder / "test.js", str(Limits().action)]
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
            waits += json.loads(done.stdout)["waits"]
    return Took(len(pages), time.monotonic() - started, waits)


if __name__ == "__main__":
    main()
