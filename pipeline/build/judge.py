"""From the results of the three runs to an instance, or to the reason for a rejection.

Pure: the outcome follows from a candidate, what was run (`Ran`) and the runs, so stored runs can be judged again.
Raises Rejected with a reason from the closed list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pipeline.build import health
from pipeline.build.helpers import split
from pipeline.build.reasons import REASONS, Rejected
from pipeline.core import verdict
from pipeline.core.law import register
from pipeline.core.patches import paths, select
from pipeline.core.records import Candidate, CounterRuns, Environment, Health, Identity, Instance, Record, Status
from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import EVERYWHERE
from pipeline.execution.counter import FORMS, KINDS, Form, Made
from pipeline.execution.law import of_run
from pipeline.execution.run import TestRun

register("qualifying", __package__, "health.py", "helpers.py", "judge.py")

#: the runs of a qualification, in their order
RUNS = ("run", "test", "fix")
Runs = Mapping[str, Sequence[TestRun]]


class Ran(Record):
    """What was run: everything in an instance that comes neither from the candidate nor from the tests."""

    environment: Environment
    environment_digest: str
    manifests: str
    image: str
    sandbox: str
    scope: Literal["touched", "full"]
    files: tuple[str, ...]
    repeats: int
    deviations: tuple[str, ...]
    health: Health | None = None
    memory: int = 0
    ran: Identity
    set_up_by: str = ""
    moved: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()


class CounterResults(NamedTuple):
    """Gold's counter-runs: what they were made from, the runs by kind, the form of the disguised one, and whether the
    others have it as well (`hidden`)."""

    made: Made
    runs: Mapping[str, TestRun]
    form: Form = FORMS[0]
    hidden: bool = False


def unfixed(instance: Instance, disguised: TestRun) -> int:
    """How many of the tests that gold fixes it does not pass in a disguised run."""
    results = disguised.with_files(disguised.suites).results
    trusted = disguised.end == "ran" and not disguised.doubts
    return sum(not trusted or results.get(name) is not Status.PASSED for name in instance.fixed_tests)


def judge(
    candidate: Candidate,
    ran: Ran,
    runs: Runs,
    counter_results: CounterResults | None = None,
    flaky: Collection[str] = (),
) -> Instance:
    """The instance, with gold's counter-runs if there are any. Tests that are known to be `flaky` are quarantined, even
    if their repeats agree this time. Raises Rejected."""
    for name in RUNS:
        for run in runs[name]:
            require_trust(run, name)
    runs = with_files(runs)
    agreed = {name: verdict.agree([run.results for run in repeats]) for name, repeats in runs.items()}
    quarantine = verdict.quarantine({name: unstable for name, (_, unstable) in agreed.items()})
    found = frozenset[str]().union(*(stable for stable, _ in agreed.values()))
    stray = _stray({name: stable for name, (stable, _) in agreed.items()})
    quarantine |= {name: {} for name in sorted(found.intersection({*flaky, *stray}) - quarantine.keys())}
    drawn = frozenset().union(*(run.by_screenshot for repeats in runs.values() for run in repeats))
    results = {name: _without(stable, {*quarantine, *drawn}) for name, (stable, _) in agreed.items()}
    log = _text(runs["fix"][0])
    require_health(ran.health, runs["fix"][0])
    if not results["fix"]:
        detail = ", ".join(ran.files) or "there is no file that a runner runs"
        raise Rejected("no_tests_run", detail, log=log)
    triples = verdict.transitions(results["run"], results["test"], results["fix"])
    qualification = verdict.qualify(triples)
    if qualification.reason:
        detail = "\n".join(_describe(name, triples[name]) for name in qualification.evidence)
        raise Rejected(qualification.reason, detail, log=log)
    by_snapshot = frozenset.intersection(*(run.by_snapshot for run in runs["test"]))
    instance = Instance(
        **carried(split(candidate, ran.moved)),
        **{name: getattr(ran, name) for name in Ran.model_fields}
        | {"deviations": (*ran.deviations, *_left_out(drawn), *stray.values())},
        lang=_language(candidate.fix_patch),
        tests=verdict.written(triples, by_snapshot),
        quarantine=quarantine,
        law=of_run("running", "reading", "qualifying", parser=ran.environment.parser),
        lacks=parser(ran.environment.parser).lacks(),
    )
    if not counter_results:
        return instance
    counter_runs = counter_runs_of(instance, counter_results)
    lacks = (*instance.lacks, *counter_runs.lacks(instance.fixed_tests))
    return instance.model_copy(update={"counter_runs": counter_runs, "lacks": lacks})


def counter_runs_of(instance: Instance, counter_results: CounterResults) -> CounterRuns:
    """What gold did in its counter-runs, as far as it helps to judge a patch. Runs that did not end as they should are
    ignored."""
    made = counter_results.made
    results = {
        kind: run.with_files(run.suites).results
        for kind, run in counter_results.runs.items()
        if run.end == "ran" and not run.doubts
    }

    disguised = results.get("disguised", {})
    passed = {name for name in instance.expected if disguised.get(name) is Status.PASSED}
    true = passed if counter_results.hidden else instance.expected

    def failed(kind: str) -> tuple[str, ...]:
        """The tests that gold fails by the false expectations of a kind, and passes otherwise."""
        found = results.get(kind, {})
        names = (name for name in true if found.get(name) is Status.FAILED and " > " in name)
        return tuple(sorted(name for name in names if made.reaches(kind, name, instance.expected_files)))

    falsified, first, former = failed("falsified"), failed("first"), failed("former")
    fixed = passed & instance.fixed_tests.keys()
    telling = {"falsified": falsified, "first": first, "former": former, "disguised": fixed}
    # a patch that knows of tests shows it in the true run, so this comes first if all are disguised
    kinds = sorted(KINDS, key=lambda kind: counter_results.hidden and kind != "disguised")
    return CounterRuns(
        kinds=tuple(kind for kind in kinds if telling[kind]),
        falsified=made.falsified if falsified else "",
        false=falsified,
        said=_reasons("falsified", counter_results, falsified),
        first=made.first if first else "",
        first_false=first,
        first_said=_reasons("first", counter_results, first),
        former_patch=made.former if former else "",
        former=former,
        former_said=_reasons("former", counter_results, former),
        nested={
            kind: missed
            for kind, names in (("falsified", falsified), ("first", first), ("former", former))
            if (missed := tuple(name for name in names if made.may_miss(kind, name, instance.expected_files)))
        },
        undisguised=tuple(sorted(instance.expected - passed)) if telling["disguised"] else (),
        **(counter_results.form._asdict() if telling["disguised"] else {}),
        hidden=counter_results.hidden,
        assertions=made.assertions,
        by_value=made.by_value,
        by_negation=made.by_negation,
    )


def _reasons(kind: str, counter_results: CounterResults, names: Collection[str]) -> dict[str, str]:
    """Why gold fails these tests with the false expectations of a kind, if every patch would fail for that reason: the
    failure names two plain values, or compares a snapshot."""
    if not names:
        return {}
    run = counter_results.runs[kind]
    telling = (name for name in names if counter_results.made.tells(kind, name) or name in run.by_snapshot)
    return {name: run.reasons[name] for name in telling if name in run.reasons}


def _stray(results: Mapping[str, Mapping[str, Status]]) -> dict[str, str]:
    """The name of errors outside of every test, with a deviation, if gold makes one although another run made none.
    Such an error, as of a timer that a test left behind, says nothing about the fix: it depends on when the runner
    ends."""
    statuses = {name: tests.get(EVERYWHERE) for name, tests in results.items()}
    differs = statuses["fix"] is Status.FAILED and set(statuses.values()) != {Status.FAILED}
    return {EVERYWHERE: "gold makes an error outside of every test, which is ignored"} if differs else {}


def _left_out(drawn: Collection[str]) -> list[str]:
    """Deviations for tests that compare screenshots, which do not count: another machine drew the baseline."""
    return [f"compares screenshots, left out: {name}" for name in sorted(drawn)]


def require_trust(run: TestRun, name: str) -> None:
    """Raise Rejected for a run whose results cannot be used."""
    if run.end != "ran":
        reason = run.end if run.end in REASONS else "not_evaluated"
        log = _text(run) if run.end == "no_report" else ""
        raise Rejected(reason, f"{run.end} in {name}, after {run.seconds:.0f} s", log=log)
    if run.doubts:
        raise Rejected("report_untrusted", f"in {name}: " + "; ".join(run.doubts), log=_text(run))


def require_health(base: Health | None, fix: TestRun) -> None:
    """Raise Rejected if no test passes in the base, nor any with the gold patch: the environment is sick.

    One of the two suffices: in some bases every touched test waits for the fix.
    """
    passed = health.fine([status for name, status in fix.results.items() if name not in fix.suites])
    sick = not base.well if base and base.files else bool(fix.results)
    if sick and not passed:
        observed = f"in the base, {base}" if base and base.files else "with the gold patch, no test passes"
        raise Rejected("environment_failed", f"the environment does not run tests properly: {observed}", log=_text(fix))


#: fields that an instance takes from its candidate unchanged
_CARRIED = {
    "org", "repo", "number", "state", "title", "body", "base", "resolved_issues", "fix_patch", "test_patch",
    "merge_sha", "merged_at", "a11y_reason", "statement_source", "statement", "chosen_by_hand", "hints", "pictures",
    "origin",
}  # fmt: skip


def carried(candidate: Candidate) -> dict[str, Any]:
    """The fields that an instance takes from its candidate: new texts and evidence need no new runs."""
    return {"instance_id": candidate.instance_id} | {name: getattr(candidate, name) for name in _CARRIED}


def with_files(runs: Runs) -> dict[str, list[TestRun]]:
    """Count each file that failed to load in one of the runs as a test in all of them: PASSED where it loaded."""
    suites = [suite for repeats in runs.values() for run in repeats for suite in run.suites.items()]
    broken = {file for file, status in suites if status is Status.FAILED}
    return {name: [run.with_files(broken) for run in repeats] for name, repeats in runs.items()}


def _without(results: Mapping[str, Status], quarantine: Collection[str]) -> dict[str, Status]:
    return {name: status for name, status in results.items() if name not in quarantine}


def _text(run: TestRun) -> str:
    return run.log.decode(errors="replace")


def _describe(name: str, triple: verdict.Triple) -> str:
    return f"{name}: {triple.run} -> {triple.test} -> {triple.fix}"


def _language(fix_patch: str) -> str:
    """Multi-SWE-bench's `lang`: ts when any changed source is TypeScript, else js."""
    return "ts" if paths(select(fix_patch, lambda path: path.endswith((".ts", ".tsx", ".mts", ".cts")))) else "js"
