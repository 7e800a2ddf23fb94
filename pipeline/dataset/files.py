"""Writing files that a person names, without overwriting others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipeline.core.errors import UserError
from pipeline.core.store import write_bytes


def write_new(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file atomically. Raises UserError if it exists with other content, unless that may be replaced."""
    write_all({path: data}, replace=replace)


def write_all(files: Mapping[Path, bytes], *, replace: bool) -> None:
    """Write each of these files atomically. Raises UserError before any is written if one exists with other content,
    unless that may be replaced."""
    for path, data in files.items():
        if path.exists() and not replace and path.read_bytes() != data:
            raise UserError("a different file exists", path=path, hint="choose another name, or add --force")
    for path, data in files.items():
        write_bytes(path, data)
