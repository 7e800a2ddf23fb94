"""Figures and their goals: a table for people on stdout, the same as JSON in a file; and the goals of the project.

`just bench goals [FIGURES...] [--day DATE] [--write]` shows the goals with the command that measures each, and their
last figures, which stand in docs/performance.md. FIGURES are files that benchmarks wrote with `--json`; what they
measured takes the place of what stood there, in the document with `--write`.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

import click

from pipeline.core import console

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
WITHIN = {"at most": operator.le, "at least": operator.ge, "below": operator.lt}


class Figure(NamedTuple):
    """One measured value; `goal` is a key of WITHIN with a number, or None without a goal."""

    name: str
    value: float
    unit: str
    goal: tuple[str, float] | None = None

    @property
    def met(self) -> bool:
        return self.goal is None or WITHIN[self.goal[0]](self.value, self.goal[1])

    @property
    def row(self) -> tuple[str, str, str, str, str]:
        """The figure's line of the table."""
        goal = f"{self.goal[0]} {self.goal[1]:g}" if self.goal else ""
        return self.name, f"{self.value:,.2f}", self.unit, goal, "" if not self.goal else "yes" if self.met else "NO"


def report(title: str, figures: Sequence[Figure], path: Path | None) -> None:
    """Show the figures, write them to `path` if given, and exit with 1 if a goal is missed."""
    console.table(title, ("what", "measured", "unit", "goal", "met"), [figure.row for figure in figures])
    if path:
        path.write_text(json.dumps([figure._asdict() | {"met": figure.met} for figure in figures], indent=1) + "\n")
    if not all(figure.met for figure in figures):
        raise SystemExit(1)


class Goal(NamedTuple):
    """A goal of the project: its subject, the beginning of the figure that decides it, its bound and unit, and the
    arguments of `just bench` that measure it."""

    what: str
    figure: str
    goal: tuple[str, float]
    unit: str
    command: str

    @property
    def bound(self) -> str:
        return f"{self.goal[0]} {self.with_unit(f'{self.goal[1]:g}')}"

    def with_unit(self, number: str) -> str:
        """A number with the goal's unit."""
        return f"{number}%" if self.unit == "%" else f"{number} {self.unit}".strip()


REAL = "evaluate --data DIR --repo ORG/REPO"
TEN = "build --clone PATH --repo ORG/REPO --pr N … --same-command"
GOALS = (
    Goal("time of a verdict, relative to one warm run of its tests", "a verdict, by one", ("at most", 1.3), "×", REAL),
    Goal(
        "time of a verdict's counter-runs, relative to one warm run of its tests",
        "counter-runs, by one", ("at most", 2), "×", REAL,
    ),
    Goal(
        "verdicts per hour, for patches that pass, with their counter-runs",
        "verdicts an hour, counter-runs", ("at least", 300), "", REAL,
    ),
    Goal(
        "verdicts per hour, for patches that fail a test",
        "verdicts an hour, without", ("at least", 300), "", REAL,
    ),
    Goal(
        "speed-up of building ten instances of four eras, over a separate image and install for each",
        "one by one takes, in time", ("at least", 4), "×", TEN,
    ),
    Goal(
        "disk space of each further instance of an environment",
        "disk of an additional instance, ours", ("at most", 10), "MiB", TEN,
    ),
    Goal(
        "time of each further instance of an environment, without its tests",
        "next instance of a known", ("at most", 4), "s", TEN,
    ),
    Goal(
        "time from `build --pr N` to its first container, with 5,000 known candidates",
        "5,000 known", ("at most", 3), "s", "known",
    ),
    Goal("share of a batch's time that is our own overhead", "of ours overhead", ("at most", 10), "%", TEN),
    Goal(
        "time of the report of 500 instances × 20 models",
        "500 instances x 20 models", ("at most", 10), "s", "analyze --instances 500 --models 20",
    ),
    Goal(
        "size of that report's first page",
        "first page of the report", ("below", 3), "MB", "analyze --instances 500 --models 20",
    ),
    Goal(
        "time of 10,000 units that do nothing, on workers of the same machine",
        "10,000 units, until", ("at most", 30), "s", "units",
    ),
    Goal("processor time of the scheduler for each unit", "of it the scheduler", ("below", 50), "ms", "units"),
    Goal("speed-up of two workers over one", "two workers against one", ("at least", 1.7), "×", "units"),
    Goal("time of `--help`, minus that of an empty interpreter", "--help, above", ("at most", 0.05), "s", "start"),
)  # fmt: skip


class Last(NamedTuple):
    """The last measured value, and its day; empty if there is none."""

    value: str = ""
    day: str = ""


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--day", default=str(date.today()), help="When these were measured [default: today].")  # noqa: DTZ011
@click.option("--write", is_flag=True, help="Write the last figures into docs/performance.md.")
def main(files: Sequence[Path], day: str, write: bool) -> None:
    """Show the goals of the project and the last measured values."""
    text = PAGE.read_text(encoding="utf-8")
    measured = [figure for file in files for figure in json.loads(file.read_text())]
    rows = table(last(text), measured, day)
    if write:
        PAGE.write_text(with_table(text, rows), encoding="utf-8")
    print("\n".join(rows))


def last(text: str) -> dict[str, Last]:
    """The last figures in the document's table, by subject."""
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in _lines(text)[2:])
    return {what: Last(value, day) for what, _, value, day, _, _ in rows}


def table(known: Mapping[str, Last], measured: Sequence[Mapping[str, object]], day: str) -> list[str]:
    """The table's lines, including new measurements."""
    lines = ["| what | goal | last | measured | met | command |", "|---|---|---|---|---|---|"]
    for goal in GOALS:
        found = [figure["value"] for figure in measured if str(figure["name"]).startswith(goal.figure)]
        now = Last(goal.with_unit(f"{found[-1]:.3g}"), day) if found else known.get(goal.what, Last())
        lines.append(f"| {goal.what} | {goal.bound} | {now.value} | {now.day} | {_met(goal, now)} | `{goal.command}` |")
    return lines


def _met(goal: Goal, found: Last) -> str:
    if not found.value:
        return ""
    value = float(found.value.split()[0].rstrip("%").replace(",", ""))
    return "yes" if WITHIN[goal.goal[0]](value, goal.goal[1]) else "**no**"


def with_table(text: str, rows: Sequence[str]) -> str:
    """The document with new rows in its table of goals."""
    return text.replace("\n".join(_lines(text)), "\n".join(rows))


def _lines(text: str) -> list[str]:
    """The lines of the table of goals, which is the chapter's first."""
    chapter = text.partition("## The goals\n")[2].splitlines()
    from_table = dropwhile(lambda line: not line.startswith("|"), chapter)
    return list(takewhile(lambda line: line.startswith("|"), from_table))


if __name__ == "__main__":
    main()
