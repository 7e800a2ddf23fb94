"""Vectors, stored between the tasks of a repository by a digest of everything that they depend on.

Reads and writes `vectors.sqlite` in the cache folder. Processes share it, so nothing is embedded twice. Vectors are
unit vectors of 32-bit floats, so the product of two is their cosine.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock

SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, rows INTEGER NOT NULL, data BLOB NOT NULL) STRICT"
AT_ONCE = 500  # keys per query, below SQLite's limit of parameters
WAIT = 60  # seconds to wait for another writer

Matrix = np.ndarray


class VectorCache:
    """The stored vectors of one folder. Not safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / "vectors.lock")
        with self._lock:
            self._db = sqlite3.connect(folder / "vectors.sqlite", timeout=WAIT)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(SCHEMA)

    def get(self, keys: Iterable[str]) -> dict[str, Matrix]:
        """The stored vectors of these keys: one row per embedded piece."""
        wanted, found = list(keys), {}
        for start in range(0, len(wanted), AT_ONCE):
            part = wanted[start : start + AT_ONCE]
            query = f"SELECT key, rows, data FROM vectors WHERE key IN ({','.join('?' * len(part))})"
            for key, rows, data in self._db.execute(query, part):
                found[key] = np.frombuffer(data, dtype=np.float32).reshape(rows, -1)
        return found

    def put(self, made: Mapping[str, Matrix]) -> None:
        """Store vectors."""
        rows = [(key, len(matrix), matrix.tobytes()) for key, matrix in made.items()]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    @contextmanager
    def filling(self) -> Iterator[None]:
        """A lock under which one process embeds what is missing; the others wait and then find it."""
        with self._lock:
            yield


def unit(rows: Iterable[Iterable[float]]) -> Matrix:
    """The vectors as rows of a matrix, each of length 1; a zero vector stays one."""
    matrix = np.asarray(list(rows), dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(lengths, lengths, 1)
