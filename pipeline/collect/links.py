"""Which issues a pull request belongs to: those that its texts name and those that GitHub itself links.

Every reference is stored with what became of it; only issues of the same repository count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pipeline.collect.patterns import Patterns
from pipeline.collect.references import references
from pipeline.collect.sources import Merged
from pipeline.core.records import Issue

#: what can come of a reference -> what it means to a person; all but the first are dropped
STATES = {
    "issue": "an issue of this repository",
    "pull_request": "the number of a pull request",
    "not_found": "GitHub knows no such number",
    "unknown": "the source has no text for this number",
    "elsewhere": "another repository's",
}
#: origins of links that close
CLOSING = ("keyword", "closing")


class Link(NamedTuple):
    """One reference; `number` is 0 when it is elsewhere.

    `origin` is `keyword` (the text says that it closes it), `text` (title or body name it) or `closing` (GitHub's own).
    """

    reference: str
    number: int
    origin: str
    state: str


class Wanted(NamedTuple):
    """The references of one pull request, before anything is known of them."""

    here: tuple[tuple[int, str], ...]
    elsewhere: tuple[tuple[str, str], ...]

    @property
    def numbers(self) -> list[int]:
        return list(dict.fromkeys(number for number, _ in self.here))


def wanted(merged: Merged, patterns: Patterns) -> Wanted:
    """The references of a pull request, those of its texts first."""
    text = references(merged.pull, patterns)
    named = ((number, "keyword" if number in text.closed else "text") for number in text.here)
    here = [*named, *((number, "closing") for number in merged.closing)]
    elsewhere = [
        *((name, "text") for name in text.elsewhere),
        *((name, "closing") for name in merged.closing_elsewhere),
    ]
    return Wanted(tuple(here), tuple(elsewhere))


def resolve(asked: Wanted, found: Mapping[int, Issue | str]) -> Iterator[Link]:
    """What came of each reference."""
    for number, origin in asked.here:
        answer = found.get(number, "unknown")
        yield Link(f"#{number}", number, origin, "issue" if isinstance(answer, Issue) else answer)
    for name, origin in asked.elsewhere:
        yield Link(name, 0, origin, "elsewhere")


def linked(merged: Merged, links: Sequence[Link], found: Mapping[int, Issue | str]) -> tuple[Issue, ...]:
    """The issues of a pull request: what its source brought along, then what it closes.

    Where it closes none that is known, those that it names.
    """
    reached = (
        found[number] for number in _numbers(link for link in links if link.origin in CLOSING) or _numbers(links)
    )
    issues = [*merged.pull.resolved_issues, *(issue for issue in reached if isinstance(issue, Issue))]
    return tuple({(issue.number, issue.title): issue for issue in reversed(issues)}.values())[::-1]


def _numbers(links: Iterable[Link]) -> list[int]:
    return list(dict.fromkeys(link.number for link in links if link.state == "issue"))
