"""Errors of SQLite as errors of ours: what is broken, and what is only in use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.core.databases import readable
from pipeline.core.errors import InfrastructureError, UserError


@pytest.mark.rule("bad-input")
def test_a_file_that_is_no_database_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"no database, but longer than its head" * 100)
    refused = pytest.raises(UserError, match="the index cannot be read: file is not a database")
    with refused as error, readable(path, "the index", "delete it"), closing(sqlite3.connect(path)) as db:
        db.execute("SELECT * FROM sqlite_master")
    assert (error.value.path, error.value.hint) == (path, "delete it")


def test_a_database_in_use_is_no_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    with closing(sqlite3.connect(path)) as other, closing(sqlite3.connect(path, timeout=0)) as db:
        other.execute("BEGIN EXCLUSIVE")
        refused = pytest.raises(InfrastructureError, match="is in use: database is locked")
        with refused, readable(path, "the index", "delete it"):
            db.execute("CREATE TABLE a (b)")


def test_an_error_of_the_program_stays_what_it_is(tmp_path: Path) -> None:
    raised = pytest.raises(sqlite3.ProgrammingError)
    with (
        closing(sqlite3.connect(tmp_path / "index.sqlite")) as db,
        raised,
        readable(tmp_path, "the index", "delete it"),
    ):
        db.execute("SELECT ?", ())
