"""Folders that are found, not listed: every folder below `runners/` and `managers/` that holds its table is one."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.core.errors import UserError, fault, unknown


class Table(BaseModel):
    """A part of a folder's table. A key that is not known is refused: it would say nothing, and nobody would see it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Folder(Table):
    """All that is known of one runner or manager: its table, `<kind>.toml`; `name` is the folder's."""

    name: str
    rank: int
    """Those of a lower rank go first, where nothing else decides."""


F = TypeVar("F", bound=Folder)


@cache
def found(kind: type[F], word: str) -> dict[str, F]:
    """The folders of a kind (`runner`, `manager`) by name, the lowest rank first. Raises UserError for a bad table."""
    tables = [(one.name, table) for one in _place(word).iterdir() if (table := one.joinpath(f"{word}.toml")).is_file()]
    read = [_read(kind, name, table) for name, table in tables]
    return {one.name: one for one in sorted(read, key=lambda one: (one.rank, one.name))}


def one(kind: type[F], word: str, name: str) -> F:
    """The folder of that name. Raises UserError, which lists those that there are."""
    folders = found(kind, word)
    if name not in folders:
        raise unknown(word, name, list(folders))
    return folders[name]


def file(word: str, name: str, path: str) -> Traversable:
    """A file of a folder."""
    return _place(word).joinpath(name, path)


def module(word: str, name: str, path: str) -> str:
    """What a module of a folder is imported as."""
    return f"{__package__}.{word}s.{name}.{path}"


def _place(word: str) -> Traversable:
    return files(__package__).joinpath(f"{word}s")


def _read(kind: type[F], name: str, table: Traversable) -> F:
    try:
        return kind(name=name, **tomllib.loads(table.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"invalid TOML: {error}", path=str(table)) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(fault(first), path=str(table), field=".".join(map(str, first["loc"]))) from None
