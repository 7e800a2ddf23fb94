"""Contradictory records: each check names the file, the field, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from factories import REPO, make_instance, make_prediction, make_rejection, make_verdict

from pipeline.analyze.reading import checks
from pipeline.core.assessment import Assessment
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, agent_folder, folder_name
from pipeline.core.records import Instance, Issue, Outcome

PATH = Path("data/x.jsonl")


def refused(check: Callable[..., Any], *arguments: Any) -> UserError:
    with pytest.raises(UserError) as error:
        check(*arguments)
    assert error.value.hint
    return error.value


def test_a_record_that_does_not_fit_is_named_by_file_line_and_field() -> None:
    error = refused(checks.valid, Issue, {"number": "one", "title": "t"}, PATH, 3)
    assert (error.path, error.line, error.field) == (PATH, 3, "number")
    error = refused(checks.valid, Instance, {"resolved_issues": [{"number": 1}]}, PATH)
    assert error.line is None and error.field is not None


def test_a_record_that_fits_is_returned() -> None:
    assert checks.valid(Issue, {"number": 1, "title": "t"}, PATH) == Issue(number=1, title="t")


@pytest.mark.parametrize(
    ("instance", "repo"),
    [
        (make_instance(1), Repo("acme", "forms")),
        (make_instance(1, Repo("acme", "forms")), REPO),
    ],
    ids=["another dataset", "another repository"],
)
def test_an_instance_is_in_its_own_dataset(instance: Instance, repo: Repo) -> None:
    error = refused(checks.belongs, instance, repo, PATH)
    assert (error.path, error.field) == (PATH, "instance_id")
    checks.belongs(make_instance(1), REPO, PATH)


def test_an_instance_that_is_kept_and_rejected_is_refused() -> None:
    error = refused(checks.not_kept, make_rejection(1), {"acme__ui-1"}, PATH, Path("data/kept.jsonl"))
    assert "data/kept.jsonl" in str(error) and error.hint == "run that stage again"
    checks.not_kept(make_rejection(1), {"acme__ui-2"}, PATH, PATH)


@pytest.mark.parametrize(
    "record", [make_prediction(2), make_verdict(make_prediction(2))], ids=["prediction", "verdict"]
)
def test_predictions_and_verdicts_belong_to_instances(record: Any) -> None:
    error = refused(checks.known, record, {"acme__ui-1"}, PATH)
    assert "acme__ui-2 is not in the dataset" in str(error)
    checks.known(record, {"acme__ui-2"}, PATH)


@pytest.mark.parametrize("who", [("magentless", "model-b"), ("nop", "model-a")])
def test_a_prediction_has_the_agent_and_model_of_its_run(who: tuple[str, str]) -> None:
    assert "a record of magentless, model-a in a run of" in str(refused(checks.of_run, make_prediction(), who, PATH))
    checks.of_run(make_prediction(), ("magentless", "model-a"), PATH)


@pytest.mark.parametrize("model", ["model-a", "org/model:8b", "Model-A"])
def test_a_record_lies_in_the_folder_of_its_agent_and_model(model: str) -> None:
    """Folder names are injective, so a name that only looks the same has another folder."""
    folder = Path("data", agent_folder("magentless"), REPO.slug, folder_name(model))
    checks.of_folder("magentless", model, folder, PATH)
    refused(checks.of_folder, "magentless", f"{model}x", folder, PATH)
    refused(checks.of_folder, "magentless@greedy", model, folder, PATH)


@pytest.mark.parametrize(
    ("outcome", "patch", "agrees"),
    [
        (Outcome.EMPTY, "", True),
        (Outcome.EMPTY, " \n", True),
        (Outcome.EMPTY, "diff", False),
        (Outcome.RESOLVED, "", False),
        (Outcome.UNRESOLVED, "", False),
        (Outcome.RESOLVED, "diff", True),
        (Outcome.NOT_EVALUATED, "", True),
        (Outcome.NOT_APPLIED, "diff", True),
        (Outcome.TIMEOUT, "diff", True),
    ],
)
def test_a_verdict_is_empty_exactly_when_the_patch_is(outcome: Outcome, patch: str, agrees: bool) -> None:
    answer = make_prediction(model_patch=patch)
    arguments = (make_verdict(answer, outcome), answer, lambda: Path("data/verdicts"), PATH)
    if agrees:
        checks.agrees(*arguments)
    else:
        error = refused(checks.agrees, *arguments)
        assert (error.path, error.field) == (Path("data/verdicts/verdicts.jsonl"), "outcome") and str(PATH) in str(
            error
        )


def assessed(resolved: bool) -> Assessment:
    whose = {"agent": "magentless", "model": "model-a", "run": "r", "patch_digest": "", "image": ""}
    return Assessment(instance_id="acme__ui-1", resolved=resolved, resolved_equivalent=resolved, **whose)


@pytest.mark.parametrize("outcome", [Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.TAMPERED])
def test_an_assessment_never_changes_the_verdict(outcome: Outcome) -> None:
    verdict = make_verdict(make_prediction(), outcome)
    resolved = outcome is Outcome.RESOLVED
    checks.agrees_with_verdict(assessed(resolved), verdict, PATH)
    error = refused(checks.agrees_with_verdict, assessed(not resolved), verdict, PATH)
    assert error.field == "resolved" and "verdicts.jsonl" in str(error)


@pytest.mark.parametrize("field", ["unfixed", "broken"])
def test_a_resolved_verdict_with_failed_tests_is_refused(field: str) -> None:
    verdict = make_verdict(make_prediction(), Outcome.RESOLVED, **{field: {"a": "FAILED"}})
    error = refused(checks.consistent, verdict, PATH)
    assert error.field == "outcome"
    checks.consistent(make_verdict(make_prediction(), Outcome.UNRESOLVED, **{field: {"a": "FAILED"}}), PATH)
    checks.consistent(make_verdict(make_prediction()), PATH)
