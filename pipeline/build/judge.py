"""From the results of the three runs to an instance, or to the reason why there is none.

Pure: the outcome follows from a candidate, what was run (`Ran`) and the runs, so it can be judged again from what is
stored. Raises Rejected with a reason from the closed list.
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
from pipeline.execution.counter import KINDS, Made
from pipeline.execution.law import of_run
from pipeline.execution.run import TestRun

register("qualifying", __package__, "health.py", "helpers.py", "judge.py")

#: the runs of a qualification, in their order
RUNS = ("run", "test", "fix")
Runs = Mapping[str, Sequence[TestRun]]


class Ran(Record):
    """What was run: everything of an instance that neither the candidate nor the tests say."""

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


class Against(NamedTuple):
    """Gold's counter-runs: what they were made of, the runs by kind, and whether the disguised one was moved."""

    made: Made
    runs: Mapping[str, TestRun]
    moved: bool = False


def passes(instance: Instance, disguised: TestRun) -> bool:
    """Whether gold passes all that is expected in a disguised run."""
    results = disguised.with_files(disguised.suites).results
    trusted = disguised.end == "ran" and not disguised.doubts
    return trusted and all(results.get(name) is Status.PASSED for name in instance.expected)


def judge(candidate: Candidate, ran: Ran, runs: Runs, against: Against | None = None) -> Instance:
    """The instance, with the counter-runs that gold was put `against`. Raises Rejected."""
    for name in RUNS:
        for run in runs[name]:
            require_trust(run, name)
    runs = with_files(runs)
    agreed = {name: verdict.agree([run.results for run in several]) for name, several in runs.items()}
    quarantine = verdict.quarantine({name: unstable for name, (_, unstable) in agreed.items()})
    drawn = frozenset().union(*(run.by_screenshot for several in runs.values() for run in several))
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
        | {"deviations": (*ran.deviations, *_left_out(drawn))},
        lang=_language(candidate.fix_patch),
        tests=verdict.written(triples, by_snapshot),
        quarantine=quarantine,
        law=of_run("running", "reading", "qualifying", parser=ran.environment.parser),
        lacks=parser(ran.environment.parser).lacks(),
    )
    if not against:
        return instance
    told = counted(instance, against)
    return instance.model_copy(update={"counter_runs": told, "lacks": (*instance.lacks, *told.lacks)})


def counted(instance: Instance, against: Against) -> CounterRuns:
    """What gold did in its counter-runs, as far as it tells something of a patch: a run that did not end as it should
    tells nothing."""
    made = against.made
    results = {
        kind: run.with_files(run.suites).results
        for kind, run in against.runs.items()
        if run.end == "ran" and not run.doubts
    }
    failed = {
        kind: tuple(sorted(name for name in instance.expected if found.get(name) is Status.FAILED and " > " in name))
        for kind, found in results.items()
    }
    false = failed.get("falsified", ())
    former = tuple(name for name in failed.get("former", ()) if made.contradicts(name))
    disguised = results.get("disguised", {})
    passed = {name for name in instance.expected if disguised.get(name) is Status.PASSED}
    sooner = failed.get("first", ())
    tells = {"falsified": false, "first": sooner, "former": former, "disguised": passed & instance.fixed_tests.keys()}
    return CounterRuns(
        kinds=tuple(kind for kind in KINDS if tells[kind]),
        falsified=made.falsified if false else "",
        false=false,
        said=_reasons("falsified", against, false),
        first=made.first if sooner else "",
        first_false=sooner,
        first_said=_reasons("first", against, sooner),
        former=former,
        undisguised=tuple(sorted(instance.expected - passed)) if tells["disguised"] else (),
        moved=against.moved and bool(tells["disguised"]),
        assertions=made.assertions,
        by_value=made.by_value,
        by_negation=made.by_negation,
    )


def _reasons(kind: str, against: Against, names: Collection[str]) -> dict[str, str]:
    """Why gold fails these tests with the false expectations of a kind, where every patch fails for that reason: the
    failure says two plain values, or compares a snapshot."""
    if not names:
        return {}
    run = against.runs[kind]
    telling = (name for name in names if against.made.tells(kind, name) or name in run.by_snapshot)
    return {name: run.said[name] for name in telling if name in run.said}


def _left_out(drawn: Collection[str]) -> list[str]:
    """Tests that compare screenshots are none: a baseline says what another machine drew."""
    return [f"compares screenshots, left out: {name}" for name in sorted(drawn)]


def require_trust(run: TestRun, name: str) -> None:
    """Raise Rejected for a run of which nothing can be said."""
    if run.end != "ran":
        reason = run.end if run.end in REASONS else "not_evaluated"
        log = _text(run) if run.end == "no_report" else ""
        raise Rejected(reason, f"{run.end} in {name}, after {run.seconds:.0f} s", log=log)
    if run.doubts:
        raise Rejected("report_untrusted", f"in {name}: " + "; ".join(run.doubts), log=_text(run))


def require_health(base: Health | None, fix: TestRun) -> None:
    """Raise Rejected where no test passes that was there before, nor any with the gold patch: the environment is sick.

    One of the two suffices: there are bases of which every touched test waits for its fix.
    """
    passes = any(status in health.FINE for name, status in fix.results.items() if name not in fix.suites)
    sick = not base.well if base and base.files else bool(fix.results)
    if sick and not passes:
        said = f"in the base, {base}" if base and base.files else "with the gold patch, no test passes"
        raise Rejected("environment_failed", f"the environment runs no test as it should: {said}", log=_text(fix))


#: what an instance takes over from its candidate as it is
_CARRIED = {
    "org", "repo", "number", "state", "title", "body", "base", "resolved_issues", "fix_patch", "test_patch",
    "merge_sha", "merged_at", "a11y_reason", "statement_source", "statement", "chosen_by_hand", "hints", "pictures",
    "origin",
}  # fmt: skip


def carried(candidate: Candidate) -> dict[str, Any]:
    """What an instance has of its candidate: it follows the candidate's texts and evidence without being run again."""
    return {"instance_id": candidate.instance_id} | {name: getattr(candidate, name) for name in _CARRIED}


def with_files(runs: Runs) -> dict[str, list[TestRun]]:
    """A file that could not run in one of the runs is a test in all of them: PASSED where it could."""
    broken = {f for several in runs.values() for run in several for f, s in run.suites.items() if s is Status.FAILED}
    return {name: [run.with_files(broken) for run in several] for name, several in runs.items()}


def _without(results: Mapping[str, Status], quarantine: Collection[str]) -> dict[str, Status]:
    return {name: status for name, status in results.items() if name not in quarantine}


def _text(run: TestRun) -> str:
    return run.log.decode(errors="replace")


def _describe(name: str, triple: verdict.Triple) -> str:
    return f"{name}: {triple.run} -> {triple.test} -> {triple.fix}"


def _language(fix_patch: str) -> str:
    """Multi-SWE-bench's `lang`: ts when any changed source is TypeScript, else js."""
    return "ts" if paths(select(fix_patch, lambda path: path.endswith((".ts", ".tsx", ".mts", ".cts")))) else "js"
