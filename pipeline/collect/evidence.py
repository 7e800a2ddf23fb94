"""Accessibility evidence and issue references in texts, by the patterns of `patterns.toml` (the seed's appendices).

Text patterns are applied to titles and bodies, label patterns to labels and titles. Every match is kept. The patterns
of test files are no part of this: they decide verdicts too, and are `core.patches`'.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
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
    """The seed's patterns."""
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
    here += [match[match.re.groups] or "" for match in (patterns or shipped()).reference.find(rest)]
    elsewhere = [f"{name}#{digits}" for name, digits in named if not _same(name, pull.repository)]
    own = [number for number in dict.fromkeys(map(_number, here)) if number not in (0, pull.number)]
    return References(tuple(own), tuple(dict.fromkeys(elsewhere)))


def _number(text: str) -> int:
    """`#12` or `12`; 0 for what no issue's number can be."""
    digits = text.lstrip("#")
    return int(digits) if digits.isdecimal() and len(digits) <= _LONGEST else 0


def _same(name: str, repo: Repo) -> bool:
    return name.lower() == str(repo).lower()


def evidence(pull: PullRequest, issues: Iterable[Issue], patterns: Patterns | None = None) -> tuple[Evidence, ...]:
    """Every match in the pull request and its issues, in that order."""
    used = patterns or shipped()
    found = _scan(used, "", pull)
    for issue in issues:
        found += _scan(used, f"issue {issue.number} ", issue)
    return tuple(found)


def _scan(patterns: Patterns, owner: str, one: PullRequest | Issue) -> list[Evidence]:
    """One look at all texts together first: most have nothing."""
    if not patterns.title.suspects("\n".join((one.title, one.body, *one.labels))):
        return []
    fields = (("title", one.title, patterns.title), ("body", one.body, patterns.body))
    labels = (("label", label, patterns.label) for label in one.labels)
    return [
        Evidence(field=owner + field, pattern=match.re.pattern, text=match[0], place=match.start())
        for field, text, scanner in (*fields, *labels)
        for match in scanner.find(text)
    ]
