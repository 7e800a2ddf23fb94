"""The numbers of the hybrid score, from `formulas.toml`, and the formulas that use them. Pure functions.

The document that the score follows contradicts itself: an older part of it says 70 % for the browser and 30 % for the
judge, the newer one 15, 40, 20 and 25. The newer one is followed, since it says that it replaced the other, and since
its worked examples (87 and 84) only come out with its weights.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import floor
from typing import Any

#: the parts, in the order of the table
PARTS = ("html", "functional", "expected", "quality")


@cache
def table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("formulas.toml").read_text(encoding="utf-8"))


def overall(scores: Mapping[str, int | None]) -> tuple[int | None, dict[str, float]]:
    """The whole, and the weights in percent that the parts had: those that are there share all of it."""
    given = {name: table()["weights"][name] for name in PARTS if scores.get(name) is not None}
    whole = sum(given.values())
    if not whole:
        return None, {}
    total = Decimal(sum(scores[name] * weight for name, weight in given.items())) / whole
    shares = {name: round(100 * weight / whole, 4) for name, weight in given.items()}
    return int(total.quantize(Decimal(1), ROUND_HALF_UP)), shares


def passes(score: int | None) -> bool | None:
    return None if score is None else score >= table()["passes_at"]


def validity(rules: Sequence[str]) -> int:
    """Of the rule of each fault that there is."""
    numbers, kinds = table()["html"], len(set(rules))
    return max(0, 100 - numbers["rule"] * kinds - numbers["further"] * (len(rules) - kinds))


def behaviour(renders: bool, errors: int, warnings: int, seconds: float) -> int:
    """`errors` are those of the console and those that nobody caught, `seconds` until the page is loaded."""
    if not renders:
        return 0
    numbers = table()["functional"]
    lost = min(numbers["error"] * errors, numbers["errors_at_most"])
    lost += min(numbers["warning"] * warnings, numbers["warnings_at_most"])
    lost += next((points for above, points in numbers["slow"] if seconds > above), 0)
    return max(0, 100 - lost)


def likeness(same: bool, ratio: Fraction, keywords: Fraction) -> int:
    """`ratio` is of the two texts as sequences, `keywords` the share of the expected text's words that are there."""
    if same:
        return 100
    numbers = table()["expected"]
    return floor(100 * (Fraction(numbers["ratio"]) * ratio + Fraction(numbers["keywords"]) * keywords))


def quality(told: int) -> int | None:
    """Of what a judge says; None for a judge that cannot tell."""
    return table()["quality"].get(str(told))


def repeated(rules: Sequence[str]) -> dict[str, int]:
    """How often each rule is broken, the most often first."""
    return dict(Counter(rules).most_common())
