"""Several answers to one question: each a unit of its own, what they come to, and how far they agree.

Their folder is named by everything that decides an answer, so nothing is paid for twice: not by a rerun, not by an
equal question, and more samples cost only the difference. Agreement beyond chance is in `report.statistics`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, median_low
from typing import Any, TypeVar

from pipeline.core.store import Unit, digest
from pipeline.llm.asking import Answer

S = TypeVar("S", bound=int)


@dataclass(frozen=True)
class Samples:
    """`count` samples under `root`; `inputs` are the digests of all that decides an answer."""

    root: Path
    inputs: Mapping[str, str]
    count: int

    def units(self) -> list[Unit]:
        folder = self.root / digest(self.inputs)
        return [Unit(folder / str(number)) for number in range(1, self.count + 1)]

    def missing(self) -> list[int]:
        """The numbers, from 1, of those that nobody has answered yet."""
        return [number for number, unit in enumerate(self.units(), 1) if not unit.is_done(**self.inputs)]

    def keep(self, number: int, answer: Answer) -> None:
        """Write an answer that is not owed."""
        said = {"missing": answer.missing} if answer.value is None else {"rating": answer.value}
        self.units()[number - 1].finish(said, **self.inputs)

    def ratings(self) -> list[dict[str, Any]]:
        """What was answered, as plain data."""
        return [one["rating"] for one in self._results() if "rating" in one]

    def causes(self) -> tuple[str, ...]:
        """Why answers are no ratings, for each that is none."""
        return tuple(one["missing"] for one in self._results() if "missing" in one)

    def silence(self) -> str:
        """The same in words, each cause once."""
        counted = Counter(self.causes()).items()
        return "; ".join(f"{cause} ({count} of {self.count} samples)" for cause, count in counted)

    def _results(self) -> list[dict[str, Any]]:
        return [unit.result() for unit in self.units() if unit.is_done(**self.inputs)]


def combined(scores: Sequence[S], untold: S) -> S:
    """The median of those that could tell, the lower one of two; `untold` where half or more could not."""
    told = [score for score in scores if score != untold]
    return median_low(told) if 2 * len(told) > len(scores) else untold


def agreement(values: Sequence[Hashable]) -> float | None:
    """The share of pairs that are equal, the observed agreement of Fleiss (1971); None for less than two."""
    pairs = [one == other for one, other in combinations(values, 2)]
    return fmean(pairs) if pairs else None
