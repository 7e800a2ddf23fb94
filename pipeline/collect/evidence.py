"""Accessibility evidence and issue references in texts, by the patterns of `patterns.toml` (the seed's appendices).

Text patterns are applied to titles and bodies, label patterns to labels and titles. Every match is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from pipeline.core.names import Repo
from pipeline.core.patches import patterns
from pipeline.core.records import Evidence, Issue, PullRequest

_URL = re.compile(r"\bgithub\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)", re.IGNORECASE)
#: any address: numbers in it are those of another place
_ADDRESS = re.compile(r"(?:https?://|\bwww\.|\bgithub\.com/)\S+", re.IGNORECASE)
_QUALIFIED = re.compile(r"(?<![\w/])([\w.-]+/[\w.-]+)#(\d+)")


@cache
def _compiled(group: str, key: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(row, re.IGNORECASE) for row in patterns()[group][key])


def references(pull: PullRequest) -> list[int]:
    """Numbers that a pull request's title and body refer to in its own repository, in order, without its own."""
    text = f"{pull.title}\n{pull.body}"
    here = [
        int(n) for pattern in (_URL, _QUALIFIED) for name, n in pattern.findall(text) if _same(name, pull.repository)
    ]
    rest = _QUALIFIED.sub(" ", _ADDRESS.sub(" ", text))
    plain = [int(m[m.re.groups].lstrip("#")) for p in _compiled("issue_ref", "text") for m in p.finditer(rest)]
    return [number for number in dict.fromkeys(here + plain) if number != pull.number]


def _same(name: str, repo: Repo) -> bool:
    return name.lower() == str(repo).lower()


def evidence(pull: PullRequest, issues: Iterable[Issue]) -> tuple[Evidence, ...]:
    """Every match in the pull request and its issues, in that order."""
    found = [*_scan("", pull.title, pull.body, pull.labels)]
    for issue in issues:
        found += _scan(f"issue {issue.number} ", issue.title, issue.body, issue.labels)
    return tuple(found)


def _scan(owner: str, title: str, body: str, labels: Iterable[str]) -> Iterator[Evidence]:
    for field, text, keys in (("title", title, ("text", "label")), ("body", body, ("text",))):
        for key in keys:
            yield from _matches(owner + field, text, key)
    for label in labels:
        yield from _matches(owner + "label", label, "label")


def _matches(field: str, text: str, key: str) -> Iterator[Evidence]:
    for pattern in _compiled("a11y", key):
        for match in pattern.finditer(text):
            yield Evidence(field=field, pattern=pattern.pattern, text=match[0], place=match.start())
