"""Repositories collected before pages existed, and those that lost them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlite_utils
from collecting import files, outcomes, reasons, tables
from factories import REPO
from histories import History

from pipeline.collect.stage import collect
from pipeline.core.decisions import decided
from pipeline.core.store import Store

#: what the tables lacked at that time
NEW_COLUMNS = ("said", "digest")
NEW_STATE = ("place", "exported", "exported_before", "decisions")


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first", {"src/Menu.tsx": "0\n"})
    for number, title in enumerate(("Aria", "Name", "A11y"), 1):
        text = f"{number}\n"
        made.commit(f"{title} (#{number})\n\nFixes #10", {"src/Menu.tsx": text, "src/Menu.test.tsx": text})
    return made


@pytest.fixture
def old(store: Store, history: History) -> Store:
    """Data from that time: no pages and no decisions; only a database knows what was collected."""
    collect(store, REPO, history.folder)
    collect(store, REPO, history.folder, numbers=[2])
    with sqlite_utils.Database(store.raw(REPO) / "collect.sqlite") as database:
        exported = json.loads(database["state"].get("exported")["value"])
        database["pull_requests"].disable_fts()
        database["pull_requests"].transform(drop=set(NEW_COLUMNS))
        database["state"].delete_where(f"key in ({','.join('?' * len(NEW_STATE))})", NEW_STATE)
        database["state"].insert_all({"key": name, "value": text} for name, text in exported["files"].items())
        database.execute("pragma user_version = 0")
    (store.raw(REPO) / "pages.jsonl.gz").unlink()
    store.decisions(REPO).unlink()
    return store


def test_data_of_an_earlier_version_are_taken_over(old: Store, tmp_path: Path) -> None:
    """Facts, links and evidence come from the database, manual choices become decisions, and the clone has nothing
    new."""
    before, rows = files(old), tables(old)
    empty = History(tmp_path / "empty")
    empty.commit("first")
    collect(old, REPO, empty.folder)
    after = files(old)
    unchanged = [name for name in before if "source" not in name]
    assert {name: after[name] for name in unchanged} == {name: before[name] for name in unchanged}
    found = tables(old)
    assert all(found[name] == rows[name] for name in ("issues", "links", "evidence"))
    assert [(decision.kind, decision.instance_id) for decision in decided(old, REPO)] == [("choose", "acme__ui-2")]
    collect(old, REPO, empty.folder)
    assert len(decided(old, REPO)) == 1


@pytest.mark.trap("hand-edit-lost")
def test_a_manual_edit_of_earlier_data_becomes_a_decision(old: Store, history: History) -> None:
    path = old.raw(REPO) / "candidates.jsonl"
    path.write_text(path.read_text().replace('"title":"Aria"', '"title":"Mended"'))
    collect(old, REPO, history.folder)
    assert outcomes(old)[1].title == "Mended"
    assert [decision.field for decision in decided(old, REPO) if decision.kind == "set"] == ["title"]


def test_without_a_database_the_files_are_the_facts(old: Store, history: History, tmp_path: Path) -> None:
    for path in old.raw(REPO).glob("collect.sqlite*"):
        path.unlink()
    before = reasons(old)
    empty = History(tmp_path / "empty")
    empty.commit("first")
    collect(old, REPO, empty.folder)
    assert reasons(old) == before
    assert [decision.kind for decision in decided(old, REPO)] == ["choose"]
    collect(old, REPO, history.folder)
    assert reasons(old) == before


def test_missing_pages_are_rebuilt_from_the_database(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    path = store.raw(REPO) / "candidates.jsonl"
    path.write_text(path.read_text().replace('"title":"Aria"', '"title":"Mended"'))
    collect(store, REPO, history.folder)
    before, rows = files(store), tables(store)
    (store.raw(REPO) / "pages.jsonl.gz").unlink()
    collect(store, REPO, history.folder)
    assert (files(store), tables(store)) == (before, rows)
    assert len([decision for decision in decided(store, REPO) if decision.field == "title"]) == 1
