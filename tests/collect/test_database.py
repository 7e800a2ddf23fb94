"""A repository's database: every pull request that was looked at, full-text search, and whole pages only."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import sqlite_utils
from factories import REPO, make_candidate, make_pull_request, make_rejection

from pipeline.collect.database import Database, open_index
from pipeline.collect.funnel import Sifted
from pipeline.collect.links import Link
from pipeline.collect.pages import Place, Seen
from pipeline.collect.sources import Merged
from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Candidate, Evidence, Issue, Rejection
from pipeline.core.store import Store

ISSUE = Issue(number=10, title="Menu has no name", body="A screen reader says nothing.", labels=("a11y",))
FOUND = Evidence(field="title", pattern="aria", text="aria", place=4)


def sifted(number: int = 1, **more: object) -> tuple[Seen, str]:
    pull = make_pull_request(number, title=f"Add aria {number}", body="The carousel")
    merged = Merged(pull, ("src/Menu.tsx",), updated_at="2024-05-06T07:08:09Z")
    candidate = make_candidate(number, title=pull.title)
    found_pull = Sifted(merged, candidate, (Link("#10", 10, "text", "issue"),), (ISSUE,), (FOUND,))._replace(**more)
    return Seen.of(found_pull), Seen.of(found_pull).line()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Store(tmp_path / "data").raw(REPO) / "collect.sqlite"


def test_everything_of_a_pull_request_is_there(path: Path) -> None:
    with Database(path) as database:
        database.save([sifted()], {}, Place(), cursor="after 1")
        assert database.get("cursor") == "after 1"
    with sqlite_utils.Database(path) as found:
        (pull,) = found["pull_requests"].rows
        assert (pull["number"], pull["outcome"], pull["files"]) == (1, "candidate", '["src/Menu.tsx"]')
        assert pull["updated_at"] == "2024-05-06T07:08:09Z"
        (link,) = found["links"].rows
        assert link == {"pull": 1, "reference": "#10", "number": 10, "origin": "text", "state": "issue"}
        (issue,) = found["issues"].rows
        assert (issue["title"], issue["labels"]) == ("Menu has no name", '["a11y"]')
        (piece,) = found["evidence"].rows
        assert piece == {"pull": 1} | FOUND.model_dump()


@pytest.mark.parametrize(("table", "word"), [("pull_requests", "carousel"), ("issues", "nothing")])
def test_full_text_search(path: Path, table: str, word: str) -> None:
    """After a new decision, a pull request is found by its new words and not by the old ones."""
    with Database(path) as database:
        database.save([sifted()], {}, Place())
        database.save([sifted()], {}, Place())
    with sqlite_utils.Database(path) as found:
        assert len(list(found[table].search(word))) == 1
        assert list(found[table].search("zebra")) == []


def test_a_new_page_replaces_the_old_one(path: Path) -> None:
    with Database(path) as database:
        database.save([sifted(1), sifted(2)], {}, Place())
        database.save([sifted(1, outcome=make_rejection(1, reason="binary"), links=(), evidence=())], {}, Place())
        assert database.reasons() == [("binary", 1)]
        assert len(list(database.records(Candidate))) == 1
    with sqlite_utils.Database(path) as found:
        assert [row["pull"] for row in found["links"].rows] == [2]
        assert [row["pull"] for row in found["evidence"].rows] == [2]


@pytest.mark.rule("resume")
def test_a_page_is_saved_completely_or_not_at_all(path: Path) -> None:
    """A page that fails halfway leaves neither its first half nor its cursor."""

    def breaks():
        yield sifted(2)
        raise RuntimeError("in the middle")

    with Database(path) as database:
        database.save([sifted(1)], {}, Place(), cursor="after 1")
        with pytest.raises(RuntimeError):
            database.save(breaks(), {}, Place(), cursor="after 2")
        assert database.get("cursor") == "after 1"
        assert len(list(database.records(Candidate))) == 1


def test_records_are_sorted_by_number(path: Path) -> None:
    with Database(path) as database:
        database.save([sifted(number) for number in (30, 4, 11)], {}, Place())
        assert ['"number":4,' in record for record in database.records(Candidate)] == [True, False, False]


def test_an_unreadable_database_is_rebuilt(path: Path) -> None:
    """It is only an index: if it is missing, incomplete or has another layout, it is rebuilt (collected.py)."""
    for text in (b"", b"no database", None):
        with open_index(path) as database:
            database.save([sifted(1)], {}, Place(), cursor="after 1")
        if text is None:
            with sqlite_utils.Database(path) as made:
                made.execute("pragma user_version = 1")
        else:
            path.write_bytes(text)
        with open_index(path) as database:
            assert (database.get("cursor"), database.numbers({Candidate, Rejection})) == ("", [])


def test_a_database_that_is_damaged_beyond_its_head_is_rebuilt(path: Path) -> None:
    with open_index(path) as database:
        database.save([sifted(number) for number in range(1, 60)], {}, Place(), cursor="after 1")
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * 8192 + data[12288:])
    with open_index(path) as database:
        assert (database.get("cursor"), database.numbers({Candidate, Rejection})) == ("", [])


def test_a_database_in_use_is_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_index(path) as database:
        database.save([sifted(1)], {}, Place(), cursor="after 1")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0))
    with closing(sqlite3.connect(path)) as other:
        other.execute("pragma journal_mode = delete")
        other.execute("begin exclusive")
        with pytest.raises(InfrastructureError, match="is in use: database is locked"):
            open_index(path)
    with open_index(path) as database:
        assert database.get("cursor") == "after 1"
