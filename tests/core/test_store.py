"""The data directory: complete writes, errors with a location, units, and archived results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any

import factories
import pytest
from factories import make_prediction

from pipeline.core import journal
from pipeline.core import store as files
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, folder_name
from pipeline.core.records import Issue, Rejection
from pipeline.core.store import (
    Store,
    Unit,
    digest,
    read_field,
    read_json,
    read_object,
    read_record,
    read_records,
    whose_run,
    write_bytes,
    write_json,
    write_records,
)

REPO = factories.REPO


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")


def line(path: Path, text: str | bytes) -> Path:
    write_bytes(path, text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.rule("bad-input")
def test_what_editors_put_before_a_text_is_no_part_of_a_record(tmp_path: Path) -> None:
    """The advice was to remove the line, which excluded a candidate."""
    path, line = tmp_path / "issues.jsonl", Issue(number=1, title="Menu").model_dump_json()
    path.write_text(line, encoding="utf-8-sig")
    assert read_records(path, Issue) == [Issue(number=1, title="Menu")]
    path.write_text(line, encoding="utf-16")
    with pytest.raises(UserError, match=r"not UTF-8\n.*save it as UTF-8"):
        read_records(path, Issue)


def test_a_failing_writer_leaves_the_old_file(tmp_path: Path) -> None:
    """Records are made while they are written, and an error must not destroy the old file."""
    path = tmp_path / "deep" / "records.jsonl"
    write_records(path, [factories.make_rejection(1)])
    before = path.read_bytes()

    def broken():
        yield factories.make_rejection(2)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_records(path, broken())
    with pytest.raises(TypeError):
        write_bytes(path, "text is no bytes")
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["records.jsonl"]


def test_a_written_file_is_readable_by_other_users(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"ä": 1})
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "ä": 1\n}\n'


def test_records_are_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    records = [factories.make_rejection(number, detail="a\nb\u2028c") for number in (3, 1, 2)]
    write_records(path, records)
    assert read_records(path, Rejection) == records
    assert len(path.read_bytes().splitlines()) == 3


@pytest.mark.trap("link-that-leads-nowhere")
@pytest.mark.parametrize("target", ["nowhere", "records.jsonl"], ids=["dangling", "circular"])
@pytest.mark.parametrize("read", [read_records, journal.read])
def test_a_broken_link_is_not_an_empty_file(tmp_path: Path, target: str, read: Callable[..., Any]) -> None:
    """Data on a disk that was not mounted looked like data that never existed."""
    path = tmp_path / "records.jsonl"
    path.symlink_to(target)
    with pytest.raises(UserError, match="the link leads nowhere") as error:
        read(path, Issue)
    assert error.value.path == path


@pytest.mark.trap("link-that-leads-nowhere")
def test_a_stage_folder_that_is_a_broken_link_is_refused(store: Store) -> None:
    store.begin()
    (store.root / "02_dataset").symlink_to("nowhere")
    with pytest.raises(UserError, match="the link leads nowhere"):
        store.repositories("02_dataset")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("read", [partial(read_records, kind=Issue), partial(journal.read, kind=Issue), read_json])
def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    with pytest.raises(UserError, match="cannot be read: Is a directory") as error:
        read(tmp_path)
    assert error.value.path == tmp_path


def test_a_missing_file_has_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path / "none.jsonl", Issue) == []


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ('{"number": "x", "title": "t"}', "number"),
        ('{"number": 1}', "title"),
        ('{"number": 1, "title": "t", "typo": 1}', "typo"),
        ('{"number": 1, "title": "t", "labels": ["a", 2]}', "labels.1"),
        ('{"number": 1', None),
        (b'{"number": 1, "title": "\xff"}', None),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, bad: str | bytes, field: str | None) -> None:
    """The error names file, line and field, and what to do: datasets of thousands of lines are fixed by hand."""
    good = b'{"number": 1, "title": "t"}\n\n'
    path = line(tmp_path / "issues.jsonl", good + (bad if isinstance(bad, bytes) else bad.encode()))
    with pytest.raises(UserError) as error:
        read_records(path, Issue)
    assert (error.value.path, error.value.line, error.value.field) == (path, 3, field)
    assert f"{path}:3: " in str(error.value)
    assert "a11y-bench schema Issue" in str(error.value)


@pytest.mark.parametrize(("text", "where"), [("{\n\n!", 3), (b'{"a": "\xff"}', None)])
def test_broken_json_is_named(tmp_path: Path, text: str | bytes, where: int | None) -> None:
    path = line(tmp_path / "source.json", text)
    with pytest.raises(UserError, match="invalid JSON") as error:
        read_json(path)
    assert (error.value.path, error.value.line) == (path, where)
    with pytest.raises(UserError, match="no such file"):
        read_json(tmp_path / "none.json")


@pytest.mark.rule("schema-version")
@pytest.mark.parametrize("content", ['{"schema_version": 3}', "{}", "[]", "broken"])
def test_data_of_another_version_is_refused(tmp_path: Path, content: str) -> None:
    """Records of another version may look right without being so; nothing is written into such a folder."""
    line(tmp_path / "schema.json", content)
    with pytest.raises(UserError) as error:
        Store(tmp_path)
    assert error.value.path == tmp_path / "schema.json"
    assert [path.name for path in tmp_path.iterdir()] == ["schema.json"]
    assert (tmp_path / "schema.json").read_text() == content


def test_opening_a_folder_writes_nothing(store: Store) -> None:
    assert not store.root.exists()
    store.begin()
    assert read_json(store.root / "schema.json") == {"schema_version": 2}
    assert Store(store.root).root == store.root


def test_repositories_of_a_stage(store: Store) -> None:
    """A repository with both a folder and files counts once; leftovers of a killed writer are no repository."""
    names = (
        "acme__ui.jsonl",
        "acme__.github.jsonl",
        "acme___ui.jsonl",
        "b__c__d.jsonl",
        ".acme__ui.jsonl.x1y2",
        "README.md",
    )
    for name in names:
        line(store.root / "02_dataset" / name, "")
    (store.root / "02_dataset" / "acme__ui").mkdir()
    found = [Repo("acme", ".github"), Repo("acme", "_ui"), REPO, Repo("b", "c__d")]
    assert store.repositories("02_dataset") == found
    assert store.repositories("01_raw") == []


def test_agents_and_models_have_separate_folders(store: Store) -> None:
    places = {
        place(REPO, agent, model)
        for place in (store.predictions, store.evaluation)
        for agent in ("a", "b")
        for model in ("provider/m", "n")
    }
    assert len(places) == 8
    assert all(place.is_relative_to(store.root) for place in places)


@pytest.mark.rule("nothing-overwritten")
def test_a_displaced_folder_moves_to_the_archive(store: Store) -> None:
    """A result that somebody may have published is never lost."""
    path = line(store.root / "04_evaluation" / "x" / "verdicts.jsonl", "old")
    moved = store.displace(path.parent)
    assert moved and moved.is_relative_to(store.root / "archive")
    assert (moved / "verdicts.jsonl").read_text() == "old"
    assert not path.parent.exists()
    assert store.displace(path.parent) is None and store.archive(path.parent) is None


@pytest.mark.rule("nothing-overwritten")
def test_an_archived_file_stays_until_it_is_replaced(store: Store) -> None:
    """If a run stopped between archiving and writing, the old result was gone and the new one not there."""
    path = line(store.root / "02_dataset" / "x" / "file", "old")
    for one in (path, path.parent):
        copied = store.archive(one)
        assert copied and copied.relative_to(store.archive_root).parts[1:] == one.relative_to(store.root).parts
    assert path.read_text() == "old"
    assert not list(store.archive_root.rglob("*.half"))


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.rule("nothing-overwritten")
def test_a_stop_between_archive_and_write_leaves_the_old_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise Killed

    path, old = store.dataset(REPO), [factories.make_rejection(1)]
    store.replace_records(path, old)
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(files, "write_bytes", killed)
        store.replace_records(path, [factories.make_rejection(2)])
    assert read_records(path, Rejection) == old
    assert [read_records(one, Rejection) for one in store.archive_root.glob("*/02_dataset/*")] == [old]
    store.replace_records(path, [factories.make_rejection(2)])
    assert read_records(path, Rejection) == [factories.make_rejection(2)]


def test_equal_records_of_another_version_stay(store: Store) -> None:
    """A record means the same whichever version wrote it: there is no new result, and nothing to archive."""
    path = store.dataset(REPO)
    store.replace_records(path, [factories.make_rejection(1, tool="0.0.9")])
    store.replace_records(path, [factories.make_rejection(1)])
    assert read_records(path, Rejection)[0].tool == "0.0.9" and not store.archive_root.exists()


def test_the_projects_own_archive_lies_beside_its_data(tmp_path: Path) -> None:
    assert Store(tmp_path / "data").archive_root == tmp_path / "data" / "archive"
    (tmp_path / "archive").mkdir()
    assert Store(tmp_path / "data").archive_root == tmp_path / "archive"
    assert Store(tmp_path / "other").archive_root == tmp_path / "other" / "archive"


@pytest.mark.rule("nothing-overwritten")
def test_replaced_records_move_and_equal_ones_stay(store: Store) -> None:
    """If a rerun has the same outcome, the file is not touched, and its time stays too."""
    path = store.dataset(REPO)
    store.replace_records(path, [factories.make_rejection(1)])
    os.utime(path, (1, 1))
    store.replace_records(path, iter([factories.make_rejection(1)]))
    assert path.stat().st_mtime == 1
    assert not store.archive_root.exists()
    store.replace_records(path, [factories.make_rejection(2)])
    (old,) = store.archive_root.glob("*/02_dataset/*")
    assert read_records(old, Rejection) == [factories.make_rejection(1)]
    assert read_records(path, Rejection) == [factories.make_rejection(2)]


@pytest.mark.rule("manifest-last")
def test_a_unit_is_done_with_its_manifest_and_its_inputs(tmp_path: Path) -> None:
    """Interrupted work has files but no manifest; a finished unit is stale if its inputs change."""
    unit = Unit(tmp_path / "unit")
    line(unit.folder / "log", "half")
    assert not unit.is_done(patch="a")
    assert unit.inputs() == {}
    unit.finish({"x": [1]}, patch="a", image="i")
    assert unit.is_done(image="i", patch="a")
    assert not unit.is_done(patch="b", image="i")
    assert not unit.is_done(patch="a")
    assert not unit.is_done(patch="a", image="i", parser="p")
    assert Unit(tmp_path / "unit").result() == {"x": [1]}


@pytest.mark.rule("manifest-last")
def test_a_kept_unit_replaces_the_old_one_completely(tmp_path: Path) -> None:
    """A unit replaces the one with other inputs completely: files that only the old one had are removed."""
    unit = Unit(tmp_path / "runs" / "unit")
    unit.keep({"log": b"old", "more/old": b""}, 1, patch="a")
    unit.keep({"log": b"new"}, 2, patch="b")
    assert unit.result() == 2 and unit.is_done(patch="b")
    assert {path.name for path in unit.folder.iterdir()} == {"log", "manifest.json"}
    unit.keep({"log": b"late"}, 3, patch="b")
    assert unit.result() == 2 and (unit.folder / "log").read_bytes() == b"new"
    assert [path.name for path in unit.folder.parent.iterdir() if path.is_dir()] == ["unit"]


@pytest.mark.rule("manifest-last")
@pytest.mark.parametrize("step", ["write_bytes", "write_json"])
def test_an_incompletely_saved_unit_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def killed(*_: object) -> None:
        raise Killed

    unit = Unit(tmp_path / "unit")
    unit.keep({"log": b"old"}, 1, patch="a")
    monkeypatch.setattr(files, step, killed)
    with pytest.raises(Killed):
        unit.keep({"log": b"new"}, 2, patch="b")
    assert unit.is_done(patch="a") and (unit.folder / "log").read_bytes() == b"old"


SAVE = """
import sys, time
from pathlib import Path
from pipeline.core.store import Unit
root, who = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
begin = float(sys.stdin.readline())
for number in range(100):
    time.sleep(max(0, begin + number / 50 - time.time()))
    names = range(8) if who == "a" else reversed(range(8))
    Unit(root / str(number)).keep({str(name): who.encode() * 20_000 for name in names}, who, patch="p")
"""


@pytest.mark.trap("same-unit-twice")
def test_two_processes_that_save_the_same_units_do_not_mix_their_files(tmp_path: Path) -> None:
    """Two evaluations of models with the same patch used to write a run's files in place: 83 of 300 were broken."""
    both = [
        subprocess.Popen([sys.executable, "-c", SAVE, str(tmp_path), who], stdin=PIPE, stdout=PIPE, text=True)
        for who in "ab"
    ]
    assert [process.stdout.readline() for process in both if process.stdout] == ["ready\n"] * 2
    begin = time.time() + 0.2
    for one in both:
        one.stdin.write(f"{begin}\n")
        one.stdin.flush()
    assert [process.communicate()[0] is not None and process.returncode for process in both] == [0, 0]
    for number in range(100):
        unit = Unit(tmp_path / str(number))
        kept = {(unit.folder / str(name)).read_bytes().decode()[:1] for name in range(8)}
        assert kept == {unit.result()} and unit.is_done(patch="p")


def test_digests_keep_parts_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    assert (
        digest(factories.make_rejection(1))
        == digest(factories.make_rejection(1))
        != digest(factories.make_rejection(2))
    )
    assert len(digest()) == 32


def test_times_are_utc_to_the_second() -> None:
    assert len(files.now()) == 20 and files.now().endswith("Z")
    assert json.loads(json.dumps(files.now())) == files.now()


# -- JSON files of another form --------------------------------------------------------------------------------------
@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("value", [[], "text", 3, None, True], ids=repr)
def test_a_file_without_a_json_object_is_refused(tmp_path: Path, value: object) -> None:
    write_json(tmp_path / "run.json", value)
    with pytest.raises(UserError, match="not a JSON object") as caught:
        read_object(tmp_path / "run.json")
    assert caught.value.path == tmp_path / "run.json" and "stage again" in str(caught.value.hint)


@pytest.mark.rule("bad-input")
def test_the_first_field_that_is_missing_is_named(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"a": None})
    assert read_object(tmp_path / "run.json", "a") == {"a": None}, "a value may be null"
    with pytest.raises(UserError) as caught:
        read_object(tmp_path / "run.json", "a", "b", "c")
    assert caught.value.field == "b"
    with pytest.raises(UserError, match="field 'c'"):
        read_field(tmp_path / "run.json", "c", str)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(("kind", "says"), [(str, "not a text"), (dict, "not an object")])
def test_a_field_of_another_type_is_named(tmp_path: Path, kind: type, says: str) -> None:
    write_json(tmp_path / "run.json", {"a": None})
    with pytest.raises(UserError, match=says) as caught:
        read_field(tmp_path / "run.json", "a", kind)
    assert (caught.value.path, caught.value.field) == (tmp_path / "run.json", "a")


@pytest.mark.rule("bad-input")
def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    path = line(tmp_path / "deep.json", "[" * 100_000)
    with pytest.raises(UserError, match="invalid JSON"):
        read_json(path)


@pytest.mark.rule("bad-input")
def test_a_record_in_a_file_of_its_own_is_refused_with_its_field(tmp_path: Path) -> None:
    write_json(tmp_path / "issue.json", {"number": 1, "title": "Menu"})
    assert read_record(tmp_path / "issue.json", Issue) == Issue(number=1, title="Menu")
    write_json(tmp_path / "issue.json", {"number": "many", "title": "Menu"})
    with pytest.raises(UserError) as caught:
        read_record(tmp_path / "issue.json", Issue)
    assert (caught.value.field, caught.value.path) == ("number", tmp_path / "issue.json")


RUN = "03_predictions/repair/magentless/acme__ui/m/20240506T070809Z"


def run_of(store: Store, about: dict[str, Any] | None, agent: str = "", model: str = "m", folder: str = RUN) -> Path:
    """A run with one prediction; `about` is its run.json, None for a run of another harness."""
    path = store.root / folder
    if about is not None:
        write_json(path / "run.json", about)
    write_records(path / "predictions.jsonl", [make_prediction(1, agent=agent, model_name_or_path=model)])
    return path


@pytest.mark.trap("verdict-of-another-model")
@pytest.mark.parametrize(
    ("about", "agent", "model", "folder"),
    [
        ({"agent": "magentless", "model": "m"}, "", "", RUN),
        (None, "magentless", "m", RUN),
        (None, "", "m", RUN),
        (None, "magentless@greedy", "m", RUN.replace("magentless", "magentless@greedy")),
        (None, "", "a/b", RUN.replace("/m/", f"/{folder_name('a/b')}/")),
    ],
)
def test_the_agent_and_model_of_a_run(
    tmp_path: Path, about: dict[str, Any] | None, agent: str, model: str, folder: str
) -> None:
    """Its records say it; SWE-bench's format names no agent, so there the folder does."""
    store = Store(tmp_path / "data")
    owner = whose_run(run_of(store, about, agent, model, folder))
    assert owner == (agent or "magentless", model or "m")
    assert store.predicted(REPO) == [owner]


@pytest.mark.rule("bad-input")
@pytest.mark.trap("verdict-of-another-model")
@pytest.mark.parametrize(
    ("about", "agent", "model", "folder", "says"),
    [
        (
            {"agent": "magentless", "model": "other"},
            "",
            "m",
            RUN,
            "run.json: field 'model': a run of magentless with other",
        ),
        ({"agent": "other", "model": "m"}, "", "m", RUN, "run.json: field 'model': a run of other with m"),
        (None, "other", "m", RUN, "predictions.jsonl: field 'model': a run of other with m"),
        ({"model": "m"}, "", "m", RUN, "run.json: field 'agent': it is missing"),
        ({"agent": "magentless", "model": ""}, "", "m", RUN, "the run does not state its agent and model"),
        (None, "", "m", RUN.replace("magentless", folder_name("a/b")), "the run does not state its agent and model"),
    ],
)
def test_a_run_in_the_folder_of_another_model_is_refused(
    tmp_path: Path, about: dict[str, Any] | None, agent: str, model: str, folder: str, says: str
) -> None:
    store = Store(tmp_path / "data")
    run_of(store, about, agent, model, folder)
    with pytest.raises(UserError, match=re.escape(says)):
        store.predicted(REPO)
