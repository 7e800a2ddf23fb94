"""Accessibility evidence in texts, by the patterns of `core/patterns.toml` (docs/mining.md).

Text patterns apply to titles and bodies, label patterns to labels and titles. Every match is stored. In bodies, only
what a person wrote is searched (prose.py). References to issues are in `references`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from pipeline.collect.patterns import Patterns, shipped
from pipeline.collect.prose import filled
from pipeline.core.records import Evidence, Issue, PullRequest


def evidence(
    page: Sequence[tuple[PullRequest, Iterable[Issue]]], patterns: Patterns | None = None
) -> list[tuple[Evidence, ...]]:
    """Every match in each pull request and its issues, in that order; many at once are faster than one by one."""
    owned: list[tuple[int, PullRequest | Issue]] = []
    for place, (pull, issues) in enumerate(page):
        owned += [(place, pull), *((place, issue) for issue in issues)]
    rows = sorted(_scan(patterns or shipped(), [one for _, one in owned]), key=itemgetter(0))
    found: list[tuple[Evidence, ...]] = [()] * len(page)
    for place, group in groupby(rows, lambda row: owned[row[0]][0]):
        found[place] = tuple(row for _, row in group)
    return found


def _scan(patterns: Patterns, ones: Sequence[PullRequest | Issue]) -> Iterator[tuple[int, Evidence]]:
    """Every match, with the index of what it is in: field by field, so that many texts are searched at once."""
    labels = [(index, label) for index, one in enumerate(ones) for label in one.labels]
    for field, scanner, owners, texts, searched in (
        ("title", patterns.title, range(len(ones)), [one.title for one in ones], str),
        ("body", patterns.body, range(len(ones)), [one.body for one in ones], filled),
        ("label", patterns.label, [index for index, _ in labels], [label for _, label in labels], str),
    ):
        for index, match in scanner.find(patterns.without_names([searched(text) for text in texts])):
            one = ones[owners[index]]
            owner = f"issue {one.number} " if isinstance(one, Issue) else ""
            text = texts[index][match.start() : match.end()]
            row = Evidence(field=owner + field, pattern=match.re.pattern, text=text, place=match.start())
            yield owners[index], row
