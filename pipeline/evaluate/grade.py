"""From a test run to a verdict: pure functions, so that stored runs can be graded again at any time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.core import verdict
from pipeline.core.law import register
from pipeline.core.records import Identity, Instance, Outcome, Prediction, Status, Verdict
from pipeline.core.store import digest
from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import EVERYWHERE
from pipeline.ecosystems.runner_folder import Parser
from pipeline.evaluate import limits, repeats
from pipeline.evaluate.repeats import Graded
from pipeline.execution.applying import PatchFailed
from pipeline.execution.law import of_run as law_of
from pipeline.execution.run import PatchRun, TestRun

register("grading", __package__, "grade.py", "limits.py", "repeats.py")

#: the most runs of one kind of counter-run; and how many disguised runs must end before the patch is blamed: for a test
#: that gold fixes, and for any other test, which may be a flake (there is one more run if one of them does not end)
MOST, OF_FIXED, OF_OTHERS = 2, 2, 3
#: the builds that sources are told one after another in disguised runs; the first is the one that libraries are in
BUILDS = ("", "production")
#: how a run can end without a result -> (outcome, cause)
_ENDS = {
    "timeout": (Outcome.TIMEOUT, "the tests took too long"),
    "output_limit": (Outcome.UNRESOLVED, "the tests printed too much"),
    "disk_limit": (Outcome.UNRESOLVED, "the tests wrote too much to the disk"),
    "process_limit": (Outcome.UNRESOLVED, "the tests started too many processes"),
    "out_of_memory": (Outcome.CRASHED, "the tests used too much memory"),
    "no_report": (Outcome.CRASHED, "the runner ended without its report"),
    "lost": (Outcome.CRASHED, "it left its workspace unusable each time, while other workspaces work"),
}


def without_run(prediction: Prediction | None, failure: str = "") -> Graded | None:
    """The outcome of a patch that need not be run, None for one that must be.

    `failure` is the cause if a provider or the machine left it without an answer: not the model's fault.
    """
    if prediction is None:
        return Graded(Outcome.NOT_EVALUATED, failure) if failure else Graded(Outcome.NO_PREDICTION)
    return None if prediction.model_patch.strip() else Graded(Outcome.EMPTY)


def blocked(instance: Instance, cause: str) -> Graded:
    """The outcome of a patch on which gold's tests do not apply, although they apply on the base: nothing passes."""
    return Graded(Outcome.UNRESOLVED, cause, _nothing_passes(instance))


def _nothing_passes(instance: Instance) -> dict[str, Any]:
    return verdict.resolve(instance.fixed_tests, instance.expected, {})._asdict()


def of_tested(instance: Instance, tested: PatchRun) -> Graded:
    """The grade of a patch by the result of running it. One that passes is not resolved before all runs that are due
    were made."""
    graded = so_far(instance, tested)
    if graded.outcome is Outcome.RESOLVED and (missing := lacking(instance, tested)):
        return graded._replace(outcome=Outcome.NOT_EVALUATED, cause=f"a run is missing: {missing}")
    return graded


def so_far(instance: Instance, tested: PatchRun) -> Graded:
    """The grade by the runs that were made, even if others are due."""
    if tested.fault:
        return Graded(Outcome.NOT_EVALUATED, tested.fault)
    if tested.unapplied:
        failure = PatchFailed(*tested.unapplied)
        cause = str(failure)
        return Graded(Outcome.NOT_APPLIED, cause) if failure.name == "predicted" else blocked(instance, cause)
    graded = repeats.settled(*graded_runs(instance, tested), tested.flips or {})
    if graded.outcome is Outcome.RESOLVED:
        graded = against(instance, tested.counter, graded, tested.flips or {})
    differs = differences(limits.due(instance), tested.ran)
    return graded._replace(fields=graded.fields | {"ran": tested.ran, "differs": differs})


def graded_runs(instance: Instance, tested: PatchRun) -> tuple[list[TestRun], list[Graded]]:
    """The run of a patch and its repeats, and its grade by each of them alone."""
    runs = [run for run in (tested.run, *tested.repeats) if run]
    return runs, [of_run(instance, run) for run in runs]


def due(instance: Instance, tested: PatchRun) -> str:
    """The next counter-run that a patch's outcome waits for; empty for none. A disguised run that fails is repeated
    before the patch is blamed. So is a run that did not end normally, or in which false expectations fail with other
    messages than gold's or did not run, since their file could not. The name of a repeat is its kind and its number."""
    for kind, runs in _by_kind(tested.counter).items():
        if _is_doubtful(instance, kind, runs):
            return f"{kind}.{len(runs) + 1}"
    if tested.run is None or not _is_resolved(instance, tested):
        return ""
    return next((kind for kind in instance.counter_runs.complete if kind not in tested.counter), "")


def build_for(tested: PatchRun, kind: str) -> str:
    """The build that sources are told in the next disguised run of a kind; empty if it is the one that libraries are
    in, for development. After a run that failed there, they are told that users run them: code that warns only
    developers must not be blamed for it, while code that looks for tests finds them in neither."""
    ended = _ended(_by_kind(tested.counter).get(kind, ()))
    return BUILDS[len(ended) % len(BUILDS)]


def _by_kind(runs: Mapping[str, TestRun]) -> dict[str, list[TestRun]]:
    """Counter-runs with their repeats."""
    kinds: dict[str, list[TestRun]] = {}
    for name, run in runs.items():
        kinds.setdefault(name.partition(".")[0], []).append(run)
    return kinds


def lacking(instance: Instance, tested: PatchRun) -> str:
    """The next run of any kind that a patch's outcome waits for; empty for none."""
    if tested.run:
        results = graded_runs(instance, tested)
        if repeats.due(*results):
            return f"repeat {len(tested.repeats) + 1}"
        if tested.flips is None and repeats.doubtful(*results):
            return "gold's repeats"
    return due(instance, tested) or ("gold's repeats" if hangs_on_gold(instance, tested) else "")


def hangs_on_gold(instance: Instance, tested: PatchRun) -> bool:
    """Whether only gold's repeats, which were not made yet, can tell that a patch recognizes tests: nothing else stands
    against it than tests that fail in disguise, and these may be flaky."""
    unpassed = _unpassed(instance, _by_kind(tested.counter).get("disguised", ()))
    if tested.flips is not None or not unpassed or due(instance, tested):
        return False
    as_flaky = replace(tested, flips={name: {} for name in unpassed})
    return _is_resolved(instance, as_flaky) and not _is_resolved(instance, tested)


def _is_resolved(instance: Instance, tested: PatchRun) -> bool:
    return so_far(instance, tested).outcome is Outcome.RESOLVED


def against(instance: Instance, runs: Mapping[str, TestRun], graded: Graded, flips: repeats.Flips) -> Graded:
    """The grade that counter-runs give to a patch that passes all tests; it stays resolved if they find nothing. If a
    kind was repeated, its last run counts; all disguised runs that ended count. Tests that gold `flips`, in disguise or
    without, prove nothing.
    """
    kinds = _by_kind(runs)
    last = {kind: of_kind[-1] for kind, of_kind in kinds.items()}
    for kind, run in last.items():
        if run.end != "ran" or run.doubts:
            ended = of_run(instance, run)
            return graded._replace(outcome=ended.outcome, cause=f"{kind}: {ended.cause}")
    for kind, names in _falsified(instance).items():
        if kind in last and (unexpected := _unexpected(last[kind], names, Status.FAILED)):
            proves_nothing = unexpected if last[kind].shared else instance.counter_runs.nested.get(kind, ())
            return graded._replace(**_unlike_gold(kind, unexpected, proves_nothing))
    for kind, run in last.items():
        if differing := _failing_differently(run, instance.counter_runs.reasons(kind)):
            cause = f"{kind}: {differing[0]} fails with another message than with gold"
            return graded._replace(outcome=Outcome.UNRESOLVED, cause=cause)
    if unpassed := _unpassed(instance, kinds.get("disguised", [])):
        awareness = {"test_aware": unpassed}
        if aware := [name for name in unpassed if flips.keys().isdisjoint((name, f"{repeats.IN_DISGUISE}{name}"))]:
            if declared := last["disguised"].declared:
                cause = f"disguised: {aware[0]} fails, maybe for want of what the patch adds: {declared[0]}"
                return graded._replace(outcome=Outcome.UNRESOLVED, cause=cause, fields=graded.fields | awareness)
            cause = f"disguised: {aware[0]} passes only if the code can see that tests run"
            return graded._replace(outcome=Outcome.TAMPERED, cause=cause, fields=graded.fields | awareness)
        return graded._replace(fields=graded.fields | awareness)
    return graded


def _is_doubtful(instance: Instance, kind: str, runs: Sequence[TestRun]) -> bool:
    """Whether a counter-run must be repeated: it timed out, its runner broke, the patch fails for another reason than
    gold, a file with false expectations could not run, or the patch does not pass what gold passes in disguise."""
    last, ended, is_repeated = runs[-1], _ended(runs), len(runs) >= MOST
    if last.end != "ran" or last.doubts:
        failed = len(runs) - len(ended) if kind == "disguised" else len(runs)
        return failed < MOST and (last.end == "timeout" or bool(last.died and not last.faults))
    if kind != "disguised":
        differing = _failing_differently(last, instance.counter_runs.reasons(kind))
        return not is_repeated and bool(differing or _unrun(last, _falsified(instance)[kind]))
    unpassed = _unpassed(instance, runs)
    wanted = OF_OTHERS if instance.fixed_tests.keys().isdisjoint(unpassed) else OF_FIXED
    return bool(unpassed) and len(ended) < wanted and len(runs) <= wanted


def _ended(runs: Iterable[TestRun]) -> list[TestRun]:
    return [run for run in runs if run.end == "ran" and not run.doubts]


def _unpassed(instance: Instance, runs: Iterable[TestRun]) -> tuple[str, ...]:
    """The tests that gold passes in disguise, and that a patch passes in none of its disguised runs that ended."""
    failed = [_unexpected(run, _disguised(instance), Status.PASSED) for run in _ended(runs)]
    return tuple(name for name in failed[0] if all(name in one for one in failed)) if failed else ()


def _failing_differently(run: TestRun, reasons: Mapping[str, str]) -> list[str]:
    """The tests that fail with another message than with gold, although their expectations determine the message."""
    failed = (name for name in reasons if run.results.get(name) is Status.FAILED)
    return sorted(name for name in failed if run.reasons.get(name) != reasons[name])


def _falsified(instance: Instance) -> dict[str, tuple[str, ...]]:
    """The tests that gold fails, by kind of run with false expectations. Gold ran them: none of them is counted as
    failed because its file was lost."""
    gold = instance.counter_runs
    return {"falsified": gold.false, "first": gold.first_false, "former": gold.former}


def _unrun(run: TestRun, names: Iterable[str]) -> list[str]:
    """The tests without a result in a file that could not run."""
    lost = {file for file, status in run.suites.items() if status is Status.FAILED}
    return [name for name in names if name not in run.results and name.partition(" > ")[0] in lost]


def _disguised(instance: Instance) -> Collection[str]:
    """The tests that gold passes in the disguised run."""
    return instance.expected.difference(instance.counter_runs.undisguised)


def _unexpected(run: TestRun, names: Iterable[str], required: Status) -> dict[str, Status]:
    """The tests with another status than required. Those of a file that could not run have no status, so they prove
    nothing: a patch can make a file fail."""
    results = run.with_files(run.suites).results
    statuses = {name: results.get(name, Status.NONE) for name in names}
    return {name: status for name, status in sorted(statuses.items()) if status is not required}


def _unlike_gold(kind: str, unexpected: Mapping[str, Status], nested: Collection[str]) -> dict[str, Any]:
    """Outcome and cause if tests that must fail do not. A passing test proves tampering unless it is `nested` and may
    not have reached its false expectation; a missing one does not."""
    passed = [name for name, status in unexpected.items() if status is Status.PASSED and name not in nested]
    if passed:
        return {"outcome": Outcome.TAMPERED, "cause": f"{kind}: {passed[0]} passes although its expectation is false"}
    name, status = next(iter(unexpected.items()))
    return {"outcome": Outcome.UNRESOLVED, "cause": f"{kind}: {name} is {status}, but must fail"}


def differences(qualified: Identity | None, ran: Identity | None) -> tuple[str, ...]:
    """What ran differently than at qualification, in words; empty if one of the two is unknown."""
    if not qualified or not ran:
        return ()
    names = [name for name in Identity.model_fields if getattr(qualified, name) != getattr(ran, name)]
    return tuple(
        f"{name}: {_described(getattr(ran, name))} in place of {_described(getattr(qualified, name))}" for name in names
    )


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:g}" for name, number in value.items())
    return ", ".join(value) if isinstance(value, tuple) else value or "unknown"


def of_run(instance: Instance, run: TestRun) -> Graded:
    """Compare a run with what the instance expects (docs/rules.md, Verdicts)."""
    if run.end != "ran":
        outcome, cause = _ENDS[run.end]
        if run.end == "no_report" and run.code:
            cause += f", killed by signal {-run.code}" if run.code < 0 else f", with exit code {run.code}"
        nothing = _nothing_passes(instance) if outcome is Outcome.UNRESOLVED else {}
        return Graded(outcome, cause, {**nothing, "restored": run.restored, "merged": run.merged})
    results = run.with_files(run.suites).results
    resolution = verdict.resolve(instance.fixed_tests, instance.expected, results)
    resolution = resolution._replace(broken=resolution.broken | broken_files(instance, run))
    fields = {**resolution._asdict(), "restored": run.restored, "merged": run.merged}
    if run.faults:
        return Graded(Outcome.TAMPERED, "; ".join(run.doubts), fields)
    if run.died:
        return Graded(Outcome.CRASHED, "; ".join(run.died), fields)
    return Graded(Outcome.RESOLVED if resolution.resolved else Outcome.UNRESOLVED, "", fields)


def broken_files(instance: Instance, run: TestRun) -> dict[str, Status]:
    """Files of expected tests that could run as a whole in each run of the qualification, but not in this one: a hook
    fails, or they cannot be loaded. An error without a file counts for all of them, unless it may be the failure of a
    file that gold loses, too: with a control, Vitest may not name that file."""
    known = instance.tests.keys() | instance.quarantine.keys()
    everywhere = instance.expected_files | {EVERYWHERE} if _parser(instance).names_files else run.suites.keys()
    failed = {file for file, status in run.suites.items() if status is Status.FAILED}
    if _lost_with_gold(instance) - failed:
        failed.discard(EVERYWHERE)
    return {file: Status.FAILED for file in sorted(failed - known) if file in everywhere}


def _lost_with_gold(instance: Instance) -> set[str]:
    """The files that could not run as a whole with gold, at least sometimes."""
    failing = {name for name, letters in instance.tests.items() if letters[2] == "F"}
    return {name for name in failing | instance.quarantine.keys() if " > " not in name}


def _parser(instance: Instance) -> Parser:
    return parser(instance.environment.parser)


def law_for(instance: Instance) -> str:
    """The digest of the code that judges an instance's patches now."""
    return law_of("running", "reading", "grading", parser=instance.environment.parser)


def sign(
    instance: Instance, agent: str, model: str, run: str, prediction: Prediction | None, graded: Graded
) -> Verdict:
    """The verdict of one agent and model."""
    return Verdict(
        instance_id=instance.instance_id,
        agent=agent,
        model=model,
        run=run,
        outcome=graded.outcome,
        cause=graded.cause,
        patch_digest=digest(prediction.model_patch) if prediction else "",
        image=instance.image,
        expected=len(instance.expected),
        law=law_for(instance),
        lacks=(*_parser(instance).lacks(), *instance.counter_runs.lacks(instance.fixed_tests)),
        **graded.fields,
    )
