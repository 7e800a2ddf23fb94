"""Append-only files: appended records are read back, and a killed writer loses its own record only."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.core import journal
from pipeline.core.errors import UserError
from pipeline.core.records import Decision, Issue

TEXTS = st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace").decode())
FAST = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
#: appends its records one by one, as a command does
WRITER = """
import sys
from pathlib import Path
from pipeline.core import journal
from pipeline.core.records import Issue
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 40):
    journal.append(Path(sys.argv[1]), [Issue(number=number, title="x" * 3000, body="")])
"""


def issues(*titles: str) -> list[Issue]:
    return [Issue(number=number, title=title, body="") for number, title in enumerate(titles, 1)]


@FAST
@given(st.lists(st.lists(TEXTS, max_size=3), max_size=4))
def test_appended_records_are_read_back_in_order(tmp_path: Path, batches: list[list[str]]) -> None:
    """Whatever line endings and control characters the texts contain."""
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    for titles in batches:
        journal.append(path, issues(*titles))
    assert journal.read(path, Issue) == [issue for titles in batches for issue in issues(*titles)]


@FAST
@given(st.integers(min_value=0))
def test_a_killed_writer_loses_only_its_own_record(tmp_path: Path, at: int) -> None:
    path, first, second, third = tmp_path / "journal.jsonl", *issues("one", "two", "three")
    path.unlink(missing_ok=True)
    journal.append(path, [first])
    begin = path.stat().st_size
    journal.append(path, [second])
    end = begin + at % (path.stat().st_size - begin + 1)
    os.truncate(path, end)
    before = journal.read(path, Issue)
    assert before in ([first], [first, second])
    journal.append(path, [third])
    assert journal.read(path, Issue) == [*before, third]


def test_writers_at_once_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(first)]) for first in (0, 100)]
    assert [writer.wait() for writer in writers] == [0, 0]
    numbers = [issue.number for issue in journal.read(path, Issue)]
    assert sorted(numbers) == [*range(40), *range(100, 140)]
    assert [number for number in numbers if number < 100] == [*range(40)]


@pytest.mark.rule("bad-input")
def test_a_broken_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    """A killed writer can break only the last line; any other broken line was edited."""
    path = tmp_path / "journal.jsonl"
    journal.append(path, issues("one", "two"))
    path.write_bytes(path.read_bytes().replace(b'"one"', b'"one', 1))
    with pytest.raises(UserError) as caught:
        journal.read(path, Issue)
    assert caught.value.line == 1


@pytest.mark.rule("bad-input")
def test_a_text_that_is_not_utf_8_is_refused_with_its_field(tmp_path: Path) -> None:
    """Python passes the bytes of an argument on as halves of surrogates, which no file can hold."""
    path = tmp_path / "journal.jsonl"
    with pytest.raises(UserError, match="journal.jsonl: field 'title': a text in it is not UTF-8"):
        journal.append(path, issues("one", "Zo\udceb"))
    assert not path.exists()


def test_appending_no_records_writes_no_file(tmp_path: Path) -> None:
    journal.append(tmp_path / "journal.jsonl", [])
    assert list(tmp_path.iterdir()) == [] and journal.read(tmp_path / "journal.jsonl", Issue) == []


@FAST
@given(st.lists(st.tuples(st.sampled_from(["acme__ui-1", "acme__ui-2"]), st.integers(0, 3)), max_size=6))
def test_the_newest_record_of_each_key_counts(tmp_path: Path, made: list[tuple[str, int]]) -> None:
    """Newest by its time; of two with the same time, the later line. Keys keep the order of their first appearance."""
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    records = [
        Decision(id=str(line), time=f"2026-01-0{day}", author="ann", instance_id=name, kind="comment")
        for line, (name, day) in enumerate(made, 1)
    ]
    journal.append(path, records)
    found = journal.newest(path, Decision, ("instance_id",))
    assert [record.instance_id for record in found] == list(dict.fromkeys(name for name, _ in made))
    for record in found:
        same = [other for other in records if other.instance_id == record.instance_id]
        assert record == max(same, key=lambda other: (other.time, int(other.id)))


def test_an_incomplete_last_line_is_kept_beside_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An editor that adds no final newline, and a typo, look like a killed writer."""
    path, (first, second) = tmp_path / "journal.jsonl", issues("one", "two")
    journal.append(path, [first])
    with path.open("a", encoding="utf-8") as file:
        file.write('{"number": 7, "title": "by hand')
    journal.append(path, [second])
    assert journal.read(path, Issue) == [first, second]
    assert (tmp_path / "journal.jsonl.torn").read_text(encoding="utf-8") == '{"number": 7, "title": "by hand\n'
    assert "journal.jsonl.torn" in capsys.readouterr().err


def test_a_writer_that_waited_for_a_rewrite_appends_to_the_new_file(tmp_path: Path) -> None:
    path, (first, second) = tmp_path / "journal.jsonl", issues("one", "two")
    journal.append(path, [first])
    writer: list[threading.Thread] = []

    def change(content: bytes) -> bytes:
        writer.append(threading.Thread(target=journal.append, args=(path, [second])))
        writer[0].start()
        time.sleep(0.1)  # long enough to open the old file
        return content

    journal.rewrite(path, change)
    writer[0].join()
    assert journal.read(path, Issue) == [first, second]
