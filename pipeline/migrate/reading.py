"""Reading lines of JSON and records of schema 1, with a UserError that says where they cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from pipeline.core.errors import UserError, unfit
from pipeline.core.record import Versioned
from pipeline.core.store import parse_record
from pipeline.core.texts import parse_json, reading
from pipeline.migrate.records import OLD, Data, converted


def lines(path: Path) -> Iterator[tuple[int, bytes, Data]]:
    """The lines of a file of objects that are not blank: number, text and object. Raises UserError with the line."""
    with reading(path), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line, _parsed(path, number, line)


def _parsed(path: Path, number: int, line: bytes) -> Data:
    try:
        found = parse_json(line)
    except ValueError as error:
        raise UserError(f"invalid JSON: {error}", path=path, line=number, hint="correct or remove this line") from None
    if not isinstance(found, dict):
        raise UserError("not a JSON object", path=path, line=number, hint="correct or remove this line")
    return found


def valid(path: Path, number: int, old: Data, kind: type[Versioned]) -> Data:
    """The record of schema 2 as plain data. Raises UserError with file, line and field."""
    try:
        new = converted(kind, old)
    except (KeyError, AttributeError, TypeError) as error:
        hint = f"correct or remove this line; it should be a record {kind.__name__}"
        raise UserError(f"it is not a record of version {OLD}: {error!r}", path=path, line=number, hint=hint) from None
    except ValidationError as error:
        raise unfit(error, path=path, line=number) from None
    except UserError as error:
        raise UserError(error.message, path=path, line=number, field=error.field, hint=error.hint) from None
    parse_record(path, number, json.dumps(new).encode(), kind)
    return new


def texts(values: Data, path: Path, field: str = "") -> dict[str, str]:
    """An object whose values are texts. Raises UserError with the field."""
    if wrong := [name for name, value in values.items() if not isinstance(value, str)]:
        raise UserError("not a text", path=path, field=f"{field}{wrong[0]}", hint="correct or remove the file")
    return values
