"""From the runs to an instance: which tests count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from factories import make_candidate, make_environment

from pipeline.build.judge import RUNS, CounterResults, Ran, judge
from pipeline.core.records import CounterRuns, Identity, Status
from pipeline.ecosystems.reports import EVERYWHERE
from pipeline.execution.counter import Made
from pipeline.execution.run import TestRun

FIXED, DRAWN = "src/Menu.test.js > Menu > has a name", "src/Menu.test.js > Menu > looks right"
RAN = Ran(
    environment=make_environment(),
    environment_digest="e",
    manifests="m",
    image="i",
    sandbox="scripted",
    scope="touched",
    files=("src/Menu.test.js",),
    repeats=1,
    deviations=("Node 20 in place of 18",),
    ran=Identity(),
)


def runs(drawn_in: str) -> dict[str, list[TestRun]]:
    """A test that the fix repairs, and one that compares a screenshot and fails in one run only."""
    found = {}
    for name in RUNS:
        fails = name == drawn_in
        fixed = Status.FAILED if name == "test" else Status.PASSED
        results = {FIXED: fixed, DRAWN: Status.FAILED if fails else Status.PASSED}
        found[name] = [TestRun(results=results, by_screenshot=frozenset({DRAWN} if fails else ()))]
    return found


@pytest.mark.rule("screenshots-are-no-tests")
@pytest.mark.parametrize("run", RUNS)
def test_a_test_that_fails_because_of_a_screenshot_decides_nothing(run: str) -> None:
    """Otherwise gold would be rejected because another machine renders differently, or an instance would require the
    screenshot."""
    instance = judge(make_candidate(), RAN, runs(run))
    assert set(instance.tests) == {FIXED} and set(instance.f2p_tests) == {FIXED}
    assert instance.deviations == ("Node 20 in place of 18", f"compares screenshots, left out: {DRAWN}")


def test_a_screenshot_test_that_passes_in_all_runs_is_kept() -> None:
    instance = judge(make_candidate(), RAN, runs("none"))
    assert set(instance.tests) == {FIXED, DRAWN} and instance.deviations == RAN.deviations


@pytest.mark.rule("quarantine")
def test_a_known_flaky_test_decides_nothing() -> None:
    """Even if its repeated runs agree this time, and in any run that it fails; an instance may still remain without
    it."""
    instance = judge(make_candidate(), RAN, runs("fix"), flaky=[DRAWN, "src/Menu.test.js > Menu > is gone"])
    assert set(instance.tests) == {FIXED}
    assert instance.quarantine == {DRAWN: {}}


@pytest.mark.rule("hooks")
@pytest.mark.parametrize(
    ("statuses", "quarantined"),
    [("PFF", True), ("PPF", True), ("FPF", True), ("FFF", False), ("PFP", False), ("PPP", False)],
)
def test_an_error_outside_of_every_test_that_gold_makes_does_not_reject_it(statuses: str, quarantined: bool) -> None:
    """A timer that a test left behind called React after the page was gone: Vitest ended with an error, although each
    of 1362 tests passed with gold, which was called `gold_does_not_fix`."""
    letters = {status.value[0]: status for status in Status}
    made = {
        name: [replace(run, suites={EVERYWHERE: letters[letter]}, results={**run.results, EVERYWHERE: letters[letter]})]
        for (name, (run,)), letter in zip(runs("none").items(), statuses, strict=True)
    }
    instance = judge(make_candidate(), RAN, made)
    assert (EVERYWHERE in instance.quarantine, EVERYWHERE in instance.tests) == (quarantined, not quarantined)
    assert len(instance.deviations) - len(RAN.deviations) == quarantined


# -- gold's counter-runs ----------------------------------------------------------------------------------------------
FILE = "src/Menu.test.js"
BOTH = {FILE: ("Menu > has a name", "Menu > looks right")}
SAID = Made(
    falsified="diff",
    former="other diff",
    assertions=5,
    by_value=3,
    by_negation=1,
    changed={"falsified": BOTH, "former": {FILE: ("Menu > has a name",)}},
)


def against(hidden: bool = False, **statuses: str) -> CounterRuns:
    """Gold's results for the fixed test and another one, as the first letters of their statuses, by kind of run."""
    letters = {status.value[0]: status for status in Status}
    both = {kind: {FIXED: letters[two[0]], DRAWN: letters[two[1]]} for kind, two in statuses.items()}
    ran = {kind: TestRun(results=results) for kind, results in both.items()}
    counter_results = CounterResults(SAID, ran, hidden=hidden)
    return judge(make_candidate(), RAN, runs("none"), counter_results).counter_runs


@pytest.mark.rule("counter-runs-once")
def test_the_results_of_golds_counter_runs_are_stored() -> None:
    """A test counts only if gold fails it where it must fail, or passes it where it must pass. A test that fails
    although none of its expectations is false does not count."""
    found = against(falsified="FP", former="FF", disguised="PF")
    assert found.kinds == found.complete == ("falsified", "former", "disguised")
    assert (found.falsified, found.former_patch) == ("diff", "other diff")
    assert (found.false, found.former, found.undisguised) == ((FIXED,), (FIXED,), (DRAWN,))
    assert (found.assertions, found.by_value, found.by_negation) == (5, 3, 1)


@pytest.mark.rule("falsified")
@pytest.mark.rule("test-aware")
def test_false_expectations_in_disguise_count_if_gold_passes_there() -> None:
    """A test that gold fails in disguise anyway shows nothing. The run with true expectations comes first: a patch that
    recognizes tests needs no other."""
    plain, hidden = (against(hidden, falsified="FF", former="FP", disguised="PF") for hidden in (False, True))
    assert (plain.kinds, plain.false) == (("falsified", "former", "disguised"), (FIXED, DRAWN))
    assert (hidden.kinds, hidden.false) == (("disguised", "falsified", "former"), (FIXED,))
    assert hidden.hidden and not plain.hidden


@pytest.mark.rule("same-failure")
def test_the_reason_of_golds_failure_is_kept_if_patches_must_share_it() -> None:
    """For failures that name two plain values or compare a snapshot."""
    failed = {FIXED: Status.FAILED, DRAWN: Status.FAILED}
    run = TestRun(results=failed, reasons={FIXED: "a", DRAWN: "b"})
    telling = {FILE: (FIXED.partition(" > ")[2],)}
    made = SAID.model_copy(update={"telling": {"falsified": telling, "former": telling}})

    def said(made: Made, run: TestRun, kind: str) -> dict[str, str]:
        counter_runs = judge(make_candidate(), RAN, runs("none"), CounterResults(made, {kind: run})).counter_runs
        return counter_runs.reasons(kind)

    for kind in ("falsified", "former"):
        assert said(made, run, kind) == {FIXED: "a"} and said(SAID, run, kind) == {}
    assert said(SAID, replace(run, by_snapshot=frozenset({DRAWN})), "falsified") == {DRAWN: "b"}


@pytest.mark.rule("falsified")
def test_tests_that_may_not_reach_their_false_expectation_are_stored() -> None:
    ran = {kind: TestRun(results={FIXED: Status.FAILED}) for kind in ("falsified", "former")}
    made = SAID.model_copy(update={"nested": {"falsified": {FILE: (FIXED.partition(" > ")[2],)}}})
    counter_runs = judge(make_candidate(), RAN, runs("none"), CounterResults(made, ran)).counter_runs
    assert counter_runs.nested == {"falsified": (FIXED,)}


@pytest.mark.rule("counter-runs-once")
def test_counter_runs_that_show_nothing_are_left_out() -> None:
    """False expectations that gold passes, or of which it fails none in the right test, and a disguise in which gold
    fails."""
    found = against(falsified="PP", former="PF", disguised="FP")
    assert (found.kinds, found.falsified, found.assertions) == ((), "", 5)


@pytest.mark.rule("counter-runs-once")
def test_an_unfinished_counter_run_is_left_out() -> None:
    ran = {
        "falsified": TestRun(results={FIXED: Status.FAILED}, faults=("exit code",)),
        "disguised": TestRun("timeout"),
        "former": TestRun(results={FIXED: Status.NONE}, suites={FILE: Status.FAILED}),
    }
    found = judge(make_candidate(), RAN, runs("none"), CounterResults(SAID, ran))
    assert found.counter_runs.kinds == () and found.lacks[-2:] == ("false_expectations", "disguise")


@pytest.mark.rule("counter-runs-once")
def test_fixed_tests_without_a_false_expectation_are_listed() -> None:
    """A false expectation in one test says nothing about the others."""
    made = CounterRuns(kinds=("falsified", "disguised"), false=("a.test.js > is on",))
    fixed = ["a.test.js", "a.test.js > is on"]
    assert made.lacks(fixed) == ()
    assert made.lacks([*fixed, "a.test.js > is off"]) == ("some_false_expectations",)
    assert made.model_copy(update={"first_false": ("a.test.js > is off",)}).lacks([*fixed, "a.test.js > is off"]) == ()
