"""Discovering the folders of runners and managers: every folder in `runners/` or `managers/` that has a table."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.core.errors import UserError, unfit, unknown


class Table(BaseModel):
    """A part of a folder's table. Unknown keys are rejected, since they would be ignored without notice."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Folder(Table):
    """A runner or manager, described by its table `<kind>.toml`; `name` is the folder's name."""

    name: str
    rank: int
    """Lower ranks come first if nothing else decides."""


F = TypeVar("F", bound=Folder)


@cache
def all_of(kind: type[F], kind_name: str) -> dict[str, F]:
    """The folders of a kind (`runner`, `manager`) by name, the lowest rank first. Raises UserError for a bad table."""
    tables = {path.name: path.joinpath(f"{kind_name}.toml") for path in _parent(kind_name).iterdir()}
    loaded = [_read(kind, name, table) for name, table in tables.items() if table.is_file()]
    return {folder.name: folder for folder in sorted(loaded, key=lambda folder: (folder.rank, folder.name))}


def by_name(kind: type[F], kind_name: str, name: str) -> F:
    """The folder of this name. Raises UserError, with the names that exist."""
    folders = all_of(kind, kind_name)
    if name not in folders:
        raise unknown(kind_name, name, list(folders))
    return folders[name]


def file(kind_name: str, name: str, path: str) -> Traversable:
    """A file of a folder."""
    return _parent(kind_name).joinpath(name, path)


def module(kind_name: str, name: str, path: str) -> str:
    """The import name of a folder's module."""
    return f"{__package__}.{kind_name}s.{name}.{path}"


def _parent(kind_name: str) -> Traversable:
    return files(__package__).joinpath(f"{kind_name}s")


def _read(kind: type[F], name: str, table: Traversable) -> F:
    try:
        return kind(name=name, **tomllib.loads(table.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"invalid TOML: {error}", path=str(table)) from None
    except ValidationError as error:
        raise unfit(error, path=str(table)) from None
