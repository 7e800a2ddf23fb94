"""Accessibility evidence in texts, by the patterns of `core/patterns.toml` (docs/mining.md).

Text patterns apply to titles and bodies, label patterns to labels and titles. Every match is stored. In bodies, only
text that a person wrote is searched (prose.py). References to issues are in `references`.
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
    """Every match in each pull request and its issues, in that order. One call for a whole page is fastest."""
    holders: list[tuple[int, PullRequest | Issue]] = []
    for index, (pull, issues) in enumerate(page):
        holders += [(index, pull), *((index, issue) for issue in issues)]
    rows = sorted(_scan(patterns or shipped(), [holder for _, holder in holders]), key=itemgetter(0))
    matches: list[tuple[Evidence, ...]] = [()] * len(page)
    for index, group in groupby(rows, lambda row: holders[row[0]][0]):
        matches[index] = tuple(row for _, row in group)
    return matches


def _scan(patterns: Patterns, holders: Sequence[PullRequest | Issue]) -> Iterator[tuple[int, Evidence]]:
    """Every match with the index of its pull request or issue. Searches all texts of a field at once."""
    labels = [(index, label) for index, holder in enumerate(holders) for label in holder.labels]
    for field, scanner, indices, texts, searched in (
        ("title", patterns.title, range(len(holders)), [holder.title for holder in holders], str),
        ("body", patterns.body, range(len(holders)), [holder.body for holder in holders], filled),
        ("label", patterns.label, [index for index, _ in labels], [label for _, label in labels], str),
    ):
        for index, match in scanner.find(patterns.without_names([searched(text) for text in texts])):
            holder = holders[indices[index]]
            prefix = f"issue {holder.number} " if isinstance(holder, Issue) else ""
            text = texts[index][match.start() : match.end()]
            row = Evidence(field=prefix + field, pattern=match.re.pattern, text=text, place=match.start())
            yield indices[index], row
