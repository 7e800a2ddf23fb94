"""Stage 00: ratings, and the WCAG criteria that raters assigned."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pipeline.analyze.reading.rows import Rows
from pipeline.core.names import Repo
from pipeline.core.records import PRINCIPLES, Review
from pipeline.core.reviews import newest_reviews
from pipeline.core.store import Store

#: what raters say together of an instance, as parts of its row
Ratings = dict[str, dict[str, Any]]


def read(rows: Rows, store: Store, repo: Repo) -> Ratings:
    """Add `reviews` and `criteria` of a repository; returns what is said of each instance."""
    reviews: dict[str, list[Review]] = defaultdict(list)
    for one in newest_reviews(store, repo):
        rows.add("reviews", Review=one, Context={"repo": repo})
        reviews[one.instance_id].append(one)
    ratings = {}
    for name, said in sorted(reviews.items()):
        assigned = list(assignments(said))
        rows.extend("criteria", ((name, str(repo), *pair) for pair in assigned))
        ratings[name] = _together(said) | _words(assigned)
    return ratings


def assignments(reviews: Iterable[Review]) -> Iterator[tuple[str, str]]:
    """Principles and criteria of one instance, each criterion once, whoever named it.

    A principle stands alone where none of its criteria is named.
    """
    named = sorted({criterion for one in reviews for criterion in one.success_criteria}, key=_place)
    yield from ((PRINCIPLES[int(criterion[0]) - 1], criterion) for criterion in named)
    covered = {PRINCIPLES[int(criterion[0]) - 1] for criterion in named}
    bare = {principle for one in reviews for principle in one.principles} - covered
    yield from ((principle, "") for principle in PRINCIPLES if principle in bare)


def _place(criterion: str) -> tuple[int, ...]:
    return tuple(map(int, criterion.split(".")))


def _together(reviews: list[Review]) -> dict[str, str | None]:
    """What most raters say; the first of them where they are divided."""
    return {
        "rating": _most(one.status for one in reviews),
        "difficulty": _most(one.difficulty for one in reviews if one.difficulty),
    }


def _most(words: Iterable[str]) -> str | None:
    counts = Counter(words).most_common(1)
    return counts[0][0] if counts else None


def _words(assigned: list[tuple[str, str]]) -> dict[str, str | None]:
    principles = [name for name in PRINCIPLES if name in {principle for principle, _ in assigned}]
    criteria = [criterion for _, criterion in assigned if criterion]
    return {"principles": " ".join(principles) or None, "criteria": " ".join(criteria) or None}
