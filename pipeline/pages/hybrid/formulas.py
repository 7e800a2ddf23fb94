"""The numbers of the hybrid score, from `formulas.toml`, and the formulas that use them. Pure functions.

The evaluation guide that the score follows contradicts itself: an older part gives 70% to the browser and 30% to the
judge, the newer part 15, 40, 20 and 25. We use the latter, since it says that it replaced the former, and since the
guide's worked examples (87 and 84) need these weights.
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
    """The overall score, and the weights of the existing parts in percent, which add up to 100. A judge's opinion alone
    gives no score."""
    weights = {name: table()["weights"][name] for name in PARTS if scores.get(name) is not None}
    total = sum(weights.values())
    if not weights.keys() - {"quality"}:
        return None, {}
    score = Decimal(sum(scores[name] * weight for name, weight in weights.items())) / total
    shares = {name: round(100 * weight / total, 4) for name, weight in weights.items()}
    return int(score.quantize(Decimal(1), ROUND_HALF_UP)), shares


def passes(score: int | None) -> bool | None:
    return None if score is None else score >= table()["passes_at"]


def validity(rules: Sequence[str]) -> int:
    """The score of `html`, from the rule of each fault."""
    numbers, kinds = table()["html"], len(set(rules))
    return max(0, 100 - numbers["rule"] * kinds - numbers["further"] * (len(rules) - kinds))


def behaviour(renders: bool, errors: int, warnings: int, seconds: float) -> int:
    """The score of `functional`. `errors` are console errors and uncaught errors, `seconds` the load time."""
    if not renders:
        return 0
    numbers = table()["functional"]
    deduction = min(numbers["error"] * errors, numbers["errors_at_most"])
    deduction += min(numbers["warning"] * warnings, numbers["warnings_at_most"])
    deduction += next((points for above, points in numbers["slow"] if seconds > above), 0)
    return max(0, 100 - deduction)


def likeness(same: bool, ratio: Fraction, keywords: Fraction) -> int:
    """The score of `expected`. `ratio` compares the texts as sequences, `keywords` is the share of expected words
    found."""
    if same:
        return 100
    numbers = table()["expected"]
    return floor(100 * (Fraction(numbers["ratio"]) * ratio + Fraction(numbers["keywords"]) * keywords))


def quality(rating: int) -> int | None:
    """The score of `quality` for a judge's rating; None for a judge that cannot tell."""
    return table()["quality"].get(str(rating))


def repeated(rules: Sequence[str]) -> dict[str, int]:
    """How often each rule is violated, the most frequent first."""
    return dict(Counter(rules).most_common())
