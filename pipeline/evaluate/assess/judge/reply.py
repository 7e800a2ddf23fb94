"""From what a judge answers to a rating, and from several ratings to one. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from statistics import fmean, median_low
from typing import Any

from pydantic import ValidationError

from pipeline.core.assessment import Rated, Rating
from pipeline.core.errors import A11yBenchError

UNTOLD: Rated = -1
#: how an object with fields begins
_OPENING = re.compile(r'\{\s*"')


class BadAnswer(A11yBenchError):
    """An answer of which no rating can be read; the message says why."""


def read(text: str) -> Rating:
    """The last JSON object with a score: some models think aloud before. Raises BadAnswer."""
    found = [one for one in _objects(text) if "score" in one]
    if not found:
        raise BadAnswer("there is no JSON object with a score")
    try:
        return Rating.model_validate({name: found[-1][name] for name in Rating.model_fields if name in found[-1]})
    except ValidationError as error:
        first = error.errors()[0]
        raise BadAnswer(f"{first['loc'][0]}: {first['msg']}") from None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text."""
    decoder, end = json.JSONDecoder(strict=False), 0
    for start in _OPENING.finditer(text):
        if start.start() >= end:
            with suppress(ValueError, RecursionError):
                found, end = decoder.raw_decode(text, start.start())
                yield found


def combined(scores: Sequence[Rated]) -> Rated:
    """The median of those that could tell, the lower one of two; -1 where half or more could not."""
    told = [score for score in scores if score != UNTOLD]
    return median_low(told) if 2 * len(told) > len(scores) else UNTOLD


def agreement(scores: Sequence[Rated]) -> float | None:
    """The share of pairs that are equal, the observed agreement of Fleiss (1971); None for less than two."""
    pairs = [one == other for one, other in combinations(scores, 2)]
    return fmean(pairs) if pairs else None
