"""People's decisions: several processes append them, they are never rewritten, and together they give a result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from factories import REPO

from pipeline.core import journal
from pipeline.core.decisions import author, decide, decided, fold, in_force, make
from pipeline.core.errors import UserError
from pipeline.core.records import Decision
from pipeline.core.store import Store

NAME = "acme__ui-1"
#: a process that appends decisions of a given size, one by one
WRITER = """
import sys
from pathlib import Path
from pipeline.core.decisions import make
from pipeline.core.journal import append
for number in range(50):
    append(Path(sys.argv[1]), [make("acme__ui-1", "comment", reason=sys.argv[2] * 5000)])
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")


def test_decisions_are_appended(store: Store) -> None:
    one, other = make(NAME, "choose"), make(NAME, "comment", reason="why")
    decide(store, REPO, [one])
    before = store.decisions(REPO).read_bytes()
    decide(store, REPO, [other])
    assert store.decisions(REPO).read_bytes().startswith(before)
    assert decided(store, REPO) == [one, other]
    assert one.id != other.id and one.time.endswith("Z")


def test_the_author_is_the_user_unless_the_variable_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("A11Y_BENCH_AUTHOR", raising=False)
    monkeypatch.setenv("LOGNAME", "bob")
    assert author() == "bob"
    monkeypatch.setenv("A11Y_BENCH_AUTHOR", "ann")
    assert make(NAME, "choose").author == "ann"


def test_several_processes_append_at_once(tmp_path: Path) -> None:
    """All lines are complete, even those larger than the system writes at once."""
    path = tmp_path / "decisions.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), letter]) for letter in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    found = [decision.reason for decision in journal.read(path, Decision)]
    assert {text: found.count(text) for text in set(found)} == {letter * 5000: 50 for letter in "abc"}


def test_an_incomplete_last_line_is_ignored(tmp_path: Path) -> None:
    path, one, other = tmp_path / "decisions.jsonl", make(NAME, "choose"), make(NAME, "undo")
    path.write_text(one.model_dump_json() + "\n" + other.model_dump_json()[:40])
    assert journal.read(path, Decision) == [one]
    journal.append(path, [other])
    assert journal.read(path, Decision) == [one, other]


def test_a_last_line_without_an_end_counts(tmp_path: Path) -> None:
    """Some editors save files this way."""
    path, one, other = tmp_path / "decisions.jsonl", make(NAME, "choose"), make(NAME, "comment")
    path.write_text(one.model_dump_json())
    assert journal.read(path, Decision) == [one]
    journal.append(path, [other])
    assert journal.read(path, Decision) == [one, other]


@pytest.mark.rule("bad-input")
def test_a_broken_decision_names_file_line_and_field(store: Store) -> None:
    decide(store, REPO, [make(NAME, "choose")])
    path = store.decisions(REPO)
    path.write_text(path.read_text() + '{"id": 1}\n')
    with pytest.raises(UserError, match=r"decisions/acme__ui\.jsonl:2: field 'id'"):
        decided(store, REPO)


def test_the_last_decision_counts() -> None:
    made = [
        make(NAME, "choose"),
        make(NAME, "set", field="title", value="One"),
        make(NAME, "set", field="title", value="Two"),
        make(NAME, "exclude", reason="story"),
        make("acme__ui-2", "comment", reason="why"),
    ]
    standing = fold(made)[NAME]
    assert (standing.chosen, standing.place, standing.fields) == (True, made[3], {"title": made[2]})
    assert fold(made)["acme__ui-2"] == ((False, None, {}))


def test_an_undo_can_be_undone() -> None:
    decision = make(NAME, "exclude", reason="story")
    undo = make(NAME, "undo", undoes=decision.id)
    redo = make(NAME, "undo", undoes=undo.id)
    assert in_force([decision, undo]) == []
    assert fold([decision, undo])[NAME].place is None
    assert in_force([decision, undo, redo]) == [decision]


def test_a_whole_record_replaces_earlier_fields() -> None:
    earlier, whole = make(NAME, "set", field="title", value="One"), make(NAME, "include", record={"number": 1})
    assert fold([earlier, whole])[NAME].fields == {}
