"""Accessibility evidence and issue references in texts, by the patterns of `patterns.toml` (docs/thesis.md).

Text patterns are applied to titles and bodies, label patterns to labels and titles. Every match is kept. The patterns
of test files are no part of this: they decide verdicts too, and are `core.patches`'.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.collect.scan import Scanner
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.patches import patterns as shipped_table
from pipeline.core.records import Evidence, Issue, PullRequest

_URL = re.compile(r"\bgithub\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)", re.IGNORECASE)
#: any address: numbers in it are those of another place
_ADDRESS = re.compile(r"(?:https?://|\bwww\.|\bgithub\.com/)\S+", re.IGNORECASE)
_QUALIFIED = re.compile(r"(?<![\w/])([\w.-]+/[\w.-]+)#(\d+)")
#: digits of the largest number that an issue may have here; GitHub is far from it
_LONGEST = 9


class Patterns(NamedTuple):
    """What to look for."""

    title: Scanner
    body: Scanner
    label: Scanner
    reference: Scanner

    @property
    def expressions(self) -> list[list[str]]:
        """All of them as text: what a result depends on."""
        return [[pattern.pattern for pattern in scanner.patterns] for scanner in self]


class References(NamedTuple):
    """What a pull request's texts refer to: numbers of its own repository, and `other/repo#N`."""

    here: tuple[int, ...]
    elsewhere: tuple[str, ...]


@cache
def shipped() -> Patterns:
    """The thesis's patterns."""
    return _patterns(shipped_table(), None)


def load_patterns(path: Path) -> Patterns:
    """The patterns of another file (tables `a11y` and `issue_ref`). Raises UserError with the file and the field."""
    try:
        return _patterns(tomllib.loads(path.read_text(encoding="utf-8")), path)
    except FileNotFoundError:
        raise UserError("no such file", path=path) from None
    except ValueError as error:
        raise UserError(f"no TOML: {error}", path=path, hint="mend the file") from None


def _patterns(table: Mapping[str, Any], path: Path | None) -> Patterns:
    text, label, reference = (_rows(table, group, key, path) for group, key in _FIELDS)
    return Patterns(Scanner([*text, *label]), Scanner(text), Scanner(label), Scanner(reference))


_FIELDS = (("a11y", "text"), ("a11y", "label"), ("issue_ref", "text"))


def _rows(table: Mapping[str, Any], group: str, key: str, path: Path | None) -> list[str]:
    """One list of expressions, each checked. Raises UserError."""
    section = table.get(group)
    rows = section.get(key) if isinstance(section, dict) else None
    if not isinstance(rows, list):
        raise UserError("no list of expressions", path=path, field=f"{group}.{key}", hint="see core/patterns.toml")
    for index, row in enumerate(rows):
        _check(row, group, f"{group}.{key}[{index}]", path)
    return rows


def _check(row: Any, group: str, field: str, path: Path | None) -> None:
    hint = "mend this expression (Python's re; the first is [0])"
    try:
        groups = re.compile(row).groups
    except (re.error, TypeError) as error:
        raise UserError(f"{row!r} is no regular expression: {error}", path=path, field=field, hint=hint) from None
    if group == "issue_ref" and not groups:
        raise UserError(f"{row!r} has no group for the number", path=path, field=field, hint=hint)


def references(pull: PullRequest, patterns: Patterns | None = None) -> References:
    """What a pull request's title and body refer to, in order, without itself."""
    text = f"{pull.title}\n{pull.body}"
    named = [one for pattern in (_URL, _QUALIFIED) for one in pattern.findall(text)] if "/" in text else []
    rest = _QUALIFIED.sub(" ", _ADDRESS.sub(" ", text)) if "/" in text else text
    here = [digits for name, digits in named if _same(name, pull.repository)]
    here += [match[match.re.groups] or "" for _, match in (patterns or shipped()).reference.find([rest])]
    elsewhere = [f"{name}#{digits}" for name, digits in named if not _same(name, pull.repository)]
    own = [number for number in dict.fromkeys(map(_number, here)) if number not in (0, pull.number)]
    return References(tuple(own), tuple(dict.fromkeys(elsewhere)))


def _number(text: str) -> int:
    """`#12` or `12`; 0 for what no issue's number can be."""
    digits = text.lstrip("#")
    return int(digits) if digits.isdecimal() and len(digits) <= _LONGEST else 0


def _same(name: str, repo: Repo) -> bool:
    return name.lower() == str(repo).lower()


def evidence(
    page: Sequence[tuple[PullRequest, Iterable[Issue]]], patterns: Patterns | None = None
) -> list[tuple[Evidence, ...]]:
    """Every match in each pull request and its issues, in that order; many at once are faster than one by one."""
    owned = [(place, one) for place, (pull, issues) in enumerate(page) for one in (pull, *issues)]
    rows = sorted(_scan(patterns or shipped(), [one for _, one in owned]), key=itemgetter(0))
    found: list[tuple[Evidence, ...]] = [()] * len(page)
    for place, group in groupby(rows, lambda row: owned[row[0]][0]):
        found[place] = tuple(row for _, row in group)
    return found


def _scan(patterns: Patterns, ones: Sequence[PullRequest | Issue]) -> Iterator[tuple[int, Evidence]]:
    """Every match, with the index of what it is in: field by field, so that many texts are searched at once."""
    labels = [(index, label) for index, one in enumerate(ones) for label in one.labels]
    for field, scanner, owners, texts in (
        ("title", patterns.title, range(len(ones)), [one.title for one in ones]),
        ("body", patterns.body, range(len(ones)), [one.body for one in ones]),
        ("label", patterns.label, [index for index, _ in labels], [label for _, label in labels]),
    ):
        for index, match in scanner.find(texts):
            one = ones[owners[index]]
            owner = f"issue {one.number} " if isinstance(one, Issue) else ""
            row = Evidence(field=owner + field, pattern=match.re.pattern, text=match[0], place=match.start())
            yield owners[index], row
