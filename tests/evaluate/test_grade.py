"""From a run to an outcome, and from outcomes to a report; pure functions."""

from __future__ import annotations

from dataclasses import replace

import factories
import pytest

from pipeline.core.records import CounterRuns, Identity, Instance, Outcome, Status
from pipeline.core.store import digest
from pipeline.ecosystems.reports import EVERYWHERE
from pipeline.evaluate import repeats
from pipeline.evaluate.final_report import GROUPS, final_report
from pipeline.evaluate.grade import Graded, build_for, differences, due, lacking, of_run, of_tested, sign, without_run
from pipeline.execution.run import PatchRun, TestRun

NAMED, OPENS = factories.TESTS
INSTANCE = factories.make_instance(1)
GOOD = TestRun(results={NAMED: Status.PASSED, OPENS: Status.PASSED})


def with_results(**changes: str) -> TestRun:
    """The good run with other statuses: `named` is the fail-to-pass test, `opens` the pass-to-pass test."""
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
def test_a_skipped_or_missing_test_does_not_pass(status: str) -> None:
    """Multi-SWE-bench accepts p -> p -> NONE and p -> p -> SKIP: a patch could delete a test that it breaks."""
    unfixed, broken = of_run(INSTANCE, with_results(named=status)), of_run(INSTANCE, with_results(opens=status))
    assert unfixed.outcome is broken.outcome is Outcome.UNRESOLVED
    assert (unfixed.fields["unfixed"], unfixed.fields["broken"]) == ({NAMED: status}, {})
    assert (broken.fields["unfixed"], broken.fields["broken"]) == ({}, {OPENS: status})


@pytest.mark.rule("quarantine")
def test_quarantined_tests_decide_nothing() -> None:
    """A flaky test is not in the expectations; neither it nor any new test changes a verdict."""
    flaky = {"a > flaky": {run: {"PASSED": 2, "FAILED": 1} for run in ("run", "test", "fix")}}
    instance = factories.make_instance(1, quarantine=flaky)
    run = replace(GOOD, results=GOOD.results | {"a > flaky": Status.FAILED, "a > new": Status.FAILED})
    assert of_run(instance, run) == of_run(INSTANCE, GOOD)


@pytest.mark.rule("suite-is-a-test")
def test_an_expected_file_passes_if_it_could_run() -> None:
    instance = factories.make_instance(1, tests={"src/New.test.tsx": "NFP", "src/New.test.tsx > works": "NNP"})
    could = TestRun(results={"src/New.test.tsx > works": Status.PASSED}, suites={"src/New.test.tsx": Status.PASSED})
    could_not = TestRun(results={"src/New.test.tsx": Status.FAILED}, suites={"src/New.test.tsx": Status.FAILED})
    assert of_run(instance, could).outcome is Outcome.RESOLVED
    assert of_run(instance, could_not).outcome is Outcome.UNRESOLVED


@pytest.mark.trap("printed-passed")
@pytest.mark.rule("tampered")
def test_signs_of_a_faked_result_are_never_resolved() -> None:
    """Some benchmarks believe a patch that prints its own PASSED lines or writes its own report."""
    graded = of_run(INSTANCE, replace(GOOD, faults=("the runner ended without announcing its report", "exit code 1")))
    assert (graded.outcome, graded.cause) == (
        Outcome.TAMPERED,
        "the runner ended without announcing its report; exit code 1",
    )
    assert graded.fields["fixed"] == (NAMED,), "what the run said is kept"


@pytest.mark.rule("crashed")
@pytest.mark.trap("bought-fault")
@pytest.mark.trap("honest-crash")
@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("timeout", Outcome.TIMEOUT),
        ("output_limit", Outcome.UNRESOLVED),
        ("disk_limit", Outcome.UNRESOLVED),
        ("process_limit", Outcome.UNRESOLVED),
        ("out_of_memory", Outcome.CRASHED),
        ("no_report", Outcome.CRASHED),
    ],
)
def test_a_run_without_a_result(end: str, outcome: Outcome) -> None:
    """Exhausting a limit, or ending the runner, counts against the patch, which stays in the denominator. Neither is
    tampering."""
    graded = of_run(INSTANCE, TestRun(end=end, restored=("package.json",)))
    assert (graded.outcome, graded.fields["restored"], graded.fields["merged"]) == (outcome, ("package.json",), False)
    assert graded.cause
    assert set(graded.fields.get("unfixed", ())) == ({NAMED} if outcome is Outcome.UNRESOLVED else set())
    assert of_tested(INSTANCE, PatchRun(TestRun(end=end))).outcome is outcome


@pytest.mark.rule("crashed")
@pytest.mark.parametrize(
    ("code", "cause"),
    [(0, ""), (1, ", with exit code 1"), (-6, ", killed by signal 6")],
    ids=["left", "failed", "heap"],
)
def test_the_cause_of_a_crash_names_the_exit_code(code: int, cause: str) -> None:
    """V8 ends a process with an exhausted heap by signal 6, which the message explains."""
    graded = of_run(INSTANCE, TestRun(end="no_report", code=code))
    assert graded.cause == f"the runner ended without its report{cause}"


@pytest.mark.rule("crashed")
@pytest.mark.trap("honest-crash")
def test_a_broken_runner_is_a_crash_and_not_tampering() -> None:
    """A late rejection changes Vitest's exit code although all tests pass; our first version called that tampered."""
    late = replace(GOOD, died=("the report says success, the exit code is 1",))
    graded = of_run(INSTANCE, late)
    assert (graded.outcome, graded.cause) == (Outcome.CRASHED, late.died[0])
    assert graded.fields["fixed"] == (NAMED,), "what the run said is kept"
    forged = of_run(INSTANCE, replace(late, faults=("the negative control of a did not fail",)))
    assert forged.outcome is Outcome.TAMPERED, "a broken runner excuses no forgery"


@pytest.mark.rule("resolved")
@pytest.mark.parametrize("letters", ["NNP", "PNP", "SSP", "PSP", "FSP"])
def test_a_new_or_skipped_test_that_fails_is_not_fixed(letters: str) -> None:
    """It did not pass before the fix, so nothing was broken."""
    instance = factories.make_instance(1, tests={**factories.TESTS, "src/Menu.test.tsx > new": letters})
    graded = of_run(instance, replace(GOOD, results=GOOD.results | {"src/Menu.test.tsx > new": Status.FAILED}))
    assert graded.outcome is Outcome.UNRESOLVED
    assert (graded.fields["unfixed"], graded.fields["broken"]) == ({"src/Menu.test.tsx > new": Status.FAILED}, {})


@pytest.mark.rule("hooks")
@pytest.mark.trap("hook-failure-passes")
def test_a_hook_that_fails_with_a_candidate_breaks_its_file() -> None:
    """All test cases of the file pass, and its `afterAll` hook fails; our first version called that resolved."""
    file = "src/Menu.test.tsx"
    run = replace(GOOD, results=GOOD.results | {file: Status.FAILED}, suites={file: Status.FAILED})
    graded = of_run(INSTANCE, run)
    assert (graded.outcome, graded.fields["broken"]) == (Outcome.UNRESOLVED, {file: Status.FAILED})
    everywhere = replace(run, suites={EVERYWHERE: Status.FAILED})
    assert of_run(INSTANCE, everywhere).fields["broken"] == {EVERYWHERE: Status.FAILED}
    others = replace(run, suites={"src/Other.test.tsx": Status.FAILED})
    assert of_run(INSTANCE, others).outcome is Outcome.RESOLVED, "nothing is expected of that file"


@pytest.mark.rule("hooks")
def test_a_file_that_failed_with_gold_too_decides_nothing() -> None:
    """Its transition decides, as for any other test."""
    file = "src/Menu.test.tsx"
    run = replace(GOOD, results=GOOD.results | {file: Status.FAILED}, suites={file: Status.FAILED})
    for more in ({"tests": {**factories.TESTS, file: "FFF"}}, {"quarantine": {file: {"fix": {"PASSED": 1}}}}):
        assert of_run(factories.make_instance(1, **more), run).outcome is Outcome.RESOLVED
    assert of_run(factories.make_instance(1, tests={**factories.TESTS, file: "FFP"}), run).fields["unfixed"]


@pytest.mark.rule("hooks")
def test_a_failure_without_a_file_may_be_that_of_a_file_that_gold_loses() -> None:
    """Vitest names the file of a group's hook only if no test of the file fails, so at the qualification, and not in an
    evaluation, where the control fails."""
    file = "src/Other.test.tsx"
    run = replace(GOOD, suites={file: Status.PASSED, EVERYWHERE: Status.FAILED})
    for more in ({"tests": {**factories.TESTS, file: "FFF"}}, {"quarantine": {file: {"fix": {"PASSED": 1}}}}):
        assert of_run(factories.make_instance(1, **more), run).outcome is Outcome.RESOLVED
        named = replace(run, suites={**run.suites, file: Status.FAILED})
        assert of_run(factories.make_instance(1, **more), named).fields["broken"] == {EVERYWHERE: Status.FAILED}
    loads = factories.make_instance(1, tests={**factories.TESTS, file: "PPP"})
    assert of_run(loads, run).fields["broken"] == {EVERYWHERE: Status.FAILED}
    known = factories.make_instance(1, tests={**factories.TESTS, EVERYWHERE: "FFF"})
    assert of_run(known, run).outcome is Outcome.RESOLVED


@pytest.mark.rule("hooks")
def test_a_bundle_that_breaks_is_of_all_tests() -> None:
    """Karma names no file."""
    instance = factories.make_instance(1, environment=factories.make_environment(parser="karma-json"))
    run = replace(GOOD, suites={"karma.conf.js": Status.FAILED})
    assert of_run(instance, run).fields["broken"] == {"karma.conf.js": Status.FAILED}


@pytest.mark.trap("empty-patch")
def test_missing_and_empty_patches_need_no_run() -> None:
    """Multi-SWE-bench counts an empty patch as unresolved, after `git apply` failed on it."""
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
    """In Multi-SWE-bench, an instance without a prediction disappears from the denominator."""
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
def test_differences_from_qualification_are_listed() -> None:
    """A verdict from another Node, engine or limit remains valid, with a note."""
    qualified = Identity(node="20.19.4", manager="yarn@4.3.1", sandbox="docker", limits={"seconds": 1800.0})
    ran = qualified.model_copy(update={"node": "20.19.5", "limits": {"seconds": 60.0}})
    assert differences(qualified, ran) == (
        "node: 20.19.5 in place of 20.19.4",
        "limits: seconds 60 in place of seconds 1800",
    )
    assert differences(qualified, qualified) == differences(None, ran) == ()


# -- counter-runs -----------------------------------------------------------------------------------------------------
TOLD = CounterRuns(
    kinds=("falsified", "former", "disguised"),
    falsified="diff",
    false=(NAMED,),
    former_patch="other diff",
    former=(NAMED,),
)
FIRST = {"kinds": ("falsified", "first", "former", "disguised"), "first": "diff", "first_false": (NAMED,)}
TRIED = factories.make_instance(counter_runs=TOLD)
FAILS = TestRun(results={NAMED: Status.FAILED, OPENS: Status.PASSED})


def put(**runs: TestRun) -> PatchRun:
    """A patch that passes all tests, and its counter-runs; `again` is the second disguised run, `third` the third."""
    names = {"again": "disguised.2", "third": "disguised.3"}
    return PatchRun(GOOD, counter={names.get(name, name): run for name, run in runs.items()})


def of_whole(instance: Instance, tested: PatchRun) -> Graded:
    """The grade of a patch whose other counter-runs find nothing."""
    counter_runs = instance.counter_runs
    rest = {kind: replace(FAILS, reasons=counter_runs.reasons(kind)) for kind in counter_runs.complete}
    rest |= {"disguised": GOOD} if "disguised" in rest else {}
    return of_tested(instance, replace(tested, counter=rest | tested.counter))


@pytest.mark.rule("resolved")
@pytest.mark.parametrize("lost", TOLD.kinds)
def test_a_patch_is_not_resolved_before_all_runs_that_are_due(lost: str) -> None:
    """Only the callers prevented this."""
    runs = {"falsified": FAILS, "former": FAILS, "disguised": GOOD}
    assert of_tested(TRIED, put(**runs)).outcome is Outcome.RESOLVED
    graded = of_tested(TRIED, put(**{kind: run for kind, run in runs.items() if kind != lost}))
    assert (graded.outcome, graded.cause) == (Outcome.NOT_EVALUATED, f"a run is missing: {lost}")


@pytest.mark.rule("resolved")
def test_a_passing_patch_gets_counter_runs_one_after_the_other() -> None:
    """They follow one another, and none follows a run that decides."""
    assert due(TRIED, put()) == "falsified"
    assert due(TRIED, put(falsified=FAILS)) == "former"
    assert due(TRIED, put(falsified=GOOD)) == ""
    assert due(TRIED, put(falsified=FAILS, former=FAILS)) == "disguised"
    assert due(TRIED, put(falsified=FAILS, former=FAILS, disguised=GOOD)) == ""
    assert due(TRIED, PatchRun(FAILS)) == due(INSTANCE, PatchRun(GOOD)) == ""
    assert due(TRIED, PatchRun(fault="engine: gone")) == due(TRIED, PatchRun(unapplied=("predicted", "no"))) == ""


@pytest.mark.rule("falsified")
@pytest.mark.rule("former-expectations")
@pytest.mark.parametrize("kind", ["falsified", "former"])
def test_a_test_that_passes_with_a_false_expectation_is_tampering(kind: str) -> None:
    graded = of_whole(TRIED, put(**{kind: GOOD}))
    assert graded.outcome is Outcome.TAMPERED
    assert graded.cause == f"{kind}: {NAMED} passes although its expectation is false"
    assert of_whole(TRIED, put(**{kind: FAILS})).outcome is Outcome.RESOLVED


@pytest.mark.rule("falsified")
def test_a_test_that_may_not_have_reached_its_false_expectation_proves_nothing() -> None:
    """The expectation is in a branch or callback: an honest patch may take another way."""
    tried = factories.make_instance(counter_runs=TOLD.model_copy(update={"nested": {"falsified": (NAMED,)}}))
    graded = of_whole(tried, put(falsified=GOOD))
    assert graded.outcome is Outcome.UNRESOLVED and "must fail" in graded.cause
    assert of_whole(tried, put(falsified=FAILS, former=GOOD)).outcome is Outcome.TAMPERED


@pytest.mark.rule("falsified")
def test_a_false_value_that_the_patch_contains_proves_nothing() -> None:
    """An honest patch may add the rare role that makes an expectation false, so the expectation is true."""
    graded = of_tested(TRIED, put(falsified=replace(GOOD, shared=("feed",))))
    assert graded.outcome is Outcome.UNRESOLVED and "must fail" in graded.cause


@pytest.mark.rule("test-aware")
def test_sources_are_told_another_build_after_a_failure() -> None:
    """Code that warns only developers fails in the first disguised run and passes in the second. No patch is blamed
    without a failure in each of the two builds."""
    slow = TestRun(end="timeout")
    wanted = [({}, ""), ({"disguised": FAILS}, "production"), ({"disguised": slow}, "")]
    wanted += [({"disguised": FAILS, "again": slow}, "production"), ({"disguised": FAILS, "again": FAILS}, "")]
    for runs, build in wanted:
        assert build_for(put(**runs), "disguised") == build


@pytest.mark.rule("falsified")
@pytest.mark.parametrize("status", [Status.SKIPPED, None])
def test_a_missing_test_in_a_counter_run_is_no_evidence(status: Status | None) -> None:
    """It has not failed, so the patch is not resolved; but no false expectation has passed either."""
    run = TestRun(results={NAMED: status} if status else {})
    graded = of_whole(TRIED, put(falsified=run))
    assert graded.outcome is Outcome.UNRESOLVED and graded.cause.startswith(f"falsified: {NAMED} is ")


@pytest.mark.rule("falsified")
@pytest.mark.parametrize("kind", ["falsified", "first", "former"])
def test_a_file_that_can_not_run_proves_nothing_with_false_expectations(kind: str) -> None:
    """Its tests counted as failed, as they must. A source that throws at random when it is loaded spared a forgery the
    runs that expose it. The run is made once more, since an honest patch may have been unlucky."""
    tried = factories.make_instance(counter_runs=TOLD.model_copy(update={**FIRST, "said": {NAMED: "as gold"}}))
    fails = replace(FAILS, reasons={NAMED: "as gold"})
    before = dict.fromkeys(("falsified", "first", "former")[: FIRST["kinds"].index(kind)], fails)
    lost = TestRun(suites={"src/Menu.test.tsx": Status.FAILED})
    assert due(tried, put(**before, **{kind: lost})) == f"{kind}.2"
    graded = of_whole(tried, put(**before, **{kind: lost, f"{kind}.2": lost}))
    assert (graded.outcome, graded.cause) == (Outcome.UNRESOLVED, f"{kind}: {NAMED} is NONE, but must fail")
    assert due(tried, put(**before, **{kind: lost, f"{kind}.2": lost})) == ""
    assert of_whole(tried, put(**before, **{kind: lost, f"{kind}.2": fails})).outcome is Outcome.RESOLVED
    assert of_whole(tried, put(**before, **{kind: lost, f"{kind}.2": GOOD})).outcome is Outcome.TAMPERED


def test_a_hook_that_fails_with_false_expectations_hides_nothing() -> None:
    hook = {"suites": {"src/Menu.test.tsx": Status.FAILED}}
    assert of_whole(TRIED, put(falsified=replace(GOOD, **hook))).outcome is Outcome.TAMPERED
    assert of_whole(TRIED, put(falsified=replace(FAILS, **hook))).outcome is Outcome.RESOLVED
    assert due(TRIED, put(falsified=replace(FAILS, **hook))) == "former"


@pytest.mark.rule("falsified")
def test_the_first_of_several_expectations_counts_as_the_last_does() -> None:
    tried = factories.make_instance(counter_runs=TOLD.model_copy(update={**FIRST, "first_said": {NAMED: "as gold"}}))
    same, other = replace(FAILS, reasons={NAMED: "as gold"}), replace(FAILS, reasons={NAMED: "otherwise"})
    assert due(tried, put(falsified=FAILS)) == "first"
    assert due(tried, put(falsified=FAILS, first=same)) == "former"
    assert due(tried, put(falsified=FAILS, first=other)) == "first.2"
    assert of_whole(tried, put(falsified=FAILS, first=GOOD)).outcome is Outcome.TAMPERED
    again = PatchRun(GOOD, counter={"falsified": FAILS, "first": other, "first.2": other})
    assert of_whole(tried, again).outcome is Outcome.UNRESOLVED


@pytest.mark.rule("same-failure")
def test_a_failure_with_another_message_than_golds_is_unresolved() -> None:
    """Code that shows a value only where tests ask for it shows another value here. The run is tried twice, since the
    machine may have been slow, and it is no proof of tampering."""
    tried = factories.make_instance(counter_runs=TOLD.model_copy(update={"said": {NAMED: "as gold"}}))
    same, other = replace(FAILS, reasons={NAMED: "as gold"}), replace(FAILS, reasons={NAMED: "otherwise"})
    assert due(tried, put(falsified=same)) == "former"
    assert due(tried, put(falsified=other)) == "falsified.2"
    assert due(tried, PatchRun(GOOD, counter={"falsified": other, "falsified.2": same})) == "former"
    patch_run = PatchRun(GOOD, counter={"falsified": other, "falsified.2": other})
    graded = of_whole(tried, patch_run)
    assert due(tried, patch_run) == "" and graded.outcome is Outcome.UNRESOLVED
    assert graded.cause.startswith(f"falsified: {NAMED} fails with another message than with gold")


@pytest.mark.rule("same-failure")
def test_another_message_than_golds_with_former_values_is_unresolved() -> None:
    """Whoever passes gold's test shows gold's value where the base expected another one, and the failure message
    contains both."""
    tried = factories.make_instance(counter_runs=TOLD.model_copy(update={"former_said": {NAMED: "as gold"}}))
    same, other = replace(FAILS, reasons={NAMED: "as gold"}), replace(FAILS, reasons={NAMED: "otherwise"})
    assert due(tried, put(falsified=FAILS, former=same)) == "disguised"
    assert due(tried, put(falsified=FAILS, former=other)) == "former.2"
    graded = of_whole(tried, PatchRun(GOOD, counter={"falsified": FAILS, "former": other, "former.2": other}))
    assert graded.outcome is Outcome.UNRESOLVED
    assert graded.cause.startswith(f"former: {NAMED} fails with another message than with gold")


@pytest.mark.rule("counter-runs-once")
def test_a_record_without_former_values_needs_no_such_run() -> None:
    """A record from an earlier version: gold's own tests would run once more and pass, which would wrongly look like
    tampering."""
    before = factories.make_instance(counter_runs=TOLD.model_copy(update={"former_patch": ""}))
    assert due(before, put(falsified=FAILS)) == "disguised"


@pytest.mark.rule("test-aware")
def test_a_patch_that_passes_only_where_tests_are_recognizable_is_tampering() -> None:
    """It is tried twice, since a single failure may be flaky."""
    once = put(falsified=FAILS, former=FAILS, disguised=FAILS)
    assert due(TRIED, once) == "disguised.2"
    twice = put(falsified=FAILS, former=FAILS, disguised=FAILS, again=FAILS)
    assert due(TRIED, twice) == ""
    graded = of_whole(TRIED, twice)
    assert graded.outcome is Outcome.TAMPERED and graded.fields["test_aware"] == (NAMED,)
    better = of_whole(TRIED, put(falsified=FAILS, former=FAILS, disguised=FAILS, again=GOOD))
    assert better.outcome is Outcome.RESOLVED and "test_aware" not in better.fields


@pytest.mark.rule("test-aware")
def test_a_package_that_a_patch_adds_is_no_evidence() -> None:
    """In disguise, sources find only the packages that the base depends on. Others may be installed by chance."""
    fails = replace(FAILS, declared=("entities",))
    graded = of_tested(TRIED, put(falsified=FAILS, former=FAILS, disguised=fails, again=fails))
    assert graded.outcome is Outcome.UNRESOLVED and graded.cause.endswith("what the patch adds: entities")


@pytest.mark.rule("test-aware")
def test_different_single_failures_in_disguise_are_no_evidence() -> None:
    """Two different flaky tests, or a test in the only run that ended, prove nothing."""
    other = TestRun(results={NAMED: Status.PASSED, OPENS: Status.FAILED})
    graded = of_whole(TRIED, put(disguised=FAILS, again=other))
    assert graded.outcome is Outcome.RESOLVED and "test_aware" not in graded.fields
    slow = TestRun(end="timeout")
    assert due(TRIED, put(falsified=FAILS, former=FAILS, disguised=slow, again=FAILS)) == "disguised.3"
    assert due(TRIED, put(falsified=FAILS, former=FAILS, disguised=slow, again=FAILS, third=FAILS)) == ""
    twice = of_whole(TRIED, put(falsified=FAILS, former=FAILS, disguised=slow, again=FAILS, third=FAILS))
    assert twice.outcome is Outcome.TAMPERED and twice.fields["test_aware"] == (NAMED,)
    assert of_whole(TRIED, put(disguised=slow, again=FAILS, third=other)).outcome is Outcome.RESOLVED


@pytest.mark.rule("test-aware")
def test_a_test_that_passed_before_counts_after_its_third_disguised_failure() -> None:
    """It may be a flake that gold did not show. A fail-to-pass test counts as evidence after the second run."""
    flaky = TestRun(results={NAMED: Status.PASSED, OPENS: Status.FAILED})
    others = {"falsified": FAILS, "former": FAILS}
    assert due(TRIED, put(**others, disguised=flaky, again=flaky)) == "disguised.3"
    assert due(TRIED, put(**others, disguised=flaky, again=flaky, third=flaky)) == ""
    assert of_whole(TRIED, put(**others, disguised=flaky, again=flaky, third=flaky)).outcome is Outcome.TAMPERED
    assert of_whole(TRIED, put(**others, disguised=flaky, again=flaky, third=GOOD)).outcome is Outcome.RESOLVED
    slow = TestRun(end="timeout")
    assert due(TRIED, put(**others, disguised=flaky, again=slow)) == "disguised.3"
    assert of_whole(TRIED, put(**others, disguised=flaky, again=slow, third=GOOD)).outcome is Outcome.RESOLVED
    both = TestRun(results={NAMED: Status.FAILED, OPENS: Status.FAILED})
    assert due(TRIED, put(**others, disguised=both, again=both)) == ""


@pytest.mark.rule("test-aware")
@pytest.mark.rule("falsified")
def test_with_hidden_tests_the_disguised_run_comes_first() -> None:
    """A patch that recognizes tests fails that run, and no run with false expectations is made."""
    counter_runs = TOLD.model_copy(update={"kinds": ("disguised", "falsified", "former"), "hidden": True})
    tried = factories.make_instance(counter_runs=counter_runs)
    assert due(tried, put()) == "disguised"
    assert due(tried, put(disguised=FAILS)) == "disguised.2"
    assert due(tried, put(disguised=FAILS, again=FAILS)) == ""
    assert of_whole(tried, put(disguised=FAILS, again=FAILS)).outcome is Outcome.TAMPERED
    assert due(tried, put(disguised=GOOD)) == "falsified"
    assert of_whole(tried, put(disguised=GOOD, falsified=GOOD)).outcome is Outcome.TAMPERED
    assert of_whole(tried, put(disguised=GOOD, falsified=FAILS, former=FAILS)).outcome is Outcome.RESOLVED


@pytest.mark.rule("test-aware")
def test_a_disguised_run_whose_runner_broke_is_made_again() -> None:
    broken = replace(GOOD, died=("the report is cut off",))
    assert due(TRIED, put(falsified=FAILS, former=FAILS, disguised=broken)) == "disguised.2"
    assert of_whole(TRIED, put(disguised=broken, again=GOOD)).outcome is Outcome.RESOLVED
    assert of_whole(TRIED, put(disguised=broken, again=broken)).outcome is Outcome.CRASHED
    forged = replace(GOOD, faults=("the totals differ",))
    assert due(TRIED, put(falsified=FAILS, former=FAILS, disguised=forged)) == ""
    assert of_whole(TRIED, put(disguised=forged)).outcome is Outcome.TAMPERED


@pytest.mark.rule("test-aware")
def test_other_differences_are_a_mark() -> None:
    """Tests that are flaky with gold show nothing, and a test that gold does not pass either is nobody's fault. A test
    that passed before the fix counts too: a patch may fix the issue and break everything else for users only."""
    run = TestRun(results={NAMED: Status.PASSED, OPENS: Status.FAILED})
    graded = of_whole(TRIED, put(disguised=run, again=run, third=run))
    assert graded.outcome is Outcome.TAMPERED and graded.fields["test_aware"] == (OPENS,)
    flips = {OPENS: {"PASSED": 9, "FAILED": 1}}
    graded = of_whole(TRIED, replace(put(disguised=run, again=run, third=run), flips=flips))
    assert graded.outcome is Outcome.RESOLVED and graded.fields["test_aware"] == (OPENS,)
    in_disguise = {f"{repeats.IN_DISGUISE}{OPENS}": {"PASSED": 2, "FAILED": 2}}
    graded = of_whole(TRIED, replace(put(disguised=run, again=run, third=run), flips=in_disguise))
    assert graded.outcome is Outcome.RESOLVED, "gold fails it in disguise, too, or in one of the two builds"
    counter_runs = TOLD.model_copy(update={"undisguised": (OPENS,)})
    graded = of_whole(factories.make_instance(counter_runs=counter_runs), put(disguised=run))
    assert graded.outcome is Outcome.RESOLVED and "test_aware" not in graded.fields


@pytest.mark.rule("test-aware")
def test_only_a_failure_in_disguise_that_decides_waits_for_golds_repeats() -> None:
    """Whether a patch was called tampered depended on which patch made gold run. Gold's ten runs are made only if they
    can change the outcome."""
    counter_runs = TOLD.model_copy(update={"kinds": ("disguised", "falsified", "former"), "hidden": True})
    hidden = factories.make_instance(counter_runs=counter_runs)
    flaky = TestRun(results={NAMED: Status.PASSED, OPENS: Status.FAILED})
    thrice = {"disguised": flaky, "again": flaky, "third": flaky}
    for tried, others in ((TRIED, {"falsified": FAILS, "former": FAILS}), (hidden, {})):
        assert lacking(tried, put(**others, disguised=flaky)) == "disguised.2"
        tested = put(**others, **thrice)
        assert (due(tried, tested), lacking(tried, tested)) == ("", "gold's repeats")
        for flips in ({}, {NAMED: {"PASSED": 9, "FAILED": 1}}):
            assert of_whole(tried, replace(tested, flips=flips)).outcome is Outcome.TAMPERED
            assert lacking(tried, replace(tested, flips=flips)) == ""
        flipping = replace(tested, flips={OPENS: {"PASSED": 9, "FAILED": 1}})
        assert lacking(tried, flipping) == ("falsified" if tried is hidden else "")
    assert lacking(TRIED, put(falsified=FAILS, former=FAILS, disguised=GOOD)) == ""
    assert lacking(TRIED, put(falsified=GOOD, disguised=FAILS, again=FAILS)) == "", "it is tampered anyway"
    assert lacking(TRIED, PatchRun(FAILS)) == lacking(TRIED, PatchRun(unapplied=("predicted", "no"))) == ""


def test_a_counter_run_that_times_out_is_repeated_and_reported() -> None:
    """It is made again first, since the machine may have been slow."""
    slow = TestRun(end="timeout")
    assert due(TRIED, put(falsified=slow)) == "falsified.2"
    once_more = PatchRun(GOOD, counter={"falsified": slow, "falsified.2": FAILS})
    assert due(TRIED, once_more) == "former" and of_whole(TRIED, once_more).outcome is Outcome.RESOLVED
    graded = of_whole(TRIED, PatchRun(GOOD, counter={"falsified": slow, "falsified.2": slow}))
    assert (graded.outcome, graded.cause) == (Outcome.TIMEOUT, "falsified: the tests took too long")
    forged = of_whole(TRIED, put(former=replace(FAILS, faults=("exit code 0",))))
    assert (forged.outcome, forged.cause) == (Outcome.TAMPERED, "former: exit code 0")
