"""The file of a ledger: its tables, and how it is made, opened and copied. SQLite.

Also runs inside the proxy's environment: standard library only.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from contextlib import AbstractContextManager, closing
from pathlib import Path

from pipeline.core import databases
from pipeline.core.errors import UserError

#: the tables of a new ledger
SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
    key_hash TEXT PRIMARY KEY, alias TEXT NOT NULL, experiment TEXT NOT NULL, repo TEXT NOT NULL, model TEXT NOT NULL,
    agent TEXT NOT NULL, settings TEXT NOT NULL, holder TEXT NOT NULL, budget_usd TEXT, created TEXT NOT NULL,
    track TEXT NOT NULL DEFAULT 'repair', answer TEXT NOT NULL DEFAULT '', cap_usd TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX IF NOT EXISTS keys_by_holder ON keys (experiment, holder);
CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, key_hash TEXT NOT NULL REFERENCES keys, model TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('llm', 'embedding')), tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0, tokens_cached INTEGER NOT NULL DEFAULT 0,
    tokens_stored INTEGER NOT NULL DEFAULT 0, cost_usd TEXT NOT NULL DEFAULT '0', latency_ms INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL, tokens_reasoning INTEGER NOT NULL DEFAULT 0, sends INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS requests_by_key ON requests (key_hash);
CREATE TABLE IF NOT EXISTS refusals (
    key_hash TEXT PRIMARY KEY REFERENCES keys, cause TEXT NOT NULL DEFAULT 'budget_exceeded'
) STRICT;
CREATE TABLE IF NOT EXISTS admitted (key_hash TEXT PRIMARY KEY REFERENCES keys, gateway TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS served (
    key_hash TEXT NOT NULL REFERENCES keys, model TEXT NOT NULL, fingerprint TEXT NOT NULL,
    PRIMARY KEY (key_hash, model, fingerprint)
) STRICT;
CREATE TABLE IF NOT EXISTS spent (experiment TEXT PRIMARY KEY, cost_usd TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS worst (id TEXT PRIMARY KEY REFERENCES requests, cost_usd TEXT NOT NULL) STRICT;
"""
#: seconds that a connection waits for another one's lock
PATIENCE = 30
#: what an error calls the file, and its advice
_NAME = "the ledger"
_HINT = "restore a copy, or move it away; without it, earlier spending no longer counts towards budgets"

#: columns that older ledgers lack -> their declaration, with the value for existing rows
ADDED = {
    ("keys", "track"): "TEXT NOT NULL DEFAULT 'repair'",
    ("keys", "answer"): "TEXT NOT NULL DEFAULT ''",
    ("keys", "cap_usd"): "TEXT NOT NULL DEFAULT ''",
    ("requests", "tokens_reasoning"): "INTEGER NOT NULL DEFAULT 0",
    ("requests", "sends"): "INTEGER NOT NULL DEFAULT 0",
    ("refusals", "cause"): "TEXT NOT NULL DEFAULT 'budget_exceeded'",
}


def readable(path: Path) -> AbstractContextManager[None]:
    """Raises UserError for a file that is not a ledger, or a broken one, and InfrastructureError for a lock that
    another program holds for too long, and for a full disk."""
    return databases.readable(path, _NAME, _HINT)


def _no_ledger(path: Path, message: str) -> UserError:
    return UserError(f"{_NAME} cannot be read: {message}", path=path, hint=_HINT)


def opened(path: Path) -> sqlite3.Connection:
    """A connection to a ledger for writing. A missing ledger is made first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(path):
        _make(path)
    _require_file(path)
    db = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
    try:
        _require_tables(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def _make(path: Path) -> None:
    """Make a ledger without rows, unless another process is first. The file appears with all its tables, so a file
    without them was cut short and does not count as a new ledger."""
    new = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with closing(sqlite3.connect(new)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA)
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            new.rename(path)
    finally:
        new.unlink(missing_ok=True)


def copied(path: Path) -> sqlite3.Connection:
    """A copy of a ledger in memory."""
    _require_file(path)
    db = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        with closing(sqlite3.connect(_address(path), timeout=PATIENCE, uri=True)) as source:
            source.execute("PRAGMA query_only = ON")
            _require_tables(source, path)
            source.backup(db)
    except BaseException:
        db.close()
        raise
    return db


def _address(path: Path) -> str:
    """How to open a ledger that is only read. In a writable folder, SQLite briefly makes files beside the ledger, so
    that it can wait for a writer. In any other folder, the file alone is read, unless its journal has further rows."""
    path = path.resolve()  # SQLite follows links, too
    journal = path.with_name(f"{path.name}-wal")
    if os.access(path.parent, os.W_OK):
        return f"{path.as_uri()}?mode=rw"
    return f"{path.as_uri()}?{'mode=ro' if journal.exists() and journal.stat().st_size else 'immutable=1'}"


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise _no_ledger(path, "it is not a file" if path.exists() else "the link leads nowhere")


def _require_tables(db: sqlite3.Connection, path: Path) -> None:
    """Raise UserError for a database of something else."""
    present = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not present:
        raise _no_ledger(path, "it is empty")
    if missing := [table for table in ("keys", "requests") if table not in present]:
        raise _no_ledger(path, f"it has no table '{missing[0]}'")
