"""Merging two data directories: what only one side has is kept, and contradictions are named."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from factories import REPO, make_candidate, make_instance, make_prediction, make_verdict

from pipeline.core import decisions
from pipeline.core.decisions import fold
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Decision, Instance, Outcome, Rejection, Verdict
from pipeline.core.store import Store, Unit, read_json, read_records, write_bytes, write_json, write_records
from pipeline.llm.ledger import OK, Booking, Key, Ledger, Sent
from pipeline.llm.prices import Usage
from pipeline.remote.merge import Step, _Plan, merge


class Pair:
    """Ours, theirs, and the record of what both sides have."""

    def __init__(self, folder: Path) -> None:
        self.ours, self.theirs = Store(folder / "ours"), Store(folder / "theirs")
        self.known = folder / "known.json"
        for side in (self.ours, self.theirs):
            side.begin()

    def pull(self, prefer: str = "") -> dict[str, int]:
        return dict(merge(self.ours, self.theirs.root, self.known, prefer))

    def push(self) -> dict[str, int]:
        return dict(merge(self.theirs, self.ours.root, self.known))

    def instances(self) -> list[int]:
        return [instance.number for instance in read_records(self.ours.dataset(REPO), Instance)]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def dataset(side: Store, *instances: Instance) -> None:
    write_records(side.dataset(REPO), instances)


def archived(side: Store) -> list[str]:
    return sorted(path.name for path in side.archive_root.rglob("*") if path.is_file())


def everything(side: Store) -> dict[str, bytes]:
    return {str(path.relative_to(side.root)): path.read_bytes() for path in side.root.rglob("*") if path.is_file()}


# -- records ---------------------------------------------------------------------------------------------------------
def test_new_remote_records_are_added_and_ours_stay(pair: Pair) -> None:
    dataset(pair.ours, make_instance(9))
    dataset(pair.theirs, make_instance(1), make_instance(10))
    assert pair.pull() == {"merged": 1}
    assert pair.instances() == [1, 9, 10]
    assert archived(pair.ours) == [f"{REPO.slug}.jsonl"]


def test_candidates_are_merged_by_their_pull_request(pair: Pair) -> None:
    """They store no `instance_id`: once, no repository that had been collected could be sent to a server."""
    for side, candidates in (
        (pair.ours, [make_candidate(9, title="ours")]),
        (pair.theirs, [make_candidate(1), make_candidate(10)]),
    ):
        write_records(side.raw(REPO) / "candidates.jsonl", candidates)
    assert pair.pull() == {"merged": 1}
    path = pair.ours.raw(REPO) / "candidates.jsonl"
    assert [candidate.number for candidate in read_records(path, Candidate)] == [1, 9, 10]
    write_records(pair.theirs.raw(REPO) / "candidates.jsonl", [make_candidate(9, title="theirs")])
    with pytest.raises(UserError, match="acme__ui-9"):
        pair.pull()


def test_a_second_pull_changes_nothing(pair: Pair) -> None:
    dataset(pair.ours, make_instance(1))
    dataset(pair.theirs, make_instance(2))
    pair.pull()
    before = pair.ours.dataset(REPO).read_bytes()
    assert pair.pull() == {"kept": 1}
    assert pair.ours.dataset(REPO).read_bytes() == before


def test_rebuilt_remote_records_replace_sent_ones(pair: Pair) -> None:
    dataset(pair.ours, make_instance(1, title="old"), make_instance(2))
    pair.push()
    dataset(pair.theirs, make_instance(1, title="new"), make_instance(2))
    dataset(pair.ours, make_instance(1, title="old"), make_instance(2), make_instance(3))
    pair.pull()
    assert [instance.title for instance in read_records(pair.ours.dataset(REPO), Instance)][0] == "new"
    assert pair.instances() == [1, 2, 3]


def test_a_record_removed_on_one_side_stays_only_if_the_other_changed_it(pair: Pair) -> None:
    dataset(pair.ours, make_instance(1), make_instance(2), make_instance(3))
    pair.push()
    dataset(pair.theirs, make_instance(3))
    dataset(pair.ours, make_instance(1), make_instance(2, title="mended here"), make_instance(3), make_instance(4))
    pair.pull()
    assert pair.instances() == [2, 3, 4]


def test_a_conflict_names_every_record_and_writes_nothing(pair: Pair) -> None:
    dataset(pair.ours, make_instance(1, title="here"), make_instance(2))
    dataset(pair.theirs, make_instance(1, title="there"), make_instance(3))
    write_records(pair.theirs.qualification(REPO) / "learned.jsonl", [])
    before = everything(pair.ours)
    with pytest.raises(UserError, match=rf"{REPO.slug}.jsonl: acme__ui-1"):
        pair.pull()
    after = everything(pair.ours)
    assert {name: data for name, data in after.items() if not name.startswith(".locks")} == before


@pytest.mark.parametrize(("prefer", "title"), [("ours", "here"), ("theirs", "there")])
def test_a_side_can_be_preferred_and_the_other_is_archived(pair: Pair, prefer: str, title: str) -> None:
    dataset(pair.ours, make_instance(1, title="here"), make_instance(2))
    dataset(pair.theirs, make_instance(1, title="there"), make_instance(3))
    pair.pull(prefer)
    assert read_records(pair.ours.dataset(REPO), Instance)[0].title == title
    assert pair.instances() == [1, 2, 3]
    assert archived(pair.ours) == [f"{REPO.slug}.jsonl"]


def test_an_instance_that_is_a_rejection_on_the_other_side_is_a_conflict(pair: Pair) -> None:
    dataset(pair.ours, make_instance(1))
    write_records(pair.ours.qualification(REPO) / "rejections.jsonl", [])
    dataset(pair.theirs)
    rejection = Rejection(instance_id="acme__ui-1", stage="build", reason="no_tests_run")
    write_records(pair.theirs.qualification(REPO) / "rejections.jsonl", [rejection])
    with pytest.raises(UserError, match="an instance on one side and a rejection on the other"):
        pair.pull()


def test_equal_records_of_another_version_are_no_conflict(pair: Pair) -> None:
    dataset(pair.ours, make_instance(1, tool="0.0.9"), make_instance(2))
    dataset(pair.theirs, make_instance(1))
    pair.pull()
    assert pair.instances() == [1, 2]


def test_a_broken_line_is_named(pair: Pair) -> None:
    dataset(pair.ours, make_instance(1))
    write_bytes(pair.theirs.dataset(REPO), b'{"no": "instance"}\n')
    with pytest.raises(UserError, match=r"acme__ui\.jsonl:1: field 'instance_id'"):
        pair.pull()


def test_a_broken_line_among_rejections_is_named(pair: Pair) -> None:
    """Even if both sides have the same file, which nothing else would have read."""
    for number, side in enumerate((pair.ours, pair.theirs), 1):
        write_bytes(side.dataset(REPO), b'{"instance_id": "acme__ui-1"}\n{"instance_id"\n')
        rejection = Rejection(instance_id=f"acme__ui-{number}", stage="build", reason="no_tests_run")
        write_records(side.qualification(REPO) / "rejections.jsonl", [rejection])
    with pytest.raises(UserError, match=r"acme__ui\.jsonl:2: field 'instance_id': not such a record"):
        pair.pull()


def test_the_final_report_counts_all_verdicts(pair: Pair) -> None:
    for number, side in enumerate((pair.ours, pair.theirs), 1):
        folder = side.evaluation(REPO, "magentless", "model-a")
        write_records(folder / "verdicts.jsonl", [make_verdict(make_prediction(number), Outcome.RESOLVED)])
        write_json(folder / "final_report.json", {"total_instances": 1})
    pair.pull()
    folder = pair.ours.evaluation(REPO, "magentless", "model-a")
    assert len(read_records(folder / "verdicts.jsonl", Verdict)) == 2
    assert read_json(folder / "final_report.json")["total_instances"] == 2


# -- units -----------------------------------------------------------------------------------------------------------
def unit(side: Store, inputs: str, log: bytes = b"log", outcome: str = "qualified") -> Unit:
    made = Unit(side.qualification(REPO) / "units" / "acme__ui-1")
    made.keep({"run.log": log}, {"outcome": outcome}, made_of=inputs)
    return made


def test_units_with_the_same_inputs_are_equal(pair: Pair) -> None:
    unit(pair.ours, "a", b"ours")
    unit(pair.theirs, "a", b"theirs")
    assert pair.pull() == {"kept": 1}
    assert (unit(pair.ours, "a").folder / "run.log").read_bytes() == b"ours"


@pytest.mark.parametrize(
    ("prefer", "outcome"), [("", "qualified"), ("ours", "qualified"), ("theirs", "rejected: no_fix_transition")]
)
def test_a_preferred_result_of_the_same_inputs_is_taken_with_its_unit(pair: Pair, prefer: str, outcome: str) -> None:
    """The records were theirs and the unit ours, so the next build wrote our record back."""
    unit(pair.ours, "a", b"ours")
    unit(pair.theirs, "a", b"theirs", "rejected: no_fix_transition")
    pair.pull(prefer)
    assert unit(pair.ours, "a").result() == {"outcome": outcome}
    pair.pull(prefer)
    assert unit(pair.ours, "a").result() == {"outcome": outcome}


def test_a_result_that_only_the_other_side_made_anew_is_taken(pair: Pair) -> None:
    """Its record is taken as well: it is the only one that changed."""
    unit(pair.ours, "a", b"ours")
    pair.push()
    shutil.rmtree(unit(pair.theirs, "a").folder)
    unit(pair.theirs, "a", b"theirs", "rejected: no_fix_transition")
    assert pair.pull() == {"taken": 1}
    shutil.rmtree(unit(pair.ours, "a").folder)
    unit(pair.ours, "a", b"ours again")
    assert pair.pull("theirs") == {"kept": 1}, "only ours was made anew"


def test_files_of_an_answer_that_failed_are_no_records(pair: Pair) -> None:
    """Its agent may have left any file. It ended every later pull after everything was written."""
    folders = [side.answers(REPO, "acme__ui-1", "x") for side in (pair.ours, pair.theirs)]
    write_bytes(folders[1] / "trajectory.jsonl", b'{"step": 1}\n')
    assert pair.pull() == {"new": 1}
    write_bytes(folders[0] / "trajectory.jsonl", b"not even JSON")
    write_bytes(folders[1] / "trajectory.jsonl", b'{"step": 2}\n')
    pair.pull()
    pair.pull()


def test_files_of_an_answer_that_failed_there_do_not_come_into_a_finished_one(pair: Pair) -> None:
    folders = [side.answers(REPO, "acme__ui-1", "x") for side in (pair.ours, pair.theirs)]
    Unit(folders[0]).keep({"patch.diff": b"ours"}, made_of="a")
    write_bytes(folders[1] / "trajectory.jsonl", b"{}\n")
    assert pair.pull() == {"kept": 1}
    assert sorted(path.name for path in folders[0].iterdir()) == ["manifest.json", "patch.diff"]


def test_a_file_that_cannot_be_noted_ends_a_merge_before_anything_is_written(pair: Pair) -> None:
    dataset(pair.theirs, make_instance(1))
    path = pair.theirs.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl"
    write_bytes(path, b"{}\n")
    with pytest.raises(UserError, match=r"verdicts\.jsonl:1: field 'instance_id': not such a record"):
        pair.pull()
    assert not pair.ours.dataset(REPO).exists()


def test_a_unit_is_replaced_completely(pair: Pair) -> None:
    unit(pair.ours, "a", b"old")
    pair.push()
    write_bytes(unit(pair.ours, "a").folder / "further.log", b"of an older unit")
    unit(pair.theirs, "b", b"new")
    pair.pull()
    folder = unit(pair.ours, "b").folder
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "run.log"]
    assert (folder / "run.log").read_bytes() == b"new"
    assert "further.log" in archived(pair.ours)


def test_units_of_other_inputs_on_both_sides_are_a_conflict(pair: Pair) -> None:
    unit(pair.ours, "a")
    unit(pair.theirs, "b")
    with pytest.raises(UserError, match="made from different inputs on each side"):
        pair.pull()
    assert unit(pair.ours, "a").inputs() == {"made_of": "a"}
    pair.pull("theirs")
    assert unit(pair.ours, "b").inputs() == {"made_of": "b"}


def test_a_merge_that_was_stopped_goes_on(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    unit(pair.theirs, "a")
    dataset(pair.ours, make_instance(1))
    dataset(pair.theirs, make_instance(2))
    with monkeypatch.context() as patch:
        patch.setattr("pipeline.remote.merge.write_bytes", lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            pair.pull()
    assert pair.instances() == [1]
    assert not pair.known.exists()
    pair.pull()
    assert pair.instances() == [1, 2]


# -- what people decide ----------------------------------------------------------------------------------------------
def decision(number: int, time: str, kind: str = "exclude", **what: str) -> Decision:
    given = {"id": f"{time}{number}", "time": f"2026-01-0{time}T00:00:00Z", "author": "ann", "reason": "no"}
    return Decision(instance_id=f"acme__ui-{number}", kind=kind, **given, **what)


def test_decisions_of_both_sides_are_kept_in_their_order(pair: Pair) -> None:
    shared, here, there = decision(1, "1"), decision(2, "3"), decision(3, "2")
    undo = decision(1, "4", "undo", undoes=shared.id)
    decisions.decide(pair.ours, REPO, [shared, here])
    decisions.decide(pair.theirs, REPO, [shared, there, undo])
    pair.pull()
    assert decisions.decided(pair.ours, REPO) == [shared, there, here, undo]
    assert fold(decisions.decided(pair.ours, REPO))["acme__ui-1"].place is None
    pair.push()
    assert decisions.decided(pair.theirs, REPO) == decisions.decided(pair.ours, REPO)


def test_a_duplicate_line_is_kept(pair: Pair) -> None:
    line = decision(1, "1")
    decisions.decide(pair.ours, REPO, [line, line, decision(2, "2")])
    decisions.decide(pair.theirs, REPO, [line, decision(3, "3")])
    pair.pull()
    assert len(decisions.decided(pair.ours, REPO)) == 4


def test_a_decision_in_a_file_that_a_copy_shares_stays_ours(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that was made with hard links: what was appended to ours while it was merged counted as theirs, so they
    never got it."""
    decisions.decide(pair.ours, REPO, [decision(1, "1")])
    shared = pair.theirs.decisions(REPO)
    shared.parent.mkdir(parents=True)
    os.link(pair.ours.decisions(REPO), shared)
    planned = _Plan.steps

    def steps(plan: _Plan) -> list[Step]:
        decisions.decide(pair.ours, REPO, [decision(2, "2")])
        return planned(plan)

    before = shared.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(_Plan, "steps", steps)
        pair.pull()
    write_bytes(shared, before)
    pair.push()
    assert [made.id for made in decisions.decided(pair.theirs, REPO)] == ["11", "22"]


@pytest.mark.parametrize("ours", [(), (2,)], ids=["only theirs changed", "both changed"])
def test_a_decision_that_is_made_during_the_merge_is_kept(
    pair: Pair, ours: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The viewer appends at any time, also after the merge was planned."""
    for side in (pair.ours, pair.theirs):
        decisions.decide(side, REPO, [decision(1, "1")])
    pair.pull()
    decisions.decide(pair.ours, REPO, [decision(number, "2") for number in ours])
    decisions.decide(pair.theirs, REPO, [decision(3, "3")])
    planned = _Plan.steps

    def steps(plan: _Plan) -> list[Step]:
        found = planned(plan)
        decisions.decide(pair.ours, REPO, [decision(4, "4")])
        return found

    monkeypatch.setattr(_Plan, "steps", steps)
    pair.pull()
    assert [made.instance_id for made in decisions.decided(pair.ours, REPO)] == [
        f"acme__ui-{number}" for number in (1, *ours, 3, 4)
    ]


# -- money -----------------------------------------------------------------------------------------------------------
KEY = Key("alias", "exp", "acme/ui", "model-a", "magentless", "settings", "acme__ui-1")


def book(side: Store, *requests: tuple[str, str], status: str = OK, key: Key = KEY) -> None:
    with closing(Ledger(side.ledger)) as ledger:
        if not ledger.key("hash"):
            ledger.issue("hash", key)
        for name, cost in requests:
            sent = Sent(name, "2026-01-01T00:00:00Z", "hash", "model-a", "llm")
            ledger.record(sent, Booking(status, Usage(1, 2), Decimal(cost), 3))


def created(side: Store) -> None:
    """The keys of both sides were created at the same time."""
    with closing(Ledger(side.ledger)) as ledger, ledger._db as db:
        db.execute("UPDATE keys SET created = '2026-01-01'")


def test_money_is_added_to_the_last_digit_and_never_twice(pair: Pair) -> None:
    book(pair.ours, ("a", "0.1"), ("b", "0.2"))
    book(pair.theirs, ("b", "0.2"), ("c", "0.00000000000000000000000000001"))
    for side in (pair.ours, pair.theirs):
        created(side)
    for _ in range(2):
        pair.pull()
        with closing(Ledger(pair.ours.ledger)) as ledger:
            assert ledger.spend() == Decimal("0.30000000000000000000000000001")
    assert pair.ours.costs.read_text().splitlines()[1].split(",")[4:7] == [
        "",
        "3",
        "9",
    ]
    assert "0.30000000000000000000000000001" in pair.ours.costs.read_text()
    assert "ledger.sqlite" in archived(pair.ours)


def test_remote_bookings_are_merged(pair: Pair) -> None:
    """A pull while requests are under way, and one after them."""
    book(pair.ours, ("a", "0"), status="open")
    book(pair.theirs, ("a", "0.5"))
    for side in (pair.ours, pair.theirs):
        created(side)
    pair.pull()
    with closing(Ledger(pair.ours.ledger)) as ledger:
        assert [(row.status, row.cost_usd) for row in ledger.rows()] == [(OK, Decimal("0.5"))]


def test_a_request_with_another_cost_is_a_conflict(pair: Pair) -> None:
    book(pair.ours, ("a", "0.1"))
    book(pair.theirs, ("a", "0.2"), ("b", "0.3"))
    for side in (pair.ours, pair.theirs):
        created(side)
    with pytest.raises(UserError, match=r"ledger.sqlite: requests a"):
        pair.pull()
    with closing(Ledger(pair.ours.ledger)) as ledger:
        assert ledger.spend() == Decimal("0.1")


# -- the rest --------------------------------------------------------------------------------------------------------
def test_data_of_another_version_are_refused(pair: Pair) -> None:
    write_json(pair.theirs.root / "schema.json", {"schema_version": 99})
    with pytest.raises(UserError, match="the other data have version 99"):
        pair.pull()


def test_nothing_is_merged_while_a_stage_runs(pair: Pair) -> None:
    dataset(pair.theirs, make_instance(1))
    with pair.ours.lock("build", REPO), pytest.raises(UserError, match="under way"):
        pair.pull()
    assert pair.instances() == []


def test_a_link_is_not_followed(pair: Pair, tmp_path: Path) -> None:
    (pair.theirs.root / "00_viewer").mkdir()
    (pair.theirs.root / "00_viewer" / "secret.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="neither a file nor a folder"):
        pair.pull()


def test_pages_of_both_sides_are_kept(pair: Pair) -> None:
    from pipeline.collect.pages import Pages

    for side, name in ((pair.ours, "here"), (pair.theirs, "there")):
        pages = Pages(side.raw(REPO) / "pages.jsonl.gz")
        pages.append([json.dumps("shared")], {"cursor": 1})
        pages.append([json.dumps(name)], {"cursor": name})
    pair.pull()
    found = list(Pages(pair.ours.raw(REPO) / "pages.jsonl.gz").read())
    assert [page.state["cursor"] for page in found] == [1, "here", "there"]
