"""From a run to an outcome, and from outcomes to a report: pure functions."""

from __future__ import annotations

from dataclasses import replace

import factories
import pytest

from pipeline.core.records import Identity, Outcome, Status
from pipeline.core.store import digest
from pipeline.evaluate.final_report import GROUPS, final_report
from pipeline.evaluate.grade import Graded, differences, of_run, sign, without_run
from pipeline.execution.runs import TestRun

NAMED, OPENS = factories.TESTS
INSTANCE = factories.make_instance(1)
GOOD = TestRun(results={NAMED: Status.PASSED, OPENS: Status.PASSED})


def with_results(**changes: str) -> TestRun:
    """The good run with other statuses: `named` is the fail-to-pass test, `opens` the pass-to-pass one."""
    names = {"named": NAMED, "opens": OPENS}
    results = GOOD.results | {names[key]: Status(status) for key, status in changes.items()}
    return TestRun(results={name: status for name, status in results.items() if status is not Status.NONE})


@pytest.mark.rule("resolved")
def test_resolved_when_everything_expected_passes() -> None:
    graded = of_run(INSTANCE, GOOD)
    assert (graded.outcome, graded.cause) == (Outcome.RESOLVED, "")
    assert (graded.fields["fixed"], graded.fields["unfixed"], graded.fields["broken"]) == ((NAMED,), {}, {})


@pytest.mark.trap("lost-test-is-fine")
@pytest.mark.rule("resolved")
@pytest.mark.parametrize("status", ["FAILED", "SKIPPED", "NONE"])
def test_a_test_that_is_skipped_or_gone_does_not_pass(status: str) -> None:
    """Multi-SWE-bench takes p -> p -> NONE and p -> p -> SKIP for fine: a patch could delete what it breaks."""
    unfixed, broken = of_run(INSTANCE, with_results(named=status)), of_run(INSTANCE, with_results(opens=status))
    assert unfixed.outcome is broken.outcome is Outcome.UNRESOLVED
    assert (unfixed.fields["unfixed"], unfixed.fields["broken"]) == ({NAMED: status}, {})
    assert (broken.fields["unfixed"], broken.fields["broken"]) == ({}, {OPENS: status})


@pytest.mark.rule("quarantine")
def test_what_is_quarantined_decides_nothing() -> None:
    """A flaky test is in no expectation; whatever it does, and whatever else is new, changes no verdict."""
    flaky = {"a > flaky": {run: {"PASSED": 2, "FAILED": 1} for run in ("run", "test", "fix")}}
    instance = factories.make_instance(1, quarantine=flaky)
    run = replace(GOOD, results=GOOD.results | {"a > flaky": Status.FAILED, "a > new": Status.FAILED})
    assert of_run(instance, run) == of_run(INSTANCE, GOOD)


@pytest.mark.rule("suite-is-a-test")
def test_an_expected_file_passes_when_it_could_run() -> None:
    instance = factories.make_instance(1, tests={"src/New.test.tsx": "NFP", "src/New.test.tsx > works": "NNP"})
    could = TestRun(results={"src/New.test.tsx > works": Status.PASSED}, suites={"src/New.test.tsx": Status.PASSED})
    could_not = TestRun(results={"src/New.test.tsx": Status.FAILED}, suites={"src/New.test.tsx": Status.FAILED})
    assert of_run(instance, could).outcome is Outcome.RESOLVED
    assert of_run(instance, could_not).outcome is Outcome.UNRESOLVED


@pytest.mark.trap("printed-passed")
@pytest.mark.rule("tampered")
def test_signs_of_a_faked_result_are_never_resolved() -> None:
    """A patch that prints its own PASSED lines, or writes its own report, is believed by systems in use."""
    graded = of_run(INSTANCE, replace(GOOD, faults=("the runner ended without announcing its report", "exit code 1")))
    assert (graded.outcome, graded.cause) == (
        Outcome.TAMPERED,
        "the runner ended without announcing its report; exit code 1",
    )
    assert graded.fields["fixed"] == (NAMED,), "what the run said is kept"


@pytest.mark.invariant(4)
@pytest.mark.trap("infrastructure-is-not-failure")
@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("timeout", Outcome.TIMEOUT),
        ("output_limit", Outcome.TIMEOUT),
        ("disk_limit", Outcome.TIMEOUT),
        ("process_limit", Outcome.TIMEOUT),
        ("out_of_memory", Outcome.NOT_EVALUATED),
        ("no_report", Outcome.TAMPERED),
    ],
)
def test_a_run_without_a_result(end: str, outcome: Outcome) -> None:
    """An OOM kill is scored as a model's failure by SWE-bench; here it is no verdict at all."""
    graded = of_run(INSTANCE, TestRun(end=end, restored=("package.json",)))
    assert (graded.outcome, graded.fields) == (outcome, {"restored": ("package.json",), "merged": False})
    assert graded.cause


@pytest.mark.trap("empty-patch")
def test_patches_that_need_no_run() -> None:
    """Multi-SWE-bench files an empty patch as unresolved, after `git apply` failed on it."""
    assert without_run(None) == Graded(Outcome.NO_PREDICTION)
    assert without_run(factories.make_prediction(model_patch=" \n")) == Graded(Outcome.EMPTY)
    assert without_run(factories.make_prediction()) is None


def test_a_verdict_names_the_patch_and_the_image() -> None:
    prediction = factories.make_prediction()
    verdict = sign(INSTANCE, "magentless", "model-a", "r", prediction, of_run(INSTANCE, GOOD))
    assert (verdict.patch_digest, verdict.image) == (digest(prediction.model_patch), INSTANCE.image)
    assert verdict.expected == 2
    assert sign(INSTANCE, "magentless", "model-a", "r", None, Graded(Outcome.NO_PREDICTION)).patch_digest == ""


@pytest.mark.trap("denominator")
def test_the_report_counts_every_instance() -> None:
    """In Multi-SWE-bench an instance without a prediction vanishes from the denominator."""
    verdicts = [
        factories.make_verdict(factories.make_prediction(number), outcome) for number, outcome in enumerate(Outcome, 1)
    ]
    report = final_report(verdicts)
    assert report["total_instances"] == len(Outcome)
    assert report["incomplete_ids"] == ["acme__ui-5"]
    counts = {group: report[f"{group}_instances"] for group in GROUPS}
    assert counts == {
        "submitted": 8,
        "completed": 5,
        "incomplete": 1,
        "resolved": 1,
        "unresolved": 4,
        "empty_patch": 1,
        "error": 2,
    }
    assert report["resolved_ids"] == ["acme__ui-1"]
    assert all(len(report[f"{group}_ids"]) == count for group, count in counts.items())


def test_every_outcome_is_in_the_report() -> None:
    parts = ("resolved", "unresolved", "incomplete", "empty_patch", "error")
    assert sorted(outcome for part in parts for outcome in GROUPS[part]) == sorted(Outcome)


@pytest.mark.rule("identity")
def test_what_ran_otherwise_than_at_qualification_is_said() -> None:
    """A verdict of another Node, engine or limit stands, and says so."""
    qualified = Identity(node="20.19.4", manager="yarn@4.3.1", sandbox="docker", limits={"seconds": 1800.0})
    ran = qualified.model_copy(update={"node": "20.19.5", "limits": {"seconds": 60.0}})
    assert differences(qualified, ran) == (
        "node: 20.19.5 in place of 20.19.4",
        "limits: seconds 60 in place of seconds 1800",
    )
    assert differences(qualified, qualified) == differences(None, ran) == ()
