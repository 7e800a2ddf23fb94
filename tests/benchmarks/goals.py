"""Figures and their goals: a table for people on stdout, the same as JSON in a file."""

from __future__ import annotations

import json
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.core import console

WITHIN = {"at most": operator.le, "at least": operator.ge, "below": operator.lt}


class Figure(NamedTuple):
    """One measured value; `goal` is a word of WITHIN with a number, or None where there is no goal."""

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
    """Show the figures, write them to `path` when there is one, and end the program with 1 when a goal is missed."""
    console.table(title, ("what", "measured", "unit", "goal", "met"), [figure.row for figure in figures])
    if path:
        path.write_text(json.dumps([figure._asdict() | {"met": figure.met} for figure in figures], indent=1) + "\n")
    if not all(figure.met for figure in figures):
        raise SystemExit(1)
