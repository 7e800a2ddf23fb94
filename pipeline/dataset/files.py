"""Writing what a person asked for where the person said, and nothing over what is there."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.errors import UserError
from pipeline.core.store import write_bytes


def write_new(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file whole. Raises UserError when other bytes are there, unless they may be replaced."""
    if path.exists() and not replace and path.read_bytes() != data:
        raise UserError("a different file exists", path=path, hint="choose another name, or add --force")
    write_bytes(path, data)
