"""Corrections of inferred environments by people: single fields, for an interval of pull requests.

Reads `repos/<org>__<repo>.toml`, described in repos/README.md. Writes nothing. Raises UserError for an invalid file
before any work starts.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from pipeline.core.errors import UserError, fault, unknown
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Environment
from pipeline.core.texts import parse_toml, read_text, wrong_value
from pipeline.ecosystems import all_managers, all_parsers, all_runners

FOLDER = Path(__file__).with_name("repos")
FIELDS = [name for name in Environment.model_fields if name != "evidence"]
HINT = "correct the file, as pipeline/build/repos/README.md says, or remove it"

Bound = int | datetime.date | None


class Override(NamedTuple):
    """Fields for pull requests by number or day of merging, from `first` to `last`: both included, None is open."""

    first: Bound
    last: Bound
    fields: dict[str, Any]
    location: str

    def covers(self, candidate: Candidate) -> bool:
        bounds = [bound for bound in (self.first, self.last) if bound is not None]
        point: Any = candidate.number
        if bounds and isinstance(bounds[0], datetime.date):
            if not candidate.merged_at:
                return False  # some imported candidates have no date
            point = _day(candidate)
        return (self.first is None or self.first <= point) and (self.last is None or point <= self.last)


def _day(candidate: Candidate) -> datetime.date:
    """The day of merging. Raises UserError for a date that is none, which an imported candidate may have."""
    try:
        return datetime.date.fromisoformat(candidate.merged_at[:10])
    except ValueError:
        hint = "correct the date in the records, and collect them again; overrides by date need one"
        message = f"{candidate.instance_id}: '{candidate.merged_at}' is not a date"
        raise UserError(message, field="merged_at", hint=hint) from None


def folder() -> Path:
    """The folder of the files: A11Y_BENCH_REPOS, else `repos` beside this module. Raises UserError if it is none."""
    chosen = os.environ.get("A11Y_BENCH_REPOS")
    if chosen and not Path(chosen).is_dir():
        hint = "name the folder with the overrides, or unset the variable"
        raise UserError("no such folder", path=Path(chosen), field="A11Y_BENCH_REPOS", hint=hint)
    return Path(chosen) if chosen else FOLDER


def fixed(candidate: Candidate) -> dict[str, tuple[Any, str]]:
    """The overridden fields of a candidate, each with its evidence; later overrides of a file win."""
    covering = [override for override in read(candidate.repository) if override.covers(candidate)]
    return {name: (value, override.location) for override in covering for name, value in override.fields.items()}


def read(repo: Repo) -> list[Override]:
    """The overrides of a repository, in the order of their file; none without a file. Raises UserError."""
    path = folder() / f"{repo.slug}.toml"
    if not path.exists():
        return []
    return list(parse(read_text(path), path))


def parse(text: str, path: Path) -> Iterator[Override]:
    """The overrides of a file's text, in their order; `path` names the file in errors. Raises UserError."""
    data = parse_toml(text, path, HINT)
    if set(data) - {"override"} or not isinstance(data.get("override", []), list):
        raise wrong_value(path, (_first(data),), "only [[override]] tables are allowed", HINT)
    for number, table in enumerate(data.get("override", []), 1):
        yield _override(path, number, table)


def _override(path: Path, number: int, table: Any) -> Override:
    if not isinstance(table, dict) or set(table) - {"from", "to", "set"}:
        raise _wrong(path, number, "only `from`, `to` and `set` are allowed")
    first, last, fields = table.get("from"), table.get("to"), table.get("set")
    if not isinstance(fields, dict) or not fields:
        raise _wrong(path, number, "it sets no field", "set")
    for name, bound in (("from", first), ("to", last)):
        if type(bound) not in (int, datetime.date, type(None)):
            message = "it must be the number of a pull request, or a date (2019-01-31)"
            raise _wrong(path, number, message, name)
    if first is not None and last is not None and (type(first) is not type(last) or first > last):
        raise _wrong(path, number, "the interval is empty, or mixes numbers and dates", "from")
    checked = {name: _value(path, number, name, value) for name, value in fields.items()}
    return Override(first, last, checked, f"repos/{path.name}: override[{number}]")


def _wrong(path: Path, number: int, message: str, *names: str, hint: str | None = HINT) -> UserError:
    """The error for a value of an override; they are numbered from 1, also in records."""
    field = ".".join((f"override[{number}]", *names))
    return wrong_value(path, ("override", number - 1, *names), message, hint, field)


#: field -> what it can name
_KNOWN: dict[str, Callable[[], Iterable[str]]] = {
    "manager": all_managers,
    "runner": all_runners,
    "parser": all_parsers,
}


def _value(path: Path, number: int, name: str, value: Any) -> Any:
    if name not in FIELDS:
        raise _unknown(path, number, name, unknown("field", name, list(FIELDS)))
    try:
        form: Any = Environment.model_fields[name].annotation
        checked = TypeAdapter(form).validate_python(value)
        if name in _KNOWN and checked not in (known := _KNOWN[name]()):
            raise _unknown(path, number, name, unknown(name, checked, list(known)))
        return checked
    except ValidationError as error:
        raise _wrong(path, number, fault(error.errors()[0]), "set", name) from None


def _unknown(path: Path, number: int, name: str, error: UserError) -> UserError:
    return _wrong(path, number, error.message, "set", name, hint=error.hint)


def _first(data: dict[str, Any]) -> str:
    return next((key for key in data if key != "override"), "override")
