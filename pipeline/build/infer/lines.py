"""Node's release lines by date: which one was long-term, and which one a version, a name or a range means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from pipeline.build.infer.tree import table
from pipeline.ecosystems import versions

#: words for the newest release, and for the newest long-term one
_NEWEST, _LONG_TERM = ("node", "latest", "current", "stable"), ("lts/*", "lts", "lts/latest", "--lts")


class Line(NamedTuple):
    """A release line; days are ISO dates, `lts` is empty if it never became a long-term line."""

    major: int
    released: str
    ends: str
    name: str = ""
    lts: str = ""

    @property
    def last(self) -> str:
        """A version above all versions of the line."""
        return f"{self.major}.99.99"


@cache
def lines() -> tuple[Line, ...]:
    """All lines, newest first."""
    return tuple(Line(**row) for row in table("node.toml")["line"])


def long_term(date: str) -> Line:
    """The newest long-term line on a day; the oldest line before there was one."""
    return next((line for line in lines() if line.lts and line.lts <= date), lines()[-1])


def maintained(major: int, date: str) -> bool:
    """Whether a line was a long-term line on a day and had not ended."""
    return any(line.major == major and line.lts and line.lts <= date < line.ends for line in lines())


def preferred(date: str) -> list[Line]:
    """All lines, the likeliest for a project of that day first: the long-term line, older ones, newer ones."""
    first = long_term(date)
    older = [line for line in lines() if line.major < first.major]
    newer = [line for line in reversed(lines()) if line.major > first.major]
    return [first, *sorted(older, key=lambda line: not line.lts), *sorted(newer, key=lambda line: not line.lts)]


def within(wanted: str, candidates: Iterable[Line]) -> str:
    """The first line that a range allows, or the version of that line that the range names; empty for none."""
    return next(_allowed(wanted, candidates), "")


def _allowed(wanted: str, candidates: Iterable[Line]) -> Iterator[str]:
    bounds = [bound for bound in versions.lower_bounds(wanted) if versions.satisfies(versions.full(bound), wanted)]
    for line in candidates:
        if versions.satisfies(line.last, wanted):
            yield str(line.major)
        yield from (bound for bound in bounds if versions.major(bound) == line.major)


def named(text: str, date: str) -> str:
    """The version that a text means on a day: `v18.2`, `18.x`, `lts/hydrogen`, `lts/*`, `node`, `>=16`; else empty.

    A line before the first one that is known counts as none: nothing of ours runs on it.
    """
    word = text.strip().strip("'\"").lower()
    if word in _NEWEST:
        return str(next((line for line in lines() if line.released <= date), lines()[-1]).major)
    if word in _LONG_TERM:
        return str(long_term(date).major)
    if word.startswith("lts/"):
        return next((str(line.major) for line in lines() if line.name == word[4:] and line.name), "")
    if exact := versions.exact(word):
        return exact if versions.major(exact) >= lines()[-1].major else ""
    return within(word, preferred(date)) if word else ""
