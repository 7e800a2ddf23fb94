"""The files of a repository: written from the database, and read back if people edited them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from collecting import files, reasons, tables
from factories import REPO
from histories import History

from pipeline.collect.export import write_lines
from pipeline.collect.stage import collect
from pipeline.core.names import Repo
from pipeline.core.store import Store


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first", {"src/Menu.tsx": "0\n"})
    for number, title in enumerate(("Aria", "Name", "A11y"), 1):
        text = f"{number}\n"
        made.commit(f"{title} (#{number})\n\nFixes #10", {"src/Menu.tsx": text, "src/Menu.test.tsx": text})
    return made


def test_a_missing_file_is_written_again(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    before = files(store)
    for name in before:
        if "pages" not in name:
            (store.root / name).unlink()
    collect(store, REPO, history.folder)
    assert files(store) == before


@pytest.mark.rule("one-set-of-records")
def test_a_missing_database_is_rebuilt(store: Store, history: History) -> None:
    """JSON Lines files and database contain the same: either can be rebuilt from the other."""
    collect(store, REPO, history.folder)
    before, rows = files(store), tables(store)
    for path in store.raw(REPO).glob("collect.sqlite*"):
        path.unlink()
    collect(store, REPO, history.folder)
    assert (files(store), tables(store)) == (before, rows)


def test_manual_edits_of_files_are_kept(store: Store, history: History) -> None:
    """People delete and correct lines; a run for single pull requests leaves these edits as they are."""
    collect(store, REPO, history.folder)
    path = store.raw(REPO) / "candidates.jsonl"
    first, *_ = path.read_text().splitlines(keepends=True)
    path.write_text(first.replace("Aria", "Mended by hand"))
    collect(store, REPO, history.folder, numbers=[2])
    assert reasons(store) == {1: "candidate", 2: "by hand", 3: "excluded"}
    assert "Mended by hand" in path.read_text()


def test_a_run_with_nothing_new_writes_no_file(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    before = {name: (store.root / name).stat().st_mtime_ns for name in files(store) if "source" not in name}
    empty = History(history.folder.parent / "empty")
    empty.commit("first")
    collect(store, REPO, empty.folder)
    assert {name: (store.root / name).stat().st_mtime_ns for name in before} == before


@pytest.mark.rule("table-4.1")
def test_the_table_of_all_repositories(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    collect(store, Repo("acme", "forms"), history.folder, numbers=[1])
    with (store.root / "01_raw" / "funnel.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["repo", "total", "tests", "a11y", "issues", "sample", "without_issue"]
    assert [(row["repo"], row["total"]) for row in rows] == [("acme/forms", "1"), ("acme/ui", "3")]


@pytest.mark.rule("triage-export")
def test_the_viewers_file_joins_by_instance(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    rows = [json.loads(line) for line in (store.raw(REPO) / "triage.jsonl").read_text().splitlines()]
    assert [row["instance_id"] for row in rows] == ["acme__ui-1", "acme__ui-3"]
    first = rows[0]
    assert first["url"] == "https://github.com/acme/ui/pull/1"
    assert first["a11y_reason"][0]["text"] == "Aria"
    assert first["files"] == [
        {"path": "src/Menu.tsx", "test": False, "added": 1, "removed": 1},
        {"path": "src/Menu.test.tsx", "test": True, "added": 1, "removed": 0},
    ]


def test_only_our_own_temporary_files_are_removed(store: Store, history: History) -> None:
    """Those of a killed process. An editor's, with unsaved changes, were removed, too, and a folder ended the run."""
    collect(store, REPO, history.folder)
    folder = store.raw(REPO)
    stray = folder / ".candidates.jsonl.k2_xy9ab"
    others = [folder / name for name in (".candidates.jsonl.swp", ".backup.20240102", ".rejections.jsonl.ABCDEFGH")]
    for path in (stray, *others):
        path.write_text("text")
    folders = [folder / ".settings.d", folder / ".triage.jsonl.abcdefgh"]
    for path in folders:
        path.mkdir()
    (folder / ".funnel.json.abcdefgh").symlink_to(history.folder)
    collect(store, REPO, history.folder)
    assert not stray.exists()
    assert all(path.exists() for path in (*others, *folders, folder / ".funnel.json.abcdefgh"))


def test_lines_are_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before\n")

    def breaks():
        yield "half"
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        write_lines(path, breaks())
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "before\n"
