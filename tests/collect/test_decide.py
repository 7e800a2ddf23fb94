"""People's decisions stay, whatever is collected, deleted or changed afterwards, until they are revoked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from collecting import FILES, files, outcomes, reasons, tables
from factories import REPO, make_candidate
from github_double import World
from histories import History

from pipeline.cli import program
from pipeline.collect.collected import Export
from pipeline.collect.stage import collect, collect_from
from pipeline.core.decisions import decide as append
from pipeline.core.decisions import decided, make
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Rejection
from pipeline.core.store import Store

#: what can happen after somebody edited a file -> how
LATER = {
    "a plain collect": lambda store, source: collect_from(store, REPO, source()),
    "another pull request": lambda store, source: collect_from(store, REPO, source(), [3]),
    "the database deleted": lambda store, source: (_delete_index(store), collect_from(store, REPO, source())),
    "another source": lambda store, source: (
        _delete_index(store),
        collect(store, REPO, store.root.parent / "clone"),
    ),
}


def _delete_index(store: Store) -> None:
    for path in store.raw(REPO).glob("collect.sqlite*"):
        path.unlink()


def edit(store: Store, name: str, change: Callable[[list[dict]], list[dict]]) -> None:
    """Edit the lines of a file as a person would."""
    path = store.raw(REPO) / name
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in change(lines)))


@pytest.fixture
def repo(world: World, tmp_path: Path) -> Any:
    """Two candidates and one pull request without evidence, on GitHub and in a clone."""
    history = History(tmp_path / "clone")
    history.commit("first", {"src/Menu.tsx": "0\n"})
    made = world.repository(str(REPO), clone=history.folder)
    for number, title in ((1, "Aria"), (2, "Focus and aria"), (3, "Name")):
        base = history.git("rev-parse", "HEAD")
        merge = history.commit(f"{title} (#{number})", dict.fromkeys(FILES, f"{number}\n"))
        made.pull(number, title=title, files=FILES, base=base, merge=merge)
    return made


@pytest.fixture
def decide(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("A11Y_BENCH_DATA", str(store.root))
    monkeypatch.setenv("A11Y_BENCH_AUTHOR", "ann")
    return lambda *arguments: CliRunner().invoke(program, ["decide", str(REPO), *arguments], catch_exceptions=False)


# -- files that were edited ------------------------------------------------------------------------------------------
@pytest.mark.trap("hand-edit-lost")
@pytest.mark.parametrize("later", LATER)
def test_a_changed_line_stays(repo: Any, store: Store, source: Any, later: str) -> None:
    collect_from(store, REPO, source())
    edit(store, "candidates.jsonl", lambda lines: [{**lines[0], "title": "Mended"}, lines[1]])
    LATER[later](store, source)
    assert outcomes(store)[1].title == "Mended"
    repo.change(1, title="Aria, as GitHub has it now")
    collect_from(store, REPO, source())
    assert outcomes(store)[1].title == "Mended"
    (one,) = (each for each in decided(store, REPO) if each.kind == "set")
    assert (one.field, one.value, one.before) == ("title", "Mended", "Aria")


@pytest.mark.trap("hand-edit-lost")
@pytest.mark.parametrize("later", LATER)
def test_a_removed_line_stays_removed(repo: Any, store: Store, source: Any, later: str) -> None:
    collect_from(store, REPO, source())
    edit(store, "candidates.jsonl", lambda lines: lines[1:])
    LATER[later](store, source)
    assert reasons(store)[1] == "excluded"
    repo.change(1, title="More aria")
    collect_from(store, REPO, source())
    assert reasons(store)[1] == "excluded"


@pytest.mark.trap("hand-edit-lost")
@pytest.mark.parametrize("later", LATER)
def test_an_added_line_stays(repo: Any, store: Store, source: Any, later: str) -> None:
    """Both a record that no source has and one that the filters rejected."""
    collect_from(store, REPO, source())
    added = [make_candidate(number).model_dump(mode="json") for number in (3, 70)]
    edit(store, "candidates.jsonl", lambda lines: [*lines, *added])
    LATER[later](store, source)
    found = outcomes(store)
    assert isinstance(found[70], Candidate) and found[70].model_dump(mode="json") == added[1]
    assert isinstance(found[3], Candidate)
    rejected = [line for line in (store.raw(REPO) / "rejections.jsonl").read_text().splitlines() if "ui-3" in line]
    assert rejected == []


def test_a_line_moved_to_the_rejections_keeps_its_text(repo: Any, store: Store, source: Any) -> None:
    collect_from(store, REPO, source())
    moved = Rejection(instance_id="acme__ui-2", stage="collect", reason="excluded", detail="a story only")
    edit(store, "candidates.jsonl", lambda lines: lines[:1])
    edit(store, "rejections.jsonl", lambda lines: [*lines, moved.model_dump(mode="json")])
    collect_from(store, REPO, source())
    assert outcomes(store)[2] == moved


def test_edits_are_reported_and_recorded_once(repo: Any, store: Store, source: Any, capsys: Any) -> None:
    collect_from(store, REPO, source())
    capsys.readouterr()
    edit(store, "candidates.jsonl", lambda lines: [{**lines[0], "title": "Mended"}])
    collect_from(store, REPO, source())
    output = capsys.readouterr().err
    assert "acme__ui-1: set: title = 'Mended'" in output and "acme__ui-2: exclude" in output
    collect_from(store, REPO, source())
    assert "by hand" not in capsys.readouterr().err
    assert [decision.kind for decision in decided(store, REPO)] == ["set", "exclude"]


def test_an_older_decision_of_a_colleague_that_a_merge_sorted_in_is_not_reversed(
    repo: Any, store: Store, source: Any
) -> None:
    """The files were written without it. It once counted as the first one with which they were written, so that the
    lines in them were "added by hand"."""
    collect_from(store, REPO, source())
    edit(store, "candidates.jsonl", lambda lines: [{**lines[0], "title": "Mended"}, lines[1]])
    collect_from(store, REPO, source())
    theirs = make("acme__ui-2", "exclude", reason="a story only", author="bob", time="2020-01-01T00:00:00Z")
    path = store.decisions(REPO)
    path.write_text(f"{theirs.model_dump_json()}\n{path.read_text()}")
    edit(store, "candidates.jsonl", lambda lines: [{**lines[0], "title": "Mended again"}, lines[1]])
    collect_from(store, REPO, source())
    kinds = [(decision.instance_id, decision.kind) for decision in decided(store, REPO)]
    assert kinds == [("acme__ui-2", "exclude"), ("acme__ui-1", "set"), ("acme__ui-1", "set")]
    assert (outcomes(store)[1].title, reasons(store)[2]) == ("Mended again", "excluded")


def test_older_pages_note_how_many_decisions_counted() -> None:
    first, second = (make(f"acme__ui-{number}", "exclude", reason="no") for number in (1, 2))
    assert Export(decisions=1).counted([first, second]) == [first]
    assert Export(decisions=[second.id]).counted([first, second]) == [second]


def test_the_order_and_form_of_lines_do_not_matter(repo: Any, store: Store, source: Any) -> None:
    collect_from(store, REPO, source())
    before = files(store)
    edit(store, "candidates.jsonl", lambda lines: lines[::-1])
    collect_from(store, REPO, source())
    assert decided(store, REPO) == []
    repo.change(3, title="Another name")
    collect_from(store, REPO, source())
    assert files(store)["01_raw/acme__ui/candidates.jsonl"] == before["01_raw/acme__ui/candidates.jsonl"]


def test_a_conflict_keeps_the_manual_value_and_is_reported(repo: Any, store: Store, source: Any, capsys: Any) -> None:
    collect_from(store, REPO, source())
    edit(store, "candidates.jsonl", lambda lines: [{**lines[0], "title": "Mended"}, lines[1]])
    collect_from(store, REPO, source())
    assert "changed title" not in capsys.readouterr().err
    repo.change(1, title="Aria on GitHub")
    collect_from(store, REPO, source())
    assert outcomes(store)[1].title == "Mended"
    assert "acme__ui-1: the source changed title since" in capsys.readouterr().err


@pytest.mark.trap("hand-edit-lost")
def test_an_edit_after_a_killed_run_counts(repo: Any, store: Store, source: Any) -> None:
    """In this state, pages contain more than the files: a record that the files never had was not removed from them."""
    collect_from(store, REPO, source())
    repo.pull(4, title="Aria", files=["src/Menu.tsx"])
    with pytest.raises(KeyboardInterrupt):
        collect_from(store, REPO, source(), watch=_stops)
    edit(store, "candidates.jsonl", lambda lines: [{**lines[0], "title": "Mended"}, lines[1]])
    collect_from(store, REPO, source())
    assert [(decision.kind, decision.instance_id) for decision in decided(store, REPO)] == [("set", "acme__ui-1")]
    assert reasons(store) == {1: "candidate", 2: "candidate", 3: "no_a11y_evidence", 4: "no_test_changes"}


def _stops(pages: Any) -> Any:
    """Stops after the first page was processed."""
    yield next(pages)
    raise KeyboardInterrupt


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: [lines[0], lines[0]], "acme__ui-1 is in this file twice"),
        (lambda lines: [{**lines[0], "repo": "forms"}], "acme__forms-1 does not belong to acme/ui"),
    ],
)
def test_an_edit_that_cannot_be_a_decision_is_refused(
    repo: Any, store: Store, source: Any, change: Any, says: str
) -> None:
    collect_from(store, REPO, source())
    edit(store, "candidates.jsonl", change)
    before = files(store)
    with pytest.raises(UserError, match=says):
        collect_from(store, REPO, source())
    assert (files(store), decided(store, REPO)) == (before, [])


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("text", ["", "\n  \n"])
@pytest.mark.parametrize("name", ["candidates.jsonl", "rejections.jsonl"])
def test_an_emptied_file_is_refused(repo: Any, store: Store, source: Any, name: str, text: str) -> None:
    """A full disk or an editor's fault excluded every pull request. Once the file is removed, it is written again."""
    collect_from(store, REPO, source())
    before, path = files(store), store.raw(REPO) / name
    path.write_text(text)
    with pytest.raises(UserError, match=f"{name}: the file is empty; .*\n  remove it to get it back"):
        collect_from(store, REPO, source())
    assert decided(store, REPO) == []
    path.unlink()
    collect_from(store, REPO, source())
    assert files(store) == before


def test_all_lines_may_move_to_the_other_file(repo: Any, store: Store, source: Any) -> None:
    collect_from(store, REPO, source())
    moved = [
        Rejection(instance_id=REPO.instance_id(number), stage="collect", reason="excluded").model_dump(mode="json")
        for number in (1, 2)
    ]
    edit(store, "candidates.jsonl", lambda lines: [])
    edit(store, "rejections.jsonl", lambda lines: [*lines, *moved])
    collect_from(store, REPO, source())
    assert reasons(store) == {1: "excluded", 2: "excluded", 3: "no_a11y_evidence"}


# -- the command -----------------------------------------------------------------------------------------------------
@pytest.mark.rule("decisions")
def test_exclude_and_undo(repo: Any, store: Store, source: Any, decide: Any) -> None:
    collect_from(store, REPO, source())
    before = files(store)
    done = decide("--pr", "1", "--exclude", "a story only")
    assert "acme__ui-1: exclude: a story only" in done.stderr
    assert (outcomes(store)[1].reason, outcomes(store)[1].detail) == ("excluded", "a story only")
    collect_from(store, REPO, source())
    assert reasons(store)[1] == "excluded"
    decide("--pr", "1", "--undo")
    assert files(store) == before
    assert [decision.kind for decision in decided(store, REPO)] == ["exclude", "undo"]


@pytest.mark.rule("decisions")
def test_set_and_list(repo: Any, store: Store, source: Any, decide: Any) -> None:
    collect_from(store, REPO, source())
    decide("--pr", "1", "--set", "title=Has a name", "--set", 'labels=["a11y"]', "--comment", "clearer")
    candidate = outcomes(store)[1]
    assert isinstance(candidate, Candidate) and (candidate.title, candidate.labels) == ("Has a name", ("a11y",))
    shown = decide("--list", "--json").stdout.splitlines()
    assert [json.loads(line)["author"] for line in shown] == ["ann", "ann", "ann"]
    assert "Has a name" in decide("--list", "--pr", "1").stdout


@pytest.mark.rule("chosen-by-hand")
@pytest.mark.trap("hand-edit-lost")
def test_a_choice_survives_the_database_and_can_be_undone(repo: Any, store: Store, source: Any, decide: Any) -> None:
    """It is a decision; once it is revoked, the filters decide again."""
    collect_from(store, REPO, source())
    rejected = outcomes(store)[3]
    collect_from(store, REPO, source(), [3])
    _delete_index(store)
    collect_from(store, REPO, source())
    assert reasons(store)[3] == "by hand"
    decide("--pr", "3", "--undo")
    assert outcomes(store)[3] == rejected


def test_a_rejected_pull_request_can_be_included_with_its_patches(
    repo: Any, store: Store, tmp_path: Path, decide: Any
) -> None:
    collect(store, REPO, tmp_path / "clone")
    assert "just collect-run acme/ui --path CLONE --pr 3" in decide("--pr", "3", "--include").stderr
    collect(store, REPO, tmp_path / "clone")
    assert reasons(store)[3] == "by hand"


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--pr", "1", "--set", "titel=x"], "unknown field 'titel'"),
        (["--pr", "1", "--set", "number=2"], "unknown field 'number'"),
        (["--pr", "1", "--set", "labels=3"], "field 'labels'"),
        (["--pr", "9", "--exclude", "why"], "acme/ui#9 is not collected"),
        (["--pr", "1", "--undo"], "nothing is decided on acme__ui-1"),
        (["--pr", "1", "--comment", "Zo\udceb"], "field 'reason': a text in it is not UTF-8"),
        (["--pr", "1", "--exclude", "Zo\udceb"], "field 'reason': a text in it is not UTF-8"),
        (["--pr", "1", "--set", "title=Zo\udceb"], "field 'value': a text in it is not UTF-8"),
        (["--pr", "1", "--set", 'labels=["\\ud800"]'], "a text in it is not UTF-8|field 'labels"),
        (["--pr", "1", "--set", f"labels={'[' * 5000}"], "field 'labels'"),
        (["--pr", "1", "--set", "labels=NaN"], "field '--set labels': JSON has no number for NaN"),
        (["--pr", "1", "--set", "labels=[1e999]"], "field '--set labels': JSON has no number for"),
    ],
)
def test_a_bad_decision_is_refused(
    repo: Any, store: Store, source: Any, decide: Any, arguments: list[str], says: str
) -> None:
    collect_from(store, REPO, source())
    before = files(store)
    with pytest.raises(UserError, match=says):
        decide(*arguments)
    assert (files(store), decided(store, REPO)) == (before, [])


@pytest.mark.rule("bad-input")
def test_an_author_whose_name_is_not_utf_8_is_refused(
    repo: Any, store: Store, source: Any, decide: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    collect_from(store, REPO, source())
    monkeypatch.setenv("A11Y_BENCH_AUTHOR", "Zo\udceb")
    with pytest.raises(UserError, match="field 'author': a text in it is not UTF-8"):
        decide("--pr", "1", "--comment", "why")
    assert decided(store, REPO) == []


@pytest.mark.rule("bad-input")
def test_a_mistyped_repository_is_refused_with_nothing_written(
    repo: Any, store: Store, source: Any, decide: Any
) -> None:
    collect_from(store, REPO, source())
    before = sorted(store.root.rglob("*"))
    with pytest.raises(UserError, match="acme/iu is not collected\n  collected: acme/ui; run: just collect-run"):
        CliRunner().invoke(program, ["decide", "acme/iu", "--pr", "1", "--exclude", "why"], catch_exceptions=False)
    assert sorted(store.root.rglob("*")) == before


@pytest.mark.rule("bad-input")
def test_a_decision_that_contradicts_itself_is_refused(repo: Any, store: Store, source: Any, decide: Any) -> None:
    """Both were recorded, and the last one counted."""
    collect_from(store, REPO, source())
    refused = decide("--pr", "1", "--exclude", "why", "--include")
    assert refused.exit_code == 2 and "--exclude and --include contradict each other" in refused.output
    assert decided(store, REPO) == []


@pytest.mark.rule("bad-input")
def test_a_field_of_an_instance_without_a_record_is_refused(repo: Any, store: Store, source: Any, decide: Any) -> None:
    """Only a comment is known of it: the fields that it could have are unknown, and asking for them failed."""
    collect_from(store, REPO, source())
    append(store, REPO, [make("acme__ui-70", "comment", reason="later")])
    with pytest.raises(UserError, match="acme/ui#70 is not collected\n  .* --source github --path CLONE --pr 70"):
        decide("--pr", "70", "--set", "title=Mended")
    assert decide("--pr", "70", "--comment", "still later").exit_code == 0


# -- the index -------------------------------------------------------------------------------------------------------
@pytest.mark.rule("one-set-of-records")
def test_a_deleted_database_costs_no_point(repo: Any, store: Store, source: Any, github: Any, decide: Any) -> None:
    """Facts, cursor and decisions come from files: nothing is requested again, and every table is the same."""
    collect_from(store, REPO, source())
    decide("--pr", "1", "--exclude", "why")
    collect_from(store, REPO, source())
    before, rows, asked = files(store), tables(store), len(github.requests)
    collect_from(store, REPO, source())
    usual = len(github.requests) - asked
    for text in (None, b"no database", b""):
        _delete_index(store)
        if text is not None:
            (store.raw(REPO) / "collect.sqlite").write_bytes(text)
        asked = len(github.requests)
        collect_from(store, REPO, source())
        assert (files(store), tables(store)) == (before, rows)
        assert len(github.requests) - asked == usual


def test_a_decision_of_another_process_counts_with_the_next_collect(repo: Any, store: Store, source: Any) -> None:
    """A viewer may append decisions while nothing is collected. The files, which it does not write, do not contradict
    it."""
    collect_from(store, REPO, source())
    append(store, REPO, [make("acme__ui-1", "set", field="title", value="Told by the viewer")])
    edit(store, "candidates.jsonl", lambda lines: [lines[0], {**lines[1], "title": "Mended"}])
    collect_from(store, REPO, source())
    assert [outcomes(store)[number].title for number in (1, 2)] == ["Told by the viewer", "Mended"]
    assert len(decided(store, REPO)) == 2
