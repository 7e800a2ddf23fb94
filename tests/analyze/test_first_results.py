"""A beginner's first results: most data are missing or zero. The whole analysis runs on each case.

Each row of the table is a data directory, with the gaps that the report must mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import pytest
from analysis_data import Size, generate
from analyze.conftest import UI, add_metadata, add_run, add_verdicts, each_with_instances_of_its_own, fill_ledger
from click.testing import CliRunner, Result
from factories import (
    make_candidate,
    make_instance,
    make_prediction,
    make_rejection,
    make_review,
    make_verdict,
)

from pipeline import analyze
from pipeline.analyze.cli import command
from pipeline.analyze.frames import Frames
from pipeline.analyze.plots import process
from pipeline.core.assessment import Assessment
from pipeline.core.errors import UserError
from pipeline.core.records import CostRow, Outcome
from pipeline.core.store import Store, write_bytes, write_json, write_records

pytestmark = pytest.mark.long

Fill = Callable[[Store], object]
#: what programs write in place of an undefined number
NO_NUMBER = re.compile(r"[>,|: ](?:nan|NaN|NaT|None|<NA>|inf)[<,| .;%]")
COUNTS = ("total", "tests", "a11y", "issues", "sample", "without_issue")


def funnel(store: Store, *counts: int) -> None:
    row = {"repo": str(UI)} | dict(zip(COUNTS, counts or (0,) * 6, strict=True))
    write_json(store.raw(UI) / "funnel.json", row)


def collected(store: Store) -> None:
    funnel(store, 3, 2, 1, 1, 1, 0)
    write_records(store.raw(UI) / "candidates.jsonl", [make_candidate(1)])


def nothing_found(store: Store) -> None:
    funnel(store)
    write_records(store.raw(UI) / "candidates.jsonl", [])


def nothing_qualified(store: Store) -> None:
    collected(store)
    write_records(store.dataset(UI), [])
    write_records(store.qualification(UI) / "rejections.jsonl", [make_rejection(1)])


def built(store: Store, *numbers: int) -> None:
    collected(store)
    write_records(store.dataset(UI), [make_instance(number) for number in numbers or (1,)])


def only_built(store: Store) -> None:
    write_records(store.dataset(UI), [make_instance(1)])


def answered(store: Store, patch: str | None = None, numbers: tuple[int, ...] = (1,), **who: str) -> list:
    built(store, *numbers)
    patches = {} if patch is None else {"model_patch": patch}
    predictions = [make_prediction(number, **patches, **who) for number in numbers]
    add_run(store, UI, predictions)
    return predictions


def ended(outcome: Outcome, patch: str | None = None, **fields: object) -> Fill:
    """One model, whose only answer ended this way."""

    def fill(store: Store) -> None:
        (prediction,) = answered(store, patch)
        add_verdicts(store, UI, [make_verdict(prediction, outcome, **fields)])

    return fill


def wholly_not_evaluated(store: Store) -> None:
    predictions = answered(store, numbers=(1, 2, 3))
    add_verdicts(
        store, UI, [make_verdict(prediction, Outcome.NOT_EVALUATED, cause="engine") for prediction in predictions]
    )


def one_of_two_without_verdicts(store: Store) -> None:
    ended(Outcome.RESOLVED)(store)
    add_run(store, UI, [make_prediction(1, model_name_or_path="model-b")])


def references(store: Store) -> None:
    built(store)
    resolved_by_oracle(store)


def resolved_by_oracle(store: Store) -> None:
    prediction = make_prediction(1, agent="oracle", model_name_or_path="oracle")
    add_run(store, UI, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction)])


def predicted_beside_references(store: Store) -> None:
    references(store)
    answered(store)
    rated(store)


def rated(store: Store) -> None:
    write_records(store.reviews(UI), [make_review(1)])


def external(store: Store) -> None:
    """Predictions from another harness: no run.json, and none of our agents."""
    built(store)
    prediction = make_prediction(1, agent="their-harness", model_name_or_path="model-x", run="their-run")
    path = store.predictions(UI, "their-harness", "model-x") / "their-run" / "predictions.jsonl"
    write_records(path, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction, Outcome.UNRESOLVED)])


def verdicts_alone(store: Store) -> None:
    """A benchmark may publish verdicts without answers."""
    built(store)
    add_verdicts(store, UI, [make_verdict(make_prediction(1), Outcome.UNRESOLVED)])


def spent(store: Store, amount: str = "0.10") -> None:
    built(store)
    row = f"repair,acme/ui,model-a,magentless,embed,10,1000,{amount},0,0,0"
    write_bytes(store.costs, "\n".join((",".join(CostRow.model_fields), row, "")).encode())


def spent_and_resolved_nothing(store: Store) -> None:
    ended(Outcome.UNRESOLVED)(store)
    spent(store, "0")


def failed_requests(store: Store) -> None:
    built(store)
    fill_ledger(store)


def no_stage_reached(store: Store) -> None:
    ended(Outcome.EMPTY, "")(store)
    add_metadata(store, "acme__ui-1", funnel={"located": 0, "selected": 0})


def nothing_to_audit(store: Store) -> None:
    ended(Outcome.UNRESOLVED)(store)
    verdict = make_verdict(make_prediction(1), Outcome.UNRESOLVED)
    who = verdict.model_dump(include={"instance_id", "agent", "model", "run", "patch_digest", "image"})
    found = Assessment(**who, resolved=False, resolved_equivalent=False)
    write_records(store.evaluation(UI, "magentless", "model-a") / "assessments.jsonl", [found])


def no_line_changed(store: Store) -> None:
    """Gold renames a file, and so does the answer: neither has lines."""
    renames = "diff --git a/Menu.tsx b/Nav.tsx\nsimilarity index 100%\nrename from Menu.tsx\nrename to Nav.tsx\n"
    ended(Outcome.RESOLVED, renames)(store)
    write_records(store.dataset(UI), [make_instance(1, fix_patch=renames)])


def reviewed(store: Store) -> None:
    collected(store)
    bare = make_review(1, success_criteria=(), principles=(), difficulty=None)
    write_records(store.reviews(UI), [bare])


DIRECTORIES: dict[str, tuple[Fill, tuple[str, ...]]] = {
    "all funnels zero": (nothing_found, ("02 build: nothing yet for acme/ui.",)),
    "a funnel and no candidates": (funnel, ("02 build: nothing yet for acme/ui.",)),
    "collected, not built": (collected, ("02 build: nothing yet for acme/ui.", "00 triage: nothing yet for acme/ui.")),
    "reviewed, and nothing said": (reviewed, ("02 build: nothing yet for acme/ui.",)),
    "nothing qualified": (nothing_qualified, ("03 predict: nothing yet",)),
    "a dataset alone": (only_built, ("01 collect: nothing yet for acme/ui.",)),
    "built, not predicted": (built, ("03 predict: nothing yet",)),
    "references alone": (references, ()),
    "no verdicts": (answered, ("04 evaluate: nothing yet for magentless, model-a on acme/ui.",)),
    "references, and no verdicts": (
        predicted_beside_references,
        ("04 evaluate: nothing yet for magentless, model-a on acme/ui.",),
    ),
    "no verdicts of one of two": (one_of_two_without_verdicts, ()),
    "different instances": (each_with_instances_of_its_own, ()),
    "verdicts alone": (verdicts_alone, ()),
    "wholly not evaluated": (wholly_not_evaluated, ()),
    "costs, no predictions": (spent, ("03 predict: nothing yet",)),
    "a ledger, no predictions": (failed_requests, ("03 predict: nothing yet",)),
    "spent nothing, resolved nothing": (spent_and_resolved_nothing, ()),
    "another harness": (external, ()),
    "no stage reached": (no_stage_reached, ()),
    "assessed, and nothing said": (nothing_to_audit, ()),
    "no line changed": (no_line_changed, ()),
    "one of everything": (lambda store: generate(store, Size(3, 1, 1)), ()),
    **{
        f"one instance, {outcome.value}": (ended(outcome, "" if outcome is Outcome.EMPTY else None), ())
        for outcome in Outcome
    },
}


#: those analyzed in every test run; the others take half a minute, and run with the slow tests
CHOSEN = (
    "all funnels zero",
    "collected, not built",
    "built, not predicted",
    "references, and no verdicts",
    "different instances",
    "wholly not evaluated",
    "costs, no predictions",
    "another harness",
    "no stage reached",
    "no line changed",
    "one of everything",
)


def analyzed(store: Store, *options: str) -> Result:
    result = CliRunner().invoke(command, ["--data", str(store.root), *options], catch_exceptions=False)
    assert result.exit_code == 0
    return result


@contextmanager
def in_one_process() -> Iterator[process.Draw]:
    """Draws figures in the process of the test: starting another one would take longer."""

    def draw(frames: Frames) -> tuple[process.Tables, process.Images]:
        tables = analyze.tables(frames)
        return tables, process.in_this_process(frames, tables)

    yield draw


@pytest.mark.trap("first-result-crashes")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in CHOSEN else pytest.mark.engine("disk")) for name in DIRECTORIES]
)
@pytest.mark.filterwarnings("error")
def test_the_analysis_of_any_first_results_runs(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill, missing = DIRECTORIES[name]
    store = Store(tmp_path / "data")
    fill(store)
    monkeypatch.setattr(process, "in_another_process", in_one_process)
    result = analyzed(store)
    assert "report: " in result.stdout
    report = (store.analysis / "report.html").read_text(encoding="utf-8")
    for note in missing:
        assert note in result.stderr
        assert note in report
    made = [*store.analysis.glob("tables/*"), store.analysis / "figures" / "alternatives.md"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in made} | {"report": report.split("<script>")[0]}
    assert {name: found[0] for name, text in texts.items() if (found := NO_NUMBER.search(text))} == {}


def no_answers(store: Store) -> None:
    (path,) = store.predictions(UI, "magentless", "model-a").glob("*/predictions.jsonl")
    write_records(path, [])


#: the data that can exist, alone or together -> how they are made, and how their file is left empty
PARTS: dict[str, tuple[Fill, Fill]] = {
    "references": (resolved_by_oracle, lambda _: None),
    "predictions": (lambda store: add_run(store, UI, [make_prediction(1)]), no_answers),
    "verdicts": (
        lambda store: add_verdicts(store, UI, [make_verdict(make_prediction(1))]),
        lambda store: write_records(store.evaluation(UI, "magentless", "model-a") / "verdicts.jsonl", []),
    ),
    "ratings": (rated, lambda store: write_records(store.reviews(UI), [])),
}
SUBSETS = [names for size in range(len(PARTS) + 1) for names in combinations(PARTS, size)]


@pytest.mark.trap("first-result-crashes")
@pytest.mark.parametrize("others", ["missing", pytest.param("empty", marks=pytest.mark.engine("disk"))])
@pytest.mark.parametrize("names", SUBSETS, ids=", ".join)
@pytest.mark.filterwarnings("error")
def test_the_analysis_runs_with_any_results_missing(tmp_path: Path, names: tuple[str, ...], others: str) -> None:
    store = Store(tmp_path / "data")
    only_built(store)
    for name, (fill, leave_empty) in PARTS.items():
        if name in names or (name == "predictions" and others == "empty"):
            fill(store)
        if name not in names and others == "empty":
            leave_empty(store)
    tables = analyze.tables(analyze.load(store))
    judged = "verdicts" in names and ("predictions" in names or others == "missing")  # or they are on older answers
    assert ("leaderboard" in tables) == judged
    assert ("outcomes" in tables) == (judged or "references" in names), "references have outcomes, too"
    assert ("by_principle" in tables) == (judged and "ratings" in names)


@pytest.mark.trap("first-result-crashes")
@pytest.mark.filterwarnings("error")
def test_leaving_out_every_instance_is_reported(tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    own = {"statement_source": "pull_request"}
    write_records(store.dataset(UI), [make_instance(1, **own)])
    add_run(store, UI, [make_prediction(1)])
    add_verdicts(store, UI, [make_verdict(make_prediction(1))])
    assert "Left out: 1 without a linked issue." in analyzed(store, "--issues-only").stderr
    further = generate(Store(tmp_path / "further"), Size(3, 1, 1))
    assert analyzed(store, "--issues-only", "--samples", str(further.root), "--cutoff", "model-a=2024-01-01")


@pytest.mark.trap("first-result-crashes")
@pytest.mark.parametrize("folder", ["", "01_raw", "03_predictions/magentless"])
def test_an_empty_directory_is_refused_with_a_hint(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    with pytest.raises(UserError, match="nothing to analyze") as error:
        CliRunner().invoke(command, ["--data", str(tmp_path)], catch_exceptions=False)
    assert "collect first" in str(error.value) and list(tmp_path.rglob("*.html")) == []
