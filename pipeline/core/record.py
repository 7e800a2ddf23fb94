"""The base of every record: strict, frozen, with the version that wrote it; and the digest of what records say.

It is below the records themselves (`records`), so that the table of verdicts (`verdict`) can refer to some. Reads and
writes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict

from pipeline import __version__

SCHEMA_VERSION: Final = 2

#: what a record says of itself, and not of what it is about
_ABOUT_ITSELF = {"schema_version", "tool"}


class Record(BaseModel):
    """Unknown fields are refused, so that a typo never passes as data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields. What the original had derived of its own fields is derived anew."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


class Versioned(Record):
    """A record that stands in a file of its own. `tool` is the version of this program that made it."""

    schema_version: Literal[2] = SCHEMA_VERSION
    tool: str = __version__


def digest(*parts: Any) -> str:
    """A digest of text, bytes, records and plain data, in order: the name of what was made of them.

    Records count by what they say: without their defaults and what they say of themselves, so that a new field with a
    default, a new schema or a new version of this program makes nothing stale.
    """
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else _text(part).encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()[:32]


def _text(part: Any) -> str:
    return part if isinstance(part, str) else json.dumps(part, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.model_dump(mode="json", exclude_defaults=True, exclude=_ABOUT_ITSELF)
    return str(value)
