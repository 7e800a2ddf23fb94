"""Qualifying one candidate: `run`, `test` and `fix`, repeated, and what their transitions say.

Returns a record in every case but a broken machine: an Instance, or a Rejection with a reason of the closed list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import git

from pipeline.build import repair
from pipeline.build.environments import environment_of, manifest_commit
from pipeline.build.infer import Unsupported
from pipeline.build.learned import Memory
from pipeline.build.reasons import REASONS, Rejected
from pipeline.build.remedies import Situation
from pipeline.build.repair import Repair
from pipeline.core import verdict
from pipeline.core.git import list_files, require_commit
from pipeline.core.patches import paths, select
from pipeline.core.records import Candidate, Counts, Instance, Rejection, Status
from pipeline.ecosystems.protection import is_protected
from pipeline.execution import images, runs, scope
from pipeline.execution.applying import PatchFailed
from pipeline.execution.runs import Plan, Run
from pipeline.sandbox import node
from pipeline.sandbox.base import DEFAULT, InstallFailed, Limits, Sandbox

#: raised whenever instances are judged or written differently: what was qualified before is stale
VERSION = 1


@dataclass(frozen=True)
class Settings:
    """How instances are qualified: where, with how many repeats, within which limits, and which tests are run."""

    sandbox: Sandbox
    repeats: int = 3
    limits: Limits = DEFAULT
    scope: Literal["touched", "full"] = "touched"


@dataclass(frozen=True)
class Job:
    """One candidate, and what its qualification works with.

    `say` takes progress lines, `keep` stores a log by name, `ready` is told of the layers whenever they are there.
    """

    settings: Settings
    clone: git.Repo
    candidate: Candidate
    memory: Memory
    say: Callable[[str], None] = lambda _: None
    keep: Callable[[str, bytes], None] = lambda *_: None
    ready: Callable[[images.Recipe], None] = lambda _: None


def recipe(clone: git.Repo, candidate: Candidate) -> images.Recipe:
    """The image of a candidate. Dependencies that the gold patch changes are those of the fix, in all three runs.

    Raises Unsupported, and UserError when the clone lacks a commit.
    """
    require_commit(clone, candidate.base.sha)
    environment = environment_of(clone, candidate)
    return images.recipe(clone, environment, candidate.base.sha, manifest_commit(candidate))


def qualify(job: Job) -> Instance | Rejection:
    """Qualify one candidate. Raises InfrastructureError and UserError only."""
    try:
        return _qualified(job)
    except Rejected as end:
        reason, detail = end.reason, end.detail
        if end.stage == "install":
            job.keep("install", end.log.encode())
    except Unsupported as end:
        reason, detail = end.reason, str(end)
    except PatchFailed as end:
        reason, detail = "patch_failed", str(end)
    return Rejection(instance_id=job.candidate.instance_id, stage="build", reason=reason, detail=detail)


def make_ahead(job: Job) -> images.Recipe:
    """Make the layers that a qualification will begin with. Raises what it would raise."""
    inferred, _, known = _known(job)
    made = images.recipe(job.clone, known.environment, inferred.base, inferred.manifests)
    images.ensure(job.settings.sandbox, job.clone, made, job.say)
    return made


def _known(job: Job) -> tuple[images.Recipe, Situation, Repair]:
    """What is inferred, what repair can look at, and what was learned from neighbours."""
    inferred = recipe(job.clone, job.candidate)
    there = Situation(images.manifests_of(job.clone, inferred.manifests), node.releases)
    return inferred, there, job.memory.recall(inferred.environment, there)


def _qualified(job: Job) -> Instance:
    """In the inferred environment, or in what repair makes of it. What was learned from neighbours comes first."""
    inferred, there, known = _known(job)
    attempt = partial(_attempt, job, inferred)
    try:
        return repair.repaired(known, there, attempt, job.keep)
    except Rejected as end:
        if not any(step.stage == end.stage for step in known.steps):
            raise
    job.say("what was learned from neighbours does not help: starting again without it")
    return repair.repaired(Repair(inferred.environment), there, attempt, job.keep)


def _attempt(job: Job, inferred: images.Recipe, state: Repair) -> Instance:
    """Install and run in one environment; what it took is learned as soon as it is known to work."""
    made = images.recipe(job.clone, state.environment, inferred.base, inferred.manifests)
    try:
        deviations = [*images.ensure(job.settings.sandbox, job.clone, made, job.say), *state.deviations]
    except InstallFailed as end:
        detail = f"{end}\n{end.log[-2000:]}"
        raise Rejected(repair.reason_of(end.log), detail, log=end.log, stage="install") from end
    job.ready(made)
    job.memory.learn(inferred.environment, [step for step in state.steps if step.stage == "install"])
    if made.manifests != made.base:
        deviations.append("the gold patch changes dependencies: the environment is the fix's in all three runs")
    plan = Plan(job.settings.sandbox, made.image, made.environment, _selected(job), job.settings.limits)
    results = _three(job, plan)
    instance = _judge(job.candidate, made, plan, job.settings, results, tuple(deviations))
    job.memory.learn(inferred.environment, state.steps)
    return instance


def _selected(job: Job) -> tuple[str, ...] | None:
    """The test files to run, None for all that the runner finds."""
    if job.settings.scope == "full":
        return None
    tree = list_files(job.clone, job.candidate.base.sha)
    return scope.files(job.settings.scope, tree, job.candidate.fix_patch, job.candidate.test_patch)


def _three(job: Job, plan: Plan) -> dict[str, list[Run]]:
    """The runs by name. `test` is what evaluation makes of an empty patch: gold's configuration and tests."""
    configuration = select(job.candidate.fix_patch, is_protected)
    fix = select(job.candidate.fix_patch, lambda path: not is_protected(path))
    test = [("gold configuration", configuration), ("test", job.candidate.test_patch)]
    done: dict[str, list[Run]] = {}
    for name, steps in (("run", []), ("test", test), ("fix", [*test, ("fix", fix)])):
        done[name] = []
        for number in range(1, job.settings.repeats + 1):
            job.say(f"{name} {number} of {job.settings.repeats}")
            run = runs.run_gold(plan, steps, cache="use" if name == "fix" else "fill")
            job.keep(f"{name}.{number}", run.log)
            done[name].append(_trusted(run, name))
    return _with_files(done)


def _trusted(run: Run, name: str) -> Run:
    if run.end != "ran":
        reason = run.end if run.end in REASONS else "not_evaluated"
        log = _said(run) if run.end == "no_report" else ""
        raise Rejected(reason, f"{run.end} in {name}, after {run.seconds:.0f} s", log=log)
    if run.faults:
        raise Rejected("report_untrusted", f"in {name}: " + "; ".join(run.faults), log=_said(run))
    return run


def _with_files(done: dict[str, list[Run]]) -> dict[str, list[Run]]:
    """A file that could not run in one of the runs is a test in all of them: PASSED where it could."""
    broken = {f for several in done.values() for run in several for f, s in run.suites.items() if s is Status.FAILED}
    return {name: [run.with_files(broken) for run in several] for name, several in done.items()}


def _judge(
    candidate: Candidate,
    made: images.Recipe,
    plan: Plan,
    settings: Settings,
    done: Mapping[str, list[Run]],
    deviations: tuple[str, ...],
) -> Instance:
    agreed = {name: verdict.agree([run.results for run in several]) for name, several in done.items()}
    quarantine = verdict.quarantine({name: unstable for name, (_, unstable) in agreed.items()})
    results = {name: _without(stable, quarantine) for name, (stable, _) in agreed.items()}
    said = _said(done["fix"][0])
    if not results["fix"]:
        detail = ", ".join(plan.files or ()) or "there is no file that a runner runs"
        raise Rejected("no_tests_run", detail, log=said)
    triples = verdict.transitions(results["run"], results["test"], results["fix"])
    qualification = verdict.qualify(triples)
    if qualification.reason:
        detail = "\n".join(_describe(name, triples[name]) for name in qualification.evidence)
        raise Rejected(qualification.reason, detail, log=said)
    fixed = verdict.fixed(triples)
    by_snapshot = frozenset.intersection(*(run.by_snapshot for run in done["test"]))
    return Instance(
        instance_id=candidate.instance_id,
        **candidate.model_dump(include=_CARRIED),
        lang=_language(candidate.fix_patch),
        fixed_tests=fixed,
        **{f"{kind}_tests": verdict.by_kind(triples, kind) for kind in ("p2p", "f2p", "s2p", "n2p")},
        run_result=_counts(results["run"]),
        test_patch_result=_counts(results["test"]),
        fix_patch_result=_counts(results["fix"]),
        environment=made.environment,
        environment_digest=made.environment_digest,
        manifests=made.manifests,
        image=made.image,
        sandbox=settings.sandbox.name,
        scope=settings.scope,
        files=tuple(plan.files or ()),
        repeats=settings.repeats,
        quarantine=quarantine,
        classes=verdict.classify(fixed, by_snapshot),
        deviations=deviations,
    )


#: what an instance takes over from its candidate as it is
_CARRIED = {
    "org", "repo", "number", "state", "title", "body", "base", "resolved_issues", "fix_patch", "test_patch",
    "merge_sha", "merged_at", "a11y_reason", "statement_source", "chosen_by_hand",
}  # fmt: skip


def _without(results: Mapping[str, Status], quarantine: Collection[str]) -> dict[str, Status]:
    return {name: status for name, status in results.items() if name not in quarantine}


def _said(run: Run) -> str:
    return run.log.decode(errors="replace")


def _describe(name: str, triple: verdict.Triple) -> str:
    return f"{name}: {triple.run} -> {triple.test} -> {triple.fix}"


def _counts(results: Mapping[str, Status]) -> Counts:
    by = {status: tuple(sorted(name for name, s in results.items() if s is status)) for status in Status}
    passed, failed, skipped = by[Status.PASSED], by[Status.FAILED], by[Status.SKIPPED]
    return Counts(
        passed_count=len(passed),
        failed_count=len(failed),
        skipped_count=len(skipped),
        passed_tests=passed,
        failed_tests=failed,
        skipped_tests=skipped,
    )


def _language(fix_patch: str) -> str:
    """Multi-SWE-bench's `lang`: ts when any changed source is TypeScript, else js."""
    return "ts" if paths(select(fix_patch, lambda path: path.endswith((".ts", ".tsx", ".mts", ".cts")))) else "js"
