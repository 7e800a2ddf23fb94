"""Errors of SQLite as errors of ours. Also runs inside the proxy's environment: standard library only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.core.errors import InfrastructureError, UserError

#: errors of SQLite for a lock that another program holds
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextmanager
def readable(path: Path, name: str, hint: str) -> Iterator[None]:
    """Raise UserError, which calls the file by `name`, for one that is no database or a broken one; and
    InfrastructureError for a lock that another program holds for too long, and for a full disk."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except (sqlite3.DatabaseError, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _IN_USE:
            message = f"{path} is in use: {error}; close the program that has it open, and run the same command again"
            raise InfrastructureError(message, cause="ledger") from None
        if code is not None and code & 0xFF == sqlite3.SQLITE_FULL:
            message = f"{path}: {error}; free some space, and run the same command again"
            raise InfrastructureError(message, cause="disk") from None
        raise UserError(f"{name} cannot be read: {error}", path=path, hint=hint) from None
