"""Several answers to one question: each a unit of its own, their combined result, and how far they agree.

Their folder is named by everything that decides an answer, so nothing is paid for twice, neither in a rerun nor for an
equal question; a larger number of samples costs only the difference. Agreement beyond chance is in `report.statistics`.
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
    """`count` samples under `root`; `inputs` are the digests of everything that decides an answer."""

    root: Path
    inputs: Mapping[str, str]
    count: int

    def units(self) -> list[Unit]:
        folder = self.root / digest(self.inputs)
        return [Unit(folder / str(number)) for number in range(1, self.count + 1)]

    def missing(self) -> list[int]:
        """The numbers of the missing samples, from 1."""
        return [number for number, unit in enumerate(self.units(), 1) if not unit.is_done(**self.inputs)]

    def keep(self, number: int, answer: Answer) -> None:
        """Write an answer that is not a failure."""
        result = {"missing": answer.missing} if answer.value is None else {"rating": answer.value}
        self.units()[number - 1].finish(result, **self.inputs)

    def ratings(self) -> list[dict[str, Any]]:
        """The ratings, as plain data."""
        return [result["rating"] for result in self._results() if "rating" in result]

    def causes(self) -> tuple[str, ...]:
        """The cause of each answer that is not a rating."""
        return tuple(result["missing"] for result in self._results() if "missing" in result)

    def silence(self) -> str:
        """These causes in words, each once."""
        counted = Counter(self.causes()).items()
        return "; ".join(f"{cause} ({count} of {self.count} samples)" for cause, count in counted)

    def _results(self) -> list[dict[str, Any]]:
        return [unit.result() for unit in self.units() if unit.is_done(**self.inputs)]


def combined(scores: Sequence[S], untold: S) -> S:
    """The lower median of the scores except `untold`; `untold` if at least half of the scores are `untold`."""
    scored = [score for score in scores if score != untold]
    return median_low(scored) if 2 * len(scored) > len(scores) else untold


def agreement(values: Sequence[Hashable]) -> float | None:
    """The share of equal pairs, the observed agreement of Fleiss (1971); None for fewer than two values."""
    pairs = [first == second for first, second in combinations(values, 2)]
    return fmean(pairs) if pairs else None
