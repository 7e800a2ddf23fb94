"""Writing files that a person names, without overwriting others."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.errors import UserError
from pipeline.core.store import write_bytes


def write_new(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file atomically. Raises UserError if it exists with other content, unless that may be replaced."""
    if path.exists() and not replace and path.read_bytes() != data:
        raise UserError("a different file exists", path=path, hint="choose another name, or add --force")
    write_bytes(path, data)
