"""Qualifying one candidate: `run`, `test` and `fix`, repeated, and what their transitions say.

Returns a record in every case but a broken machine: an Instance, or a Rejection with a reason of the closed list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import git

from pipeline.build import scope
from pipeline.build.environments import environment_of, manifest_commit
from pipeline.build.infer import Unsupported
from pipeline.core import images, runs, verdict
from pipeline.core.git import list_files, require_commit
from pipeline.core.patches import is_protected, paths, select
from pipeline.core.records import Candidate, Counts, Instance, Rejection, Status
from pipeline.core.runs import Plan, Run
from pipeline.core.sandbox.base import DEFAULT, InstallFailed, Limits, Sandbox

#: raised whenever instances are judged or written differently: what was qualified before is stale
VERSION = 1

#: the closed list of reasons -> what it means to a person
REASONS = {
    "environment_failed": "the dependencies could not be installed",
    "runner_unsupported": "no test runner that is known here",
    "patch_failed": "a gold patch does not apply to the base",
    "no_tests_run": "the gold patch's test files ran no test",
    "no_report": "the runner wrote no report",
    "report_untrusted": "the report disagrees with itself or with the exit code",
    "timeout": "the tests took too long",
    "output_limit": "the tests printed too much",
    "disk_limit": "the tests wrote too much to the disk",
    "process_limit": "the tests started too many processes",
    "regression": "a test that passed with the test patch fails with the fix",
    "gold_does_not_fix": "a test fails with the fix, too",
    "test_lost": "a test is gone or skipped with the fix",
    "anomalous": "a test comes and goes in a way that nothing explains",
    "no_fix_transition": "no test goes from FAILED to PASSED with the fix",
    "not_evaluated": "the machine, not the repository, failed: run the command again",
}


@dataclass(frozen=True)
class Settings:
    """How instances are qualified: where, with how many repeats, within which limits, and which tests are run."""

    sandbox: Sandbox
    repeats: int = 3
    limits: Limits = DEFAULT
    scope: Literal["touched", "full"] = "touched"


class Rejected(Exception):
    """Ends the qualification of a candidate with a reason."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail


def recipe(clone: git.Repo, candidate: Candidate) -> images.Recipe:
    """The image of a candidate. Dependencies that the gold patch changes are those of the fix, in all three runs.

    Raises Unsupported, and UserError when the clone lacks a commit.
    """
    require_commit(clone, candidate.base.sha)
    environment = environment_of(clone, candidate)
    return images.recipe(clone, environment, candidate.base.sha, manifest_commit(candidate))


def qualify(
    settings: Settings,
    clone: git.Repo,
    candidate: Candidate,
    say: Callable[[str], None],
    keep: Callable[[str, bytes], None],
) -> Instance | Rejection:
    """Qualify one candidate; `keep` stores a log by name. Raises InfrastructureError and UserError only."""
    try:
        return _qualify(settings, clone, candidate, say, keep)
    except Rejected as end:
        reason, detail = end.reason, end.detail
    except Unsupported as end:
        reason, detail = end.reason, str(end)
    except InstallFailed as end:
        keep("install", end.log.encode())
        reason, detail = "environment_failed", f"{end}\n{end.log[-2000:]}"
    except runs.PatchFailed as end:
        reason, detail = "patch_failed", str(end)
    return Rejection(instance_id=candidate.instance_id, stage="build", reason=reason, detail=detail)


def _qualify(
    settings: Settings,
    clone: git.Repo,
    candidate: Candidate,
    say: Callable[[str], None],
    keep: Callable[[str, bytes], None],
) -> Instance:
    made = recipe(clone, candidate)
    deviations = images.ensure(settings.sandbox, clone, made, say)
    if made.manifests != made.base:
        deviations.append("the gold patch changes dependencies: the environment is the fix's in all three runs")
    tree = list_files(clone, candidate.base.sha)
    files = scope.files(settings.scope, tree, candidate.fix_patch, candidate.test_patch)
    selected = files if settings.scope == "touched" else None
    plan = Plan(settings.sandbox, made.image, made.environment, selected, settings.limits)
    results = _three(plan, candidate, settings.repeats, say, keep)
    return _judge(candidate, made, plan, settings, results, tuple(deviations))


def _three(
    plan: Plan, candidate: Candidate, repeats: int, say: Callable[[str], None], keep: Callable[[str, bytes], None]
) -> dict[str, list[Run]]:
    """The runs by name. `test` is what evaluation makes of an empty patch: gold's configuration and tests."""
    configuration = select(candidate.fix_patch, is_protected)
    fix = select(candidate.fix_patch, lambda path: not is_protected(path))
    test = [("gold configuration", configuration), ("test", candidate.test_patch)]
    done: dict[str, list[Run]] = {}
    for name, steps in (("run", []), ("test", test), ("fix", [*test, ("fix", fix)])):
        done[name] = []
        for number in range(1, repeats + 1):
            say(f"{name} {number} of {repeats}")
            run = runs.run_gold(plan, steps, cache="use" if name == "fix" else "fill")
            keep(f"{name}.{number}", run.log)
            done[name].append(_trusted(run, name))
    return _with_files(done)


def _trusted(run: Run, name: str) -> Run:
    if run.end != "ran":
        reason = run.end if run.end in REASONS else "not_evaluated"
        raise Rejected(reason, f"{run.end} in {name}, after {run.seconds:.0f} s")
    if run.faults:
        raise Rejected("report_untrusted", f"in {name}: " + "; ".join(run.faults))
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
    if not results["fix"]:
        raise Rejected("no_tests_run", ", ".join(plan.files or ()) or "there is no file that a runner runs")
    triples = verdict.transitions(results["run"], results["test"], results["fix"])
    qualification = verdict.qualify(triples)
    if qualification.reason:
        raise Rejected(
            qualification.reason, "\n".join(_describe(name, triples[name]) for name in qualification.evidence)
        )
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
