"""What to search for: our patterns (`patterns.toml`, `test-files.toml`), the thesis's (`seed`), or those of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.collect.scan import Scanner
from pipeline.core.patches import PathPatterns, named_table, shipped_tests
from pipeline.core.patches import patterns as shipped_table
from pipeline.core.texts import Place, read_toml, wrong_value

#: the name of the thesis's patterns in place of a file
SEED = "seed"
_FIELDS = (("a11y", "text"), ("a11y", "label"), ("issue_ref", "text"))
#: each table of a file and its fields
_TABLES = {"a11y": ("text", "label", "names"), "issue_ref": ("text",), "test_file": ("path",)}


class Patterns(NamedTuple):
    """What to search for, and which files are tests."""

    title: Scanner
    body: Scanner
    label: Scanner
    reference: Scanner
    tests: PathPatterns
    names: re.Pattern[str] | None = None

    @property
    def expressions(self) -> list[list[str]]:
        """All patterns as text; results depend on them."""
        scanners = (self.title, self.body, self.label, self.reference)
        return [
            *([pattern.pattern for pattern in scanner.patterns] for scanner in scanners),
            list(self.tests.rows),
            [self.names.pattern] if self.names else [],
        ]

    def without_names(self, texts: Sequence[str]) -> Sequence[str]:
        """Texts of the same length, without names that only look like evidence."""
        if self.names is None or not self.names.search("\n".join(texts)):
            return texts
        return [self.names.sub(lambda match: " " * len(match[0]), text) for text in texts]


@cache
def shipped() -> Patterns:
    """Our patterns."""
    return _patterns(shipped_table(), None)


@cache
def seed() -> Patterns:
    """The thesis's patterns."""
    return _patterns(named_table("patterns-seed.toml"), None)


def load_patterns(path: Path) -> Patterns:
    """The patterns of a file (tables `a11y` and `issue_ref`; ours if it has no `test_file`), or `seed`.

    Raises UserError with the file, the line and the field.
    """
    if str(path) == SEED:
        return seed()
    return _patterns(
        read_toml(path, f"a TOML file like core/patterns.toml, or `{SEED}` for the thesis's patterns"), path
    )


def _patterns(table: Mapping[str, Any], path: Path | None) -> Patterns:
    _require_known(table, path)
    text, label, reference = (_rows(table, group, key, path) for group, key in _FIELDS)
    tests = _rows(table, "test_file", "path", path) if "test_file" in table else shipped_tests().rows
    rows = _rows(table, "a11y", "names", path) if "names" in table["a11y"] else []
    names = re.compile("|".join(f"(?:{row})" for row in rows), re.IGNORECASE) if rows else None
    title = Scanner(list(dict.fromkeys([*text, *label])))
    return Patterns(title, Scanner(text), Scanner(label), Scanner(reference), PathPatterns(tuple(tests)), names)


def _require_known(table: Mapping[str, Any], path: Path | None) -> None:
    """Raises UserError for a table or field of another name: it may be a misspelled one."""
    for group, section in table.items():
        if group not in _TABLES:
            raise wrong_value(path, (group,), "there is no such table", f"choose from {', '.join(_TABLES)}")
        for key in section if isinstance(section, dict) else ():
            if key not in _TABLES[group]:
                hint = f"choose from {', '.join(_TABLES[group])}"
                raise wrong_value(path, (group, key), "there is no such field", hint)


def _rows(table: Mapping[str, Any], group: str, key: str, path: Path | None) -> list[str]:
    """A list of expressions, each checked. Raises UserError."""
    section = table.get(group)
    rows = section.get(key) if isinstance(section, dict) else None
    if not isinstance(rows, list):
        raise wrong_value(path, (group, key), "not a list of expressions", "see core/patterns.toml")
    for index, row in enumerate(rows):
        _check(row, (group, key, index), path)
    return rows


def _check(row: Any, place: Place, path: Path | None) -> None:
    hint = "correct this expression (Python's re; the first is [0])"
    try:
        groups = re.compile(row).groups
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise wrong_value(path, place, f"{row!r} is not a regular expression: {error}", hint) from None
    if place[0] == "issue_ref" and not groups:
        raise wrong_value(path, place, f"{row!r} has no group for the number", hint)
