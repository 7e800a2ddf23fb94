"""Flaky tests: what a patch's runs and gold's runs together say; pure functions."""

from __future__ import annotations

from dataclasses import replace

import factories
import pytest

from pipeline.core.records import CounterRuns, Outcome, Status
from pipeline.evaluate import repeats
from pipeline.evaluate.grade import due, graded_runs, lacking, of_tested
from pipeline.execution.run import PatchRun
from pipeline.execution.runs import TestRun

FIXED, OTHER, THIRD = "a.test.js > is fixed", "a.test.js > other", "a.test.js > third"
INSTANCE = factories.make_instance(1, tests={FIXED: "PFP", OTHER: "PPP", THIRD: "PPP"})
GOOD = TestRun(results=dict.fromkeys((FIXED, OTHER, THIRD), Status.PASSED))
LATE = TestRun(end="timeout")


def failing(*names: str) -> TestRun:
    return replace(GOOD, results=GOOD.results | dict.fromkeys(names, Status.FAILED))


def ran(*runs: TestRun, flips: dict[str, dict[str, int]] | None = None) -> PatchRun:
    return PatchRun(runs[0], repeats=runs[1:], flips=flips)


def flipping(*names: str) -> dict[str, dict[str, int]]:
    return {name: {"PASSED": 9, "FAILED": 1} for name in names}


@pytest.mark.rule("flakes")
@pytest.mark.parametrize(
    ("runs", "again"),
    [
        ([GOOD], False),
        ([failing(OTHER)], True),
        ([LATE], True),
        ([failing(FIXED)], False),
        ([failing(FIXED, OTHER)], False),
        ([TestRun(end="no_report")], False),
        ([TestRun(end="output_limit")], False),
        ([replace(failing(OTHER), died=("late",))], False),
        ([replace(failing(OTHER), faults=("forged",))], False),
        ([failing(OTHER), GOOD], False),
        ([failing(OTHER), failing(THIRD)], True),
        ([failing(OTHER), failing(FIXED)], False),
        ([failing(OTHER), failing(OTHER), failing(OTHER)], False),
        ([LATE, LATE, LATE], False),
        ([LATE, failing(OTHER)], True),
    ],
)
def test_only_regressions_and_time_outs_are_repeated(runs: list[TestRun], again: bool) -> None:
    """At most twice; a fail-to-pass test has to pass each time."""
    assert repeats.due(*graded_runs(INSTANCE, ran(*runs))) is again
    assert lacking(INSTANCE, ran(*runs, flips={})) == (f"repeat {len(runs)}" if again else "")


@pytest.mark.rule("flakes")
def test_gold_is_repeated_only_for_tests_that_decide() -> None:
    asked = [
        ([failing(OTHER), GOOD], {OTHER}),
        ([failing(OTHER), failing(THIRD), GOOD], {OTHER, THIRD}),
        ([failing(OTHER), failing(OTHER, THIRD), failing(OTHER)], set()),
        ([failing(OTHER), failing(FIXED)], set()),
        ([LATE, GOOD], {repeats.TIME}),
        ([LATE, failing(OTHER), GOOD], {OTHER, repeats.TIME}),
        ([LATE, LATE, LATE], set()),
        ([GOOD], set()),
    ]
    for runs, names in asked:
        assert repeats.doubtful(*graded_runs(INSTANCE, ran(*runs))) == names
    assert lacking(INSTANCE, ran(failing(OTHER), GOOD)) == "gold's repeats"


@pytest.mark.rule("flakes")
@pytest.mark.parametrize(
    ("runs", "flips", "outcome", "broken", "flaky"),
    [
        ([failing(OTHER), GOOD], (OTHER,), Outcome.RESOLVED, [], (OTHER,)),
        ([failing(OTHER), GOOD], (), Outcome.UNRESOLVED, [OTHER], ()),
        ([failing(OTHER), GOOD], (THIRD,), Outcome.UNRESOLVED, [OTHER], ()),
        ([failing(OTHER), failing(THIRD), GOOD], (OTHER,), Outcome.UNRESOLVED, [THIRD], (OTHER,)),
        ([failing(OTHER), failing(THIRD), GOOD], (OTHER, THIRD), Outcome.RESOLVED, [], (OTHER, THIRD)),
        ([failing(OTHER)] * 3, (OTHER,), Outcome.UNRESOLVED, [OTHER], ()),
        ([LATE, GOOD], (repeats.TIME,), Outcome.RESOLVED, [], ()),
        ([LATE, GOOD], (), Outcome.TIMEOUT, [], ()),
        ([LATE, failing(OTHER), GOOD], (OTHER, repeats.TIME), Outcome.RESOLVED, [], (OTHER,)),
        ([LATE, failing(OTHER), GOOD], (OTHER,), Outcome.TIMEOUT, [], (OTHER,)),
        ([LATE, failing(OTHER), GOOD], (repeats.TIME,), Outcome.UNRESOLVED, [OTHER], ()),
    ],
)
def test_a_test_is_flaky_only_if_gold_flips_it_too(
    runs: list[TestRun], flips: tuple[str, ...], outcome: Outcome, broken: list[str], flaky: tuple[str, ...]
) -> None:
    """Otherwise any intermittent failure would be blamed on the machine and never on the patch, even a component that
    hangs in two of three renders."""
    graded = of_tested(INSTANCE, ran(*runs, flips=flipping(*flips)))
    assert (graded.outcome, list(graded.fields["broken"]), graded.fields["flaky"]) == (outcome, broken, flaky)


@pytest.mark.rule("flakes")
def test_a_fail_to_pass_test_must_pass_in_every_run() -> None:
    graded = of_tested(INSTANCE, ran(failing(OTHER), failing(FIXED), flips=flipping(FIXED, OTHER)))
    assert (graded.outcome, list(graded.fields["unfixed"])) == (Outcome.UNRESOLVED, [FIXED])


@pytest.mark.rule("flakes")
@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (replace(GOOD, faults=("forged",)), Outcome.TAMPERED),
        (replace(GOOD, died=("late",)), Outcome.CRASHED),
        (TestRun(end="out_of_memory"), Outcome.CRASHED),
    ],
)
def test_a_repeat_does_not_excuse_other_faults(run: TestRun, outcome: Outcome) -> None:
    assert of_tested(INSTANCE, ran(failing(OTHER), run, flips=flipping(OTHER))).outcome is outcome


def test_a_time_out_in_every_run_is_a_time_out() -> None:
    assert of_tested(INSTANCE, ran(LATE, LATE, LATE)).outcome is Outcome.TIMEOUT
    once = of_tested(INSTANCE, ran(LATE, GOOD))
    assert once.cause == "the tests took too long in 1 of 2 runs, and never with gold"


def test_a_flaky_patch_gets_counter_runs_too() -> None:
    counter_runs = CounterRuns(kinds=("falsified",), false=(FIXED,))
    instance = INSTANCE.model_copy(update={"counter_runs": counter_runs})
    assert due(instance, ran(failing(OTHER), GOOD, flips=flipping(OTHER))) == "falsified"
    assert due(instance, ran(failing(OTHER), GOOD, flips={})) == ""


def test_flips_of_gold_are_counted_over_completed_runs() -> None:
    hook = replace(GOOD, suites={"a.test.js": Status.FAILED})
    fine = replace(GOOD, suites={"a.test.js": Status.PASSED})
    runs = [fine, hook, replace(failing(THIRD), suites=fine.suites), LATE, replace(failing(FIXED), died=("late",))]
    assert repeats.flips(runs) == {
        THIRD: {"PASSED": 2, "FAILED": 1},
        "a.test.js": {"PASSED": 2, "FAILED": 1},
        repeats.TIME: {"timeout": 1, "ran": 4},
    }


def test_what_gold_fails_in_disguise_is_counted_apart() -> None:
    """It excuses no test that a patch passes in only some of its own runs without disguise."""
    found = repeats.flips([GOOD, GOOD], [GOOD, failing(OTHER), GOOD, failing(OTHER), LATE])
    assert found == {f"{repeats.IN_DISGUISE}{OTHER}": {"PASSED": 2, "FAILED": 2}}
    graded = of_tested(INSTANCE, ran(failing(OTHER), GOOD, flips=found))
    assert (graded.outcome, [*graded.fields["broken"]]) == (Outcome.UNRESOLVED, [OTHER])
