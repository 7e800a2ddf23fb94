"""The base of every record (strict, frozen, with the version that wrote it), and the digest of records.

It is apart from the records themselves (`records`), since the module of verdicts between them (`verdict`) needs it.
Reads and writes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict

from pipeline import __version__
from pipeline.core.amounts import amount
from pipeline.core.names import is_canonical

SCHEMA_VERSION: Final = 2

#: an amount of money in records
Usd = Annotated[Decimal, AfterValidator(amount)]


def _canonical(text: str) -> str:
    name, _, variant = text.partition("~")
    if not is_canonical(name) or not re.fullmatch(r"[0-9a-z]*", variant):
        raise ValueError("not the name of an instance in the form org__repo-N")
    return text


#: the name of an instance, which is also the name of its folders; behind it may be `~` and a variant of its gold patch
InstanceId = Annotated[str, AfterValidator(_canonical)]

#: fields about the record itself, not about its subject
_ABOUT_ITSELF = {"schema_version", "tool"}


class Record(BaseModel):
    """Rejects unknown fields, so that a typo never passes as data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields. Cached properties of the original are computed again."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


class Versioned(Record):
    """A record that is stored in a file. `tool` is the version of this program that made it."""

    schema_version: Literal[2] = SCHEMA_VERSION
    tool: str = __version__


def digest(*parts: Any) -> str:
    """A digest of text, bytes, records and plain data, in order: it names what was made of them.

    Records count without defaults and without fields about themselves, so that a new field with a default, a new schema
    or a new version of this program makes nothing stale.
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
