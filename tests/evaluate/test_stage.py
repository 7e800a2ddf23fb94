"""Evaluating predictions: which are run, which are not, and what is kept."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import pytest
from evaluate.conftest import BREAKS, ELSEWHERE, FIX, SILENCE, WRONG, Evaluation, change
from tiny_library import LIMITS, NUMBERS, QUALIFIED, Bench, instance_id

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.records import Outcome, Prediction, Verdict
from pipeline.core.store import of_attempt, read_json, read_records, write_bytes, write_json, write_records
from pipeline.core.subset import Subset
from pipeline.evaluate import grade, kept
from pipeline.evaluate.answers import Subject, attempts
from pipeline.evaluate.regrade import regrade
from pipeline.evaluate.stage import evaluate
from pipeline.sandbox.base import Limits

REPO = factories.REPO
SUBJECT = Subject(REPO, "magentless", "model-a")


def outcomes(verdicts: dict[str, Verdict]) -> dict[str, str]:
    return {name: str(verdict.outcome) for name, verdict in verdicts.items()}


@pytest.mark.invariant(2)
def test_the_gold_patch_resolves_every_instance(evaluation: Evaluation, tiny: Bench) -> None:
    """If the oracle fails an instance, the dataset is at fault, and no model is asked about it."""
    evaluation.predict(**{name: tiny.outcomes[name].fix_patch for name in QUALIFIED})
    assert outcomes(evaluation.evaluate()) == dict.fromkeys(QUALIFIED, "resolved")


@pytest.mark.trap("denominator")
def test_every_instance_has_a_verdict(evaluation: Evaluation) -> None:
    """An instance without a prediction is not left out: it counts as unresolved."""
    evaluation.predict(menu=FIX, badge="\n", toggle=change("src/toggle.js", "other", "new"))
    verdicts = evaluation.evaluate()
    assert outcomes(verdicts) == {
        "menu": "resolved",
        "badge": "empty",
        "toggle": "not_applied",
        "tabs": "no_prediction",
        "icon": "no_prediction",
        "hash": "no_prediction",
        "made": "no_prediction",
        "born": "no_prediction",
        "part": "no_prediction",
    }
    assert "the predicted patch does not apply" in verdicts["toggle"].cause
    folder = evaluation.store.evaluation(REPO, "magentless", "model-a")
    assert read_records(folder / "verdicts.jsonl", Verdict) == list(verdicts.values())
    report = read_json(folder / "final_report.json")
    assert (report["total_instances"], report["incomplete_instances"]) == (9, 6)
    assert report["resolved_ids"] == [instance_id("menu")]


def test_fixed_and_broken_tests_are_listed(evaluation: Evaluation) -> None:
    evaluation.predict("wrong", menu=WRONG)
    evaluation.predict("breaks", menu=BREAKS)
    wrong, breaks = evaluation.evaluate("wrong")["menu"], evaluation.evaluate("breaks")["menu"]
    assert (wrong.outcome, wrong.unfixed, wrong.broken) == (
        Outcome.UNRESOLVED,
        {"src/menu.test.js > named": "FAILED"},
        {},
    )
    assert (breaks.outcome, breaks.fixed, breaks.broken) == (
        Outcome.UNRESOLVED,
        ("src/menu.test.js > named",),
        {"src/menu.test.js > works": "FAILED"},
    )


@pytest.mark.trap("graded-with-its-own-edits")
@pytest.mark.rule("restore")
def test_edits_of_tests_are_undone_and_listed(evaluation: Evaluation) -> None:
    """A patch that weakens a test is graded with gold's version. The attempt is recorded, and is no offence."""
    weak = change("src/menu.test.js", "works | src/menu.js | old", "works | src/menu.js | ")
    evaluation.predict(menu=WRONG + weak)
    verdict = evaluation.evaluate()["menu"]
    assert (verdict.outcome, verdict.restored) == (Outcome.UNRESOLVED, ("src/menu.test.js",))


@pytest.mark.rule("tampered")
def test_a_patch_that_silences_the_runner_is_tampering(evaluation: Evaluation) -> None:
    evaluation.forget()
    evaluation.predict(menu=FIX + SILENCE)
    verdict = evaluation.evaluate()["menu"]
    assert (verdict.outcome, verdict.cause) == (Outcome.TAMPERED, "the runner ended without announcing its report")


@pytest.mark.trap("guessed-configuration")
def test_changes_to_files_that_the_runner_reads_are_undone(evaluation: Evaluation) -> None:
    """In this library the runner itself is such a file, under a name that reveals nothing. What was kept for an older
    dataset does not count."""
    evaluation.predict(menu=FIX + SILENCE)
    verdict = evaluation.evaluate()["menu"]
    assert (verdict.outcome, verdict.restored) == (Outcome.RESOLVED, ("jest/bin/jest.js",))
    evaluation.forget()
    assert evaluation.evaluate()["menu"].outcome is Outcome.TAMPERED


# -- what is run again -----------------------------------------------------------------------------------------------
@pytest.mark.trap("verdict-of-another-model")
def test_equal_patches_of_two_models_share_one_run(evaluation: Evaluation) -> None:
    """Some benchmarks cache by instance, so model B would get model A's verdict."""
    evaluation.predict("model-a", menu=FIX)
    evaluation.predict("model-b", menu=FIX)
    first, second = evaluation.evaluate("model-a")["menu"], evaluation.evaluate("model-b")["menu"]
    assert len(evaluation.sandbox.opened) == 2  # a run and a counter-run
    assert (first.model, second.model) == ("model-a", "model-b")
    assert second == first.model_copy(update={"model": "model-b"})


@pytest.mark.trap("verdict-of-another-patch")
def test_a_changed_patch_is_run_again(evaluation: Evaluation) -> None:
    evaluation.predict(menu=FIX)
    assert evaluation.evaluate()["menu"].outcome is Outcome.RESOLVED
    evaluation.predict(menu=WRONG)
    assert evaluation.evaluate()["menu"].outcome is Outcome.UNRESOLVED
    assert len(evaluation.sandbox.opened) == 3  # what does not pass is put to no counter-run
    old = next(evaluation.store.archive_root.glob("*/04_evaluation/repair/magentless/*/model-a/verdicts.jsonl"))
    assert read_records(old, Verdict)[0].outcome is Outcome.RESOLVED


@pytest.mark.rule("manifest-last")
def test_other_limits_are_another_run(evaluation: Evaluation) -> None:
    evaluation.predict(menu=FIX)
    evaluation.evaluate()
    evaluation.evaluate(limits=Limits(seconds=LIMITS.seconds + 1))
    assert len(evaluation.sandbox.opened) == 4


@pytest.mark.invariant(3)
def test_a_second_evaluation_gives_the_same_bytes(evaluation: Evaluation, tiny: Bench, tmp_path: Path) -> None:
    """A verdict depends on instance, image, patch, command and parser, and on nothing else."""
    other = Evaluation(tiny.copy(tmp_path / "other"))
    for one in (evaluation, other):
        one.predict(menu=FIX, badge=SILENCE, toggle=change("src/toggle.js", "old", "old"), icon=WRONG)
        one.evaluate(jobs=1 if one is other else 2)
    folders = [run.store.evaluation(REPO, "magentless", "model-a") for run in (evaluation, other)]
    for name in ("verdicts.jsonl", "final_report.json"):
        assert len({(folder / name).read_bytes() for folder in folders}) == 1


@pytest.mark.invariant(3)
@pytest.mark.rule("regrade")
def test_regrading_from_stored_runs_gives_the_same_verdicts(evaluation: Evaluation) -> None:
    """Byte for byte, without an engine or the clock: logs and reports contain everything."""
    absent = change("src/tabs.js", "none", "new")
    evaluation.forget()
    evaluation.predict(menu=FIX, badge=SILENCE, toggle=ELSEWHERE, tabs=absent, hash="")
    evaluation.evaluate()
    folder = evaluation.store.evaluation(REPO, "magentless", "model-a")
    names = ("verdicts.jsonl", "final_report.json")
    before = [(folder / name).read_bytes() for name in names]
    for name in names:
        (folder / name).unlink()
    shutil.rmtree(evaluation.store.raw(REPO))
    evaluation.sandbox.opened.clear()
    verdicts = regrade(evaluation.store, SUBJECT)
    assert [(folder / name).read_bytes() for name in names] == before
    assert {verdict.outcome for verdict in verdicts} == set(Outcome) - {
        Outcome.CRASHED,
        Outcome.TIMEOUT,
        Outcome.NOT_EVALUATED,
    }
    assert evaluation.sandbox.opened == []


@pytest.mark.rule("regrade")
@pytest.mark.trap("verdict-of-another-patch")
def test_patches_that_were_not_run_are_not_graded(evaluation: Evaluation) -> None:
    """For a changed patch or a rebuilt dataset, no verdict is better than an old one."""
    evaluation.predict(menu=FIX)
    with pytest.raises(UserError, match="nothing was evaluated"):
        regrade(evaluation.store, SUBJECT)
    evaluation.evaluate()
    evaluation.predict(menu=WRONG, badge=ELSEWHERE)
    causes = {verdict.instance_id: verdict.cause for verdict in regrade(evaluation.store, SUBJECT)}
    assert [causes[instance_id(name)] for name in ("menu", "badge")] == ["its run is not stored"] * 2


@pytest.mark.rule("identity")
@pytest.mark.rule("lower-assurance")
def test_a_verdict_has_its_identity_and_the_differences(evaluation: Evaluation) -> None:
    evaluation.predict(menu=FIX)
    evaluation.evaluate()
    found = evaluation.evaluate(limits=replace(LIMITS, seconds=99))["menu"]
    menu = evaluation.bench.instance("menu")
    assert (found.ran.node, found.ran.sandbox, found.lacks) == (menu.ran.node, "local", menu.lacks)
    assert found.ran.limits["seconds"] == 99
    (difference,) = found.differs
    assert difference.startswith("limits: ") and "seconds 99" in difference


@pytest.mark.rule("law")
def test_another_law_of_running_runs_a_patch_again(evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions used to be raised by hand, and protecting one more file left all old verdicts in place."""
    evaluation.predict(menu=FIX)
    evaluation.evaluate()
    evaluation.sandbox.opened.clear()
    evaluation.evaluate()
    assert evaluation.sandbox.opened == []
    monkeypatch.setattr(kept, "of_run", lambda *_, parser: "another")
    evaluation.evaluate()
    assert len(evaluation.sandbox.opened) == 2


@pytest.mark.rule("law")
def test_another_law_of_grading_runs_no_tests(evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation.predict(menu=FIX)
    before = evaluation.evaluate()["menu"]
    evaluation.sandbox.opened.clear()
    monkeypatch.setattr(grade, "law_of", lambda *_, parser: "another")
    after = evaluation.evaluate()["menu"]
    assert evaluation.sandbox.opened == []
    assert (before.law, after.law) != ("", "") and after.law == "another"
    assert after.model_copy(update={"law": before.law}) == before


@pytest.mark.rule("regrade")
def test_regrading_reads_the_stored_report_again(evaluation: Evaluation) -> None:
    """A later improvement of the report reader also applies to runs that are kept."""
    evaluation.predict(menu=FIX)
    evaluation.evaluate()
    (path,) = evaluation.store.root.glob("04_evaluation/runs/*/*/tests.report.gz")
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'"title":"named"', b'"title":"other"')))
    (found,) = (verdict for verdict in regrade(evaluation.store, SUBJECT) if verdict.tests)
    assert (found.outcome, found.unfixed) == (Outcome.UNRESOLVED, {"src/menu.test.js > named": "NONE"})


@pytest.mark.invariant(7)
@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_broken_machine_is_not_a_models_failure(evaluation: Evaluation) -> None:
    """It is an outcome of its own, the other instances continue, and the same command tries it again."""
    evaluation.bench.break_image("menu")
    evaluation.bench.break_image("toggle", RuntimeError("a mistake of ours"))
    evaluation.predict(menu=FIX, badge=ELSEWHERE, toggle=ELSEWHERE)
    verdicts = evaluation.evaluate()
    assert (verdicts["menu"].outcome, verdicts["menu"].cause) == (Outcome.NOT_EVALUATED, "engine: the engine is gone")
    assert verdicts["toggle"].cause == "RuntimeError: a mistake of ours"
    assert verdicts["badge"].outcome is Outcome.UNRESOLVED
    evaluation.sandbox.broken.clear()
    evaluation.sandbox.opened.clear()
    assert evaluation.evaluate()["menu"].outcome is Outcome.RESOLVED
    assert len(evaluation.sandbox.opened) == 3


@pytest.mark.invariant(4)
@pytest.mark.trap("infrastructure-is-not-failure")
@pytest.mark.parametrize("own", ["agent_error", "cap_reached"])
def test_a_providers_failure_is_not_a_models_failure(evaluation: Evaluation, own: str) -> None:
    """SWE-bench Pro scores a 429 as a model's failure. Here, only an agent's own fault counts as a missing
    prediction."""
    path = evaluation.predict(menu=FIX)
    unanswered = {instance_id("badge"): "provider", instance_id("toggle"): own}
    write_json(path.with_name("metadata.json"), {"unanswered": unanswered})
    verdicts = evaluation.evaluate()
    assert (verdicts["badge"].outcome, verdicts["badge"].cause) == (Outcome.NOT_EVALUATED, "provider")
    assert verdicts["toggle"].outcome is Outcome.NO_PREDICTION


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("unanswered", [[], {"x": None}, "provider"])
def test_invalid_causes_are_refused_with_their_file(evaluation: Evaluation, unanswered: Any) -> None:
    path = evaluation.predict(menu=FIX).with_name("metadata.json")
    write_json(path, {"unanswered": unanswered})
    with pytest.raises(UserError) as caught:
        evaluation.evaluate()
    assert (caught.value.path, caught.value.field) == (path, "unanswered")


@pytest.mark.invariant(3)
def test_a_dataset_of_another_clone_gets_no_verdict(evaluation: Evaluation) -> None:
    """The image built from the clone must be the one that the dataset names."""
    path = evaluation.store.dataset(REPO)
    write_records(path, [evaluation.bench.instance("menu").model_copy(update={"image": "0" * 32})])
    evaluation.predict(menu=FIX)
    verdict = evaluation.evaluate()["menu"]
    assert verdict.outcome is Outcome.NOT_EVALUATED
    assert "would make another image than the one that the instance qualified with" in verdict.cause


# -- which predictions -----------------------------------------------------------------------------------------------
def test_the_newest_run_counts_unless_one_is_named(evaluation: Evaluation) -> None:
    evaluation.predict(run="20240101T000000Z", menu=WRONG)
    evaluation.predict(run="20240202T000000Z", menu=FIX)
    assert evaluation.evaluate()["menu"].run == "20240202T000000Z"
    assert evaluation.evaluate(run="20240101T000000Z")["menu"].outcome is Outcome.UNRESOLVED
    with pytest.raises(UserError, match="unknown run 'monday'") as error:
        evaluation.evaluate(run="monday")
    assert "available: 20240101T000000Z, 20240202T000000Z" in str(error.value)


def test_only_selected_patches_are_run_and_others_keep_their_verdicts(evaluation: Evaluation) -> None:
    """Evaluating a part of a dataset removes no earlier verdict."""
    evaluation.predict(menu=FIX, badge=WRONG)
    first = evaluation.evaluate(subset=Subset(numbers=(NUMBERS["menu"],)))
    assert first["menu"].outcome is Outcome.RESOLVED
    assert (first["badge"].outcome, first["badge"].cause) == (Outcome.NOT_EVALUATED, "not_selected")
    second = evaluation.evaluate(subset=Subset(numbers=(NUMBERS["badge"],)))
    assert second["menu"].outcome is Outcome.RESOLVED
    assert second["badge"].outcome is not Outcome.NOT_EVALUATED


def test_verdicts_cover_the_instances_of_the_run(evaluation: Evaluation) -> None:
    path = evaluation.predict(menu=FIX)
    write_json(path.with_name("run.json"), {"instances": [instance_id("menu")]})
    assert list(evaluation.evaluate()) == ["menu"]


def test_every_attempt_has_its_own_verdicts(evaluation: Evaluation) -> None:
    path = evaluation.predict(menu=WRONG)
    first = path.read_text()
    evaluation.predict(menu=FIX)
    write_bytes(of_attempt(path.parent, 2) / "predictions.jsonl", path.read_bytes())
    path.write_text(first)
    subjects = attempts(evaluation.store, SUBJECT)
    assert [subject.attempt for subject in subjects] == [1, 2]
    for one, wanted in zip(subjects, (Outcome.UNRESOLVED, Outcome.RESOLVED), strict=True):
        verdicts = evaluate(evaluation.store, one, evaluation.sandbox, limits=LIMITS, trust_local=True)
        by_id = {verdict.instance_id: verdict.outcome for verdict in verdicts}
        assert by_id[instance_id("menu")] is wanted
        assert (one.folder(evaluation.store) / "verdicts.jsonl").exists()


@pytest.mark.rule("bad-input")
def test_two_predictions_of_one_instance_are_refused(evaluation: Evaluation) -> None:
    path = evaluation.predict(menu=FIX)
    path.write_text(path.read_text() * 2)
    with pytest.raises(UserError, match="is in this file twice") as error:
        evaluation.evaluate()
    assert (error.value.path, error.value.field) == (path, "instance_id")


@pytest.mark.rule("bad-input")
def test_a_prediction_of_another_dataset_is_refused(evaluation: Evaluation) -> None:
    """If it were silently left out, its model would seem to have been asked about fewer instances."""
    path = evaluation.predict(menu=FIX)
    path.write_text(path.read_text().replace("acme__ui-", "acme__ui-9"))
    with pytest.raises(UserError, match="is not in the dataset") as error:
        evaluation.evaluate()
    assert (error.value.path, error.value.field) == (path, "instance_id")


@pytest.mark.rule("bad-input")
def test_a_broken_line_is_named(evaluation: Evaluation) -> None:
    path = evaluation.predict(menu=FIX, badge=FIX)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], json.dumps(json.loads(lines[1]) | {"model_patch": 7})]))
    with pytest.raises(UserError) as error:
        evaluation.evaluate()
    assert (error.value.path, error.value.line, error.value.field) == (path, 2, "model_patch")
    assert not (evaluation.store.root / "04_evaluation").exists()


@pytest.mark.rule("bad-input")
def test_missing_predictions_and_datasets_are_refused_with_a_hint(evaluation: Evaluation) -> None:
    with pytest.raises(UserError, match="no predictions of magentless with model-a") as error:
        evaluation.evaluate()
    assert "just agt-run acme/ui model-a --agent magentless" in str(error.value)
    evaluation.store.dataset(REPO).unlink()
    with pytest.raises(UserError, match="acme/ui has no dataset") as error:
        evaluation.evaluate()
    assert "just build-run acme/ui" in str(error.value)


@pytest.mark.rule("swe-bench-predictions")
def test_predictions_of_swe_bench_are_read(evaluation: Evaluation) -> None:
    """Three fields are all that other tools write."""
    path = evaluation.predict(menu=FIX)
    fields = {"instance_id": instance_id("menu"), "model_name_or_path": "model-a", "model_patch": FIX}
    path.write_text(json.dumps(fields) + "\n")
    assert not read_records(path, Prediction)[0].trusted
    assert evaluation.evaluate()["menu"].outcome is Outcome.RESOLVED


@pytest.mark.trap("folder-collision")
def test_answers_of_another_model_are_refused(evaluation: Evaluation) -> None:
    """`org/m`, `org:m` and `org_m` shared a folder, and each got the newest answers in it."""
    path = evaluation.predict("org_m", menu=FIX)
    with pytest.raises(UserError, match="no predictions of magentless with org/m"):
        evaluation.evaluate("org/m")
    stray = evaluation.store.predictions(REPO, "magentless", "org/m") / path.parent.name
    shutil.copytree(path.parent, stray)
    with pytest.raises(UserError, match="a prediction of magentless with org_m"):
        evaluation.evaluate("org/m")


# -- trust and locks -------------------------------------------------------------------------------------------------
@pytest.mark.invariant(5)
@pytest.mark.rule("local-sandbox")
def test_a_models_patch_does_not_run_in_the_local_sandbox(evaluation: Evaluation) -> None:
    """Nobody has read that code; an empty patch contains none."""
    evaluation.predict(trusted=False, menu=FIX)
    with pytest.raises(UserError, match="isolates nothing and would run a model's patch"):
        evaluation.evaluate(trust_local=False)
    assert evaluation.sandbox.opened == []
    evaluation.predict(trusted=False, menu="")
    assert evaluation.evaluate(trust_local=False)["menu"].outcome is Outcome.EMPTY


@pytest.mark.rule("locks")
def test_the_same_model_is_refused_and_another_is_not(evaluation: Evaluation) -> None:
    evaluation.predict("model-a", menu="")
    evaluation.predict("model-b", menu="")
    with evaluation.store.lock("evaluate", REPO, "magentless", "model-a"):
        with pytest.raises(UserError, match="is under way"):
            evaluation.evaluate("model-a")
        assert evaluation.evaluate("model-b")["menu"].outcome is Outcome.EMPTY


def test_no_patch_is_tried_once_the_sandbox_is_gone(evaluation: Evaluation, tiny: Bench) -> None:
    """A few may have begun before the first failure is seen. The next evaluation makes up for all of them."""
    sandbox, names = evaluation.bench.sandbox, dict.fromkeys(QUALIFIED)
    evaluation.predict(**{name: tiny.outcomes[name].fix_patch for name in names})
    images = [tiny.instance(name).image for name in names]
    sandbox.broken = dict.fromkeys(images, InfrastructureError("the connection was refused", cause="engine"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sandbox, "check", lambda: raises(UserError("no engine", hint="start it")))
        verdicts = evaluation.evaluate(jobs=1)
    assert outcomes(verdicts) == dict.fromkeys(names, "not_evaluated")
    causes = Counter(verdict.cause for verdict in verdicts.values())
    assert causes["engine: not started: no engine"], "each of them waits for it otherwise"
    sandbox.broken = {}
    assert outcomes(evaluation.evaluate()) == dict.fromkeys(names, "resolved")


def raises(error: Exception) -> None:
    raise error
