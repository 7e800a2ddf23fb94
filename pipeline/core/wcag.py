"""The success criteria of WCAG 2.2, in one table: `wcag.csv`.

4.1.1 Parsing is missing, since WCAG 2.2 removed it. Reads that table, writes nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Literal, NamedTuple, get_args

#: WCAG's principles, in its order: the first digit of a success criterion is the number of its principle
Principle = Literal["perceivable", "operable", "understandable", "robust"]
PRINCIPLES: tuple[Principle, ...] = get_args(Principle)


class Criterion(NamedTuple):
    """A success criterion. `level` is A, AA or AAA, `since` the first version of WCAG with it, `guideline` a title."""

    number: str
    name: str
    level: str
    since: str
    principle: Principle
    guideline: str


def _table() -> dict[str, Criterion]:
    lines = files(__package__).joinpath("wcag.csv").read_text(encoding="utf-8").splitlines()
    rows: Iterable[dict[str, Any]] = csv.DictReader(lines)
    return {row["number"]: Criterion(**row) for row in rows}


#: number -> criterion, in WCAG's order
CRITERIA: dict[str, Criterion] = _table()


def criterion(number: str) -> str:
    """The number itself. Raises ValueError if it is not a success criterion of WCAG 2.2."""
    if number not in CRITERIA:
        raise ValueError(f"{number} is not a success criterion of WCAG 2.2")
    return number
