"""A small data directory, written from records: what every table must show of it is counted by hand in the tests.

acme/ui     candidates 1 2 3 4 5, instances 1 2 3, rejected 4, pending 5; model-a on all, model-b on 1 and 2
            model-a: 1 resolved with gold's patch, 2 empty, 3 unresolved with another file
            model-b: gold's patch for both; 1 resolved, 2 not evaluated
acme/forms  candidate 1, instance 1; model-a is not evaluated there, model-b resolves it with gold's patch
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from factories import (
    FIX_PATCH,
    make_candidate,
    make_instance,
    make_prediction,
    make_rejection,
    make_review,
    make_verdict,
)

from pipeline.analyze.cli import command
from pipeline.analyze.handcheck.records import HandCheck, patch_key
from pipeline.core.audit import Variant, VerdictAudit
from pipeline.core.names import Repo
from pipeline.core.records import CostRow, Outcome, Prediction, Verdict
from pipeline.core.store import Store, read_object, read_records, write_bytes, write_json, write_records
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import Booking, Key, Ledger, key_hash
from pipeline.llm.prices import Usage

UI, FORMS = Repo("acme", "ui"), Repo("acme", "forms")
HOSTILE = "</code><script>alert(1)</script>"
OTHER_PATCH = FIX_PATCH.replace("Menu.tsx", "Other.tsx").replace('<nav aria-label="Menu" />', HOSTILE)
HOSTILE_PATCH = FIX_PATCH.replace('<nav aria-label="Menu" />', HOSTILE)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_data(tmp_path / "data")


class Analyzed(NamedTuple):
    """A data directory with its analysis, and the command's output."""

    store: Store
    said: Result


@pytest.fixture(scope="session")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    """The small data directory with a ledger, an agent's funnel and an oracle, analyzed once; tests only read it."""
    store = make_data(tmp_path_factory.mktemp("analyzed") / "data")
    fill_ledger(store)
    add_metadata(store, "acme__ui-1", funnel={"located": 3, "selected": 1})
    oracle = make_prediction(1, agent="oracle", model_name_or_path="oracle")
    add_run(store, UI, [oracle])
    add_verdicts(store, UI, [make_verdict(oracle)])
    return Analyzed(store, CliRunner().invoke(command, ["--data", str(store.root)], catch_exceptions=False))


def make_data(root: Path) -> Store:
    """The data directory described in this module's docstring."""
    store = Store(root)
    collect(store)
    build(store)
    audit(store)
    review(store)
    predict_and_evaluate(store)
    spend(store)
    return store


def collect(store: Store) -> None:
    candidates = [make_candidate(number) for number in (1, 2, 3, 4)]
    write_records(store.raw(UI) / "candidates.jsonl", [*candidates, make_candidate(5, statement_source="pull_request")])
    dropped = [make_rejection(n, stage="collect", reason="no_test_changes") for n in (6, 7)]
    write_records(store.raw(UI) / "rejections.jsonl", dropped)
    write_records(store.raw(FORMS) / "candidates.jsonl", [make_candidate(1, FORMS)])
    names = ("total", "tests", "a11y", "issues", "sample", "without_issue")
    for repo, counts in ((UI, (7, 5, 4, 4, 4, 1)), (FORMS, (1, 1, 1, 1, 1, 0))):
        row = {"repo": str(repo)}
        write_json(store.raw(repo) / "funnel.json", row | dict(zip(names, counts, strict=True)))


def build(store: Store) -> None:
    hostile = {"title": f"Name the menu {HOSTILE}", "fix_patch": HOSTILE_PATCH, "statement_source": "pull_request"}
    tests = {"Menu.test.tsx > has a name": "PFP", "Menu.test.tsx > is new": "NFP", "Menu.test.tsx > opens": "PPP"}
    instances = [make_instance(1, tests=tests), make_instance(2), make_instance(3, **hostile)]
    write_records(store.dataset(UI), instances)
    write_records(store.dataset(FORMS), [make_instance(1, FORMS)])
    write_records(store.qualification(UI) / "rejections.jsonl", [make_rejection(4, reason="regression")])


def audit(store: Store) -> None:
    """An audit of acme/ui 1: two variants with the same meaning, one of them refused; two harmful ones, one of which
    the tests accept and the checker does not, and one that was not run; two hunks, one of which no test misses. Gold
    does not resolve acme/ui 2."""
    resolved, refused = {"outcome": Outcome.RESOLVED}, {"outcome": Outcome.UNRESOLVED}
    variants = [
        ("gold", "gold", resolved),
        ("same", "form", resolved),
        ("same", "names", refused),
        ("harmful", "role inverted", refused),
        ("harmful", "text changed", resolved | {"checked": False}),
        ("harmful", "text changed", {}),
        ("hunk", "hunk left out", resolved),
        ("hunk", "hunk left out", refused),
    ]
    made = [
        Variant(kind=kind, rule=rule, path="a.js", line=1, patch_digest="d", **more) for kind, rule, more in variants
    ]
    unsound = [rating.model_copy(update=refused) for rating in made]
    audits = [
        VerdictAudit(instance_id=UI.instance_id(number), image="i", seed=0, wanted=2, variants=tuple(several))
        for number, several in ((1, made), (2, unsound))
    ]
    write_records(store.audit(UI), audits)


def review(store: Store) -> None:
    one = {"success_criteria": ("1.1.1", "1.3.1", "4.1.2"), "principles": ("perceivable", "robust")}
    reviews = [
        make_review(1, difficulty="easy", **one),
        make_review(1, rater="ben", success_criteria=("1.1.1",), principles=("perceivable",)),
        make_review(2, success_criteria=(), principles=("operable",), difficulty="difficult"),
        make_review(4, success_criteria=(), principles=(), status="rejected"),
    ]
    write_records(store.reviews(UI), reviews)


def predict_and_evaluate(store: Store) -> None:
    a = [make_prediction(1), make_prediction(2, model_patch=""), make_prediction(3, model_patch=OTHER_PATCH)]
    b = [make_prediction(number, model_name_or_path="lab/model-b") for number in (1, 2)]
    forms = make_prediction(1, FORMS, model_name_or_path="lab/model-b")
    add_run(store, UI, a)
    add_run(store, UI, b)
    add_run(store, FORMS, [forms])
    unresolved = make_verdict(a[2], Outcome.UNRESOLVED, broken={"opens": "FAILED"}, cause="")
    add_verdicts(store, UI, [make_verdict(a[0]), make_verdict(a[1], Outcome.EMPTY), unresolved])
    add_verdicts(store, UI, [make_verdict(b[0]), make_verdict(b[1], Outcome.NOT_EVALUATED, cause="engine")])
    add_verdicts(store, FORMS, [make_verdict(forms)])


def add_run(store: Store, repo: Repo, predictions: list[Prediction], time: str = "20240506T070809Z") -> Path:
    """A run's folder, as stage 03 leaves it."""
    agent, model = predictions[0].agent, predictions[0].model_name_or_path
    folder = store.predictions(repo, agent, model) / time
    write_records(folder / "predictions.jsonl", predictions)
    write_json(folder / "run.json", {"repo": str(repo), "agent": agent, "model": model, "started": time})
    return folder / "predictions.jsonl"


def about(predictions: Path, *names: str) -> None:
    """Limit the run's record to these instances."""
    path = predictions.with_name("run.json")
    write_json(path, read_object(path) | {"instances": list(names)})


def add_metadata(store: Store, name: str, model: str = "model-a", **said: Any) -> Path:
    """An agent's metadata for one instance, in the folder of its newest run."""
    (run,) = store.predictions(UI, "magentless", model).glob("*/predictions.jsonl")
    path = run.parent / "instances" / name / "metadata.json"
    write_json(path, said)
    return path


def each_with_instances_of_its_own(store: Store) -> None:
    """As after `agt-run` of model-a with `--pr 2` and of model-b with `--pr 1`: only model-a resolves its instance."""
    collect(store)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    for number, model, outcome in ((2, "model-a", Outcome.RESOLVED), (1, "model-b", Outcome.UNRESOLVED)):
        prediction = make_prediction(number, model_name_or_path=model)
        about(add_run(store, UI, [prediction]), prediction.instance_id)
        add_verdicts(store, UI, [make_verdict(prediction, outcome)])


def check_by_hand(store: Store, number: int, *ratings: str, patch: str = FIX_PATCH) -> None:
    """Ratings of a patch by several people."""
    name = UI.instance_id(number)
    rows = [(f"rater {place}", rating) for place, rating in enumerate(ratings)]
    checks = [
        HandCheck(instance_id=name, patch=patch_key(name, patch), rater=rater, rating=rating) for rater, rating in rows
    ]
    write_records(store.handchecks, [*read_records(store.handchecks, HandCheck), *checks])


def add_verdicts(store: Store, repo: Repo, verdicts: list[Verdict]) -> Path:
    path = store.evaluation(repo, verdicts[0].agent, verdicts[0].model) / "verdicts.jsonl"
    write_records(path, verdicts)
    return path


def spend(store: Store) -> None:
    lines = (
        "repair,acme/ui,model-a,magentless,embed-4b,10,1000,0.10,2,200,0.01",
        "repair,acme/ui,lab/model-b,magentless,embed-4b,20,3000,0.20,4,400,0.02",
        "repair,acme/forms,lab/model-b,magentless,embed-4b,5,500,0.00,0,0,0",
    )
    write_bytes(store.costs, "\n".join((",".join(CostRow.model_fields), *lines, "")).encode())


def fill_ledger(store: Store) -> None:
    """Three requests of one experiment, as the gateway records them, one after the other: two for an instance, one
    shared."""
    ledger = Ledger(store.ledger)
    spent = ((SHARED, "embedding", "0.01"), ("acme__ui-1", "llm", "0.04"), ("acme__ui-1", "llm", "0.06"))
    for holder, kind, cost in spent:
        hashed = key_hash(f"{holder} {cost}")
        ledger.issue(hashed, Key("alias", "experiment", "acme/ui", "model-a", "magentless", "settings", holder))
        booking = Booking("ok", Usage(tokens_in=100, tokens_out=10), Decimal(cost), latency_ms=500)
        ledger.book(ledger.open(hashed, "served", kind), booking)
    set_times(ledger, "09:00:00", "09:00:01", "09:00:02")
    ledger.close()


def set_times(ledger: Ledger, *times: str) -> None:
    """The times at which its requests were sent."""
    with ledger._db as db:
        rows = [(f"2026-01-02T{time}+00:00", number) for number, time in enumerate(times, 1)]
        db.executemany("UPDATE requests SET time = ? WHERE rowid = ?", rows)
