"""The issues that a pull request belongs to: those that its texts name, and those that GitHub itself links.

Every reference is stored with its result. Only issues of the same repository count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pipeline.collect.patterns import Patterns
from pipeline.collect.references import references
from pipeline.collect.sources import Merged
from pipeline.core.records import Issue

#: possible result of a reference -> its meaning; only `issue` is used further
STATES = {
    "issue": "an issue of this repository",
    "pull_request": "the number of a pull request",
    "not_found": "a number that GitHub does not know",
    "unknown": "a number for which the source has no text",
    "elsewhere": "an issue of another repository",
}
#: origins of links that close an issue
CLOSING = ("keyword", "closing")


class Link(NamedTuple):
    """One reference; `number` is 0 for another repository.

    `origin` is `keyword` (a text says that it is closed), `text` (title or body names it) or `closing` (GitHub's link).
    """

    reference: str
    number: int
    origin: str
    state: str


class Unresolved(NamedTuple):
    """The references of one pull request before they are looked up: to its own repository and to others, each with its
    origin."""

    here: tuple[tuple[int, str], ...]
    elsewhere: tuple[tuple[str, str], ...]

    @property
    def numbers(self) -> list[int]:
        return list(dict.fromkeys(number for number, _ in self.here))


def unresolved(merged: Merged, patterns: Patterns) -> Unresolved:
    """The references of a pull request, those of its texts first."""
    text = references(merged.pull, patterns, merged.names)
    named = ((number, "keyword" if number in text.closed else "text") for number in text.here)
    here = [*named, *((number, "closing") for number in merged.closing)]
    elsewhere = [
        *((name, "keyword" if name in text.closed_elsewhere else "text") for name in text.elsewhere),
        *((name, "closing") for name in merged.closing_elsewhere),
    ]
    return Unresolved(tuple(here), tuple(elsewhere))


def resolve(pending: Unresolved, answers: Mapping[int, Issue | str]) -> Iterator[Link]:
    """The result of each reference, by what the source answered about the numbers."""
    for number, origin in pending.here:
        answer = answers.get(number, "unknown")
        yield Link(f"#{number}", number, origin, "issue" if isinstance(answer, Issue) else answer)
    for name, origin in pending.elsewhere:
        yield Link(name, 0, origin, "elsewhere")


def linked(merged: Merged, links: Sequence[Link], answers: Mapping[int, Issue | str]) -> tuple[Issue, ...]:
    """The issues of a pull request: those that its source provides, then those that it closes.

    If it closes nothing, those that it names. If it closes something that is unknown or elsewhere, an issue that it
    only names is not the task.
    """
    closing = [link for link in links if link.origin in CLOSING]
    reached = (answers[number] for number in _numbers(closing or links))
    issues: dict[tuple[int, str], Issue] = {}
    for issue in (*merged.pull.resolved_issues, *(issue for issue in reached if isinstance(issue, Issue))):
        issues.setdefault((issue.number, issue.title), issue)
    return tuple(issues.values())


def _numbers(links: Iterable[Link]) -> list[int]:
    return list(dict.fromkeys(link.number for link in links if link.state == "issue"))
