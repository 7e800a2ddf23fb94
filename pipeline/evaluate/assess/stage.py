"""Assessing one run of an agent and model: every prediction that has a verdict.

Reads what `evaluate` wrote, the dataset and the predictions; writes `assessments.jsonl` next to the verdicts. Results
of further test runs are kept separately (`evidence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from pipeline import browser
from pipeline.browser import Browser, spoken
from pipeline.core.assessment import Assessment, AxeDelta, SnapshotVerdict
from pipeline.core.console import log_file
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Outcome, Verdict
from pipeline.core.store import Store, read_records
from pipeline.core.work import Interrupts, each
from pipeline.evaluate.answers import Answers, Subject, read_answers
from pipeline.evaluate.assess import snapshots
from pipeline.evaluate.assess.axe.audit import Audit
from pipeline.evaluate.assess.axe.findings import delta
from pipeline.evaluate.assess.evidence import audits_of, snapshots_of
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.evaluate.assess.judge.ruling import rule
from pipeline.evaluate.assess.parts import NOTHING, PartResult, with_part
from pipeline.evaluate.assess.request import Assessed, Evidence, Examine, Examined, Find
from pipeline.evaluate.assess.score import scored
from pipeline.evaluate.assess.settings import SHIPPED, load_settings
from pipeline.evaluate.assess.stories import part as stories
from pipeline.evaluate.assess.updated import Updated
from pipeline.evaluate.runs import How, patch_runs
from pipeline.evaluate.stage import check
from pipeline.execution import images
from pipeline.llm.panel import Asked
from pipeline.sandbox.watch import Watch


class Extras(NamedTuple):
    """What to assess besides snapshots: audits of documents that tests render and of stories, and a judge; and the
    settings of score and judge."""

    axe: bool = False
    stories: bool = False
    judge: Asked | None = None
    settings: Path = SHIPPED


NO_EXTRAS = Extras()


def assess(
    store: Store,
    subject: Subject,
    how: How,
    *,
    trust_local: bool = False,
    jobs: int = 2,
    engine: str = "threads",
    extras: Extras = NO_EXTRAS,
) -> list[Assessment]:
    """Assess every prediction that has a verdict, and write the assessments. Raises UserError for bad input."""
    settings = load_settings(extras.settings)
    panel = Panel(store, subject.repo, extras.judge, settings.judge) if extras.judge else None
    answers = read_answers(store, subject)
    instances = answers.among(read_dataset(store, subject.repo))
    clone = images.source(store, subject.repo)
    check(instances, answers, clone, how.sandbox, trust_local)
    folder = store.evaluation(subject.repo, subject.agent, subject.model)
    verdicts = _verdicts(store, subject, answers, instances)
    lock = store.lock("evaluate", subject.repo, subject.agent, subject.model)
    with lock, log_file(folder / "assess.log"):
        assessed = [_assessed(instance, verdicts[instance.instance_id], answers) for instance in instances]
        with Progress("assessing", len(instances)) as progress:
            runs, parts = patch_runs(store, subject.repo, how, clone), _parts(extras)
            requests = [Examine(prediction, runs, parts) for prediction in assessed]
            interrupts = Interrupts(progress.stopping, how.sandbox.abort)
            assessments = examined(requests, progress, jobs=jobs, engine=engine, interrupts=interrupts)
        if panel:
            ratings = rule(panel, assessed, folder / "judge-gateway.log", jobs, engine)
            assessments = [
                with_part(assessment, "judge", rating) for assessment, rating in zip(assessments, ratings, strict=True)
            ]
        assessments = [scored(assessment, verdicts[assessment.instance_id], settings) for assessment in assessments]
        store.replace_records(folder / "assessments.jsonl", assessments)
        return assessments


def examined(requests: Sequence[Examine], progress: Progress, **how: Any) -> list[Assessment]:
    """Assess each prediction by its evidence, in order, and keep the evidence. `how` is passed to `each`."""
    return _viewed(_evidence(requests, progress, **how))


def _parts(extras: Extras) -> dict[str, Find]:
    """The functions that collect the requested parts, by name."""
    parts = {"snapshot": snapshots_of, "axe": audits_of, "stories": stories.look}
    return {name: find for name, find in parts.items() if getattr(extras, name, True)}


def _assessed(instance: Instance, verdict: Verdict, answers: Answers) -> Assessed:
    prediction = answers.predictions.get(instance.instance_id)
    return Assessed(instance, verdict, prediction.model_patch if prediction else "")


def _evidence(requests: Sequence[Examine], progress: Progress, **how: Any) -> list[Evidence]:
    """Collect and keep the evidence on each prediction, in order."""
    by_name: dict[str, Evidence] = {}
    watch = Watch(requests[0].runs.sandbox.sandbox() if requests else None)
    for request, result in each(requests, hear=progress.hear, admit=watch.admit, **how):
        watch.heed(result.fault)
        _keep(request, result)
        by_name[request.name] = result.evidence
        text = "; ".join(result.evidence.notes.values()) or "assessed"
        progress.finish(request.name, text, str(request.assessed.verdict.outcome))
    return [by_name[request.name] for request in requests]


def _keep(request: Examine, result: Examined) -> None:
    """Keep new results."""
    if result.tested:
        request.runs.keep(request.assessed.instance, request.assessed.patch, result.tested)
    for inputs, files in result.made:
        request.runs.unit("evidence", inputs).keep(files, **inputs)


def _verdicts(store: Store, subject: Subject, answers: Answers, instances: Sequence[Instance]) -> dict[str, Verdict]:
    """The verdicts of this run by instance. Raises UserError unless each has one."""
    path = store.evaluation(subject.repo, subject.agent, subject.model) / "verdicts.jsonl"
    verdicts = {verdict.instance_id: verdict for verdict in read_records(path, Verdict) if verdict.run == answers.run}
    missing = [instance.instance_id for instance in instances if instance.instance_id not in verdicts]
    if missing:
        hint = f"run: just eval-run {subject.repo} {subject.model} --agent {subject.agent}"
        raise UserError(f"{missing[0]} has no verdict for the run {answers.run}", path=path, hint=hint)
    return verdicts


def _viewed(collected: Sequence[Evidence]) -> list[Assessment]:
    """Assess in turn, with a browser if any prediction needs one."""
    with ExitStack() as stack:
        viewer = stack.enter_context(browser.opened()) if any(evidence.updated for evidence in collected) else None
        return [_assessment(evidence, viewer) for evidence in collected]


def _snapshot_verdict(evidence: Evidence, viewer: Browser, updated: Updated) -> SnapshotVerdict:
    verdict = snapshots.look(viewer, snapshots.failing(evidence.verdict), updated)
    unfixed = tuple(evidence.verdict.unfixed)
    if verdict.likeness == "cosmetic" and (evidence.base is None or snapshots.is_blind(viewer, unfixed, evidence.base)):
        reason = "the assessment does not tell the base from gold"
        return verdict.model_copy(update={"likeness": "unparsable", "reasons": dict.fromkeys(verdict.tests, reason)})
    return verdict


def _spoken(evidence: Evidence, viewer: Browser, updated: Updated) -> PartResult:
    """What a screen reader says on the snapshots of failing tests, if one is installed."""
    try:
        spoken.source()
    except InfrastructureError as error:
        return PartResult(note=f"not read aloud: {error}")
    return PartResult(snapshots.spoken(viewer, snapshots.failing(evidence.verdict), updated, evidence.base))


def _compared(base: Audit, gold: Audit, patch: Audit) -> AxeDelta:
    return delta(base.violations, gold.violations, patch.violations, patch.tests)


def _assessment(evidence: Evidence, viewer: Browser | None) -> Assessment:
    verdict, resolved = evidence.verdict, evidence.verdict.outcome is Outcome.RESOLVED
    snapshot = _snapshot_verdict(evidence, viewer, evidence.updated) if viewer and evidence.updated else None
    speech = _spoken(evidence, viewer, evidence.updated) if viewer and evidence.updated else NOTHING
    if snapshot and speech.value:
        snapshot = snapshot.model_copy(update={"spoken": speech.value})
    identity: dict[str, Any] = verdict.model_dump(
        include={"instance_id", "agent", "model", "run", "patch_digest", "image"}
    )
    assessment = Assessment(
        **identity,
        resolved=resolved,
        resolved_equivalent=resolved or (snapshot is not None and snapshot.likeness == "cosmetic"),
        snapshot=snapshot,
        axe=_compared(*evidence.audits) if evidence.audits else None,
        notes=evidence.notes | ({"spoken": speech.note} if speech.note else {}),
        browser=viewer.version if viewer and snapshot else evidence.browser,
    )
    return with_part(assessment, "stories", evidence.stories)
