"""Assessing one run of an agent and model: what is said of every prediction that has a verdict.

Reads what `evaluate` wrote, and the dataset and predictions; writes `assessments.jsonl` beside the verdicts. What
runs for it is kept apart (`evidence`).
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
from pipeline.evaluate.assess import evidence, snapshots
from pipeline.evaluate.assess.axe.audit import Audit
from pipeline.evaluate.assess.axe.findings import delta
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.evaluate.assess.judge.ruling import rule
from pipeline.evaluate.assess.request import Assessed, Evidence, Examine, Examined, Find
from pipeline.evaluate.assess.said import NOTHING, Said, beside
from pipeline.evaluate.assess.score import scored
from pipeline.evaluate.assess.settings import SHIPPED, load_settings
from pipeline.evaluate.assess.stories import part as stories
from pipeline.evaluate.assess.updated import Updated
from pipeline.evaluate.runs import How, patch_runs
from pipeline.evaluate.stage import check
from pipeline.execution import images
from pipeline.llm.panel import Asked


class More(NamedTuple):
    """What is asked for beside snapshots: audits of what tests render and of stories, and a judge; and the settings of
    score and judge."""

    axe: bool = False
    stories: bool = False
    judge: Asked | None = None
    settings: Path = SHIPPED


NO_MORE = More()


def assess(
    store: Store,
    subject: Subject,
    how: How,
    *,
    trust_local: bool = False,
    jobs: int = 2,
    engine: str = "threads",
    more: More = NO_MORE,
) -> list[Assessment]:
    """Assess every prediction that has a verdict, and write what is found. Raises UserError on bad input."""
    settings = load_settings(more.settings)
    panel = Panel(store, subject.repo, more.judge, settings.judge) if more.judge else None
    answers = read_answers(store, subject)
    instances = answers.among(read_dataset(store, subject.repo))
    clone = images.source(store, subject.repo)
    check(instances, answers, clone, how.sandbox, trust_local)
    folder = store.evaluation(subject.repo, subject.agent, subject.model)
    verdicts = _verdicts(store, subject, answers, instances)
    lock = store.lock("evaluate", subject.repo, subject.agent, subject.model)
    with lock, log_file(folder / "assess.log"):
        assessed = [_assessed(one, verdicts[one.instance_id], answers) for one in instances]
        with Progress("assessing", len(instances)) as progress:
            runs, parts = patch_runs(store, subject.repo, how, clone), _parts(more)
            requests = [Examine(one, runs, parts) for one in assessed]
            interrupts = Interrupts(progress.stopping, how.sandbox.abort)
            assessments = examined(requests, progress, jobs=jobs, engine=engine, interrupts=interrupts)
        if panel:
            said = rule(panel, assessed, folder / "judge-gateway.log", jobs, engine)
            assessments = [beside(one, "judge", part) for one, part in zip(assessments, said, strict=True)]
        assessments = [scored(one, verdicts[one.instance_id], settings) for one in assessments]
        store.replace_records(folder / "assessments.jsonl", assessments)
        return assessments


def examined(requests: Sequence[Examine], progress: Progress, **how: Any) -> list[Assessment]:
    """What the evidence says of each prediction, in their order; what was made for it is kept (as `each` is told)."""
    return _look(_found(requests, progress, **how))


def _parts(more: More) -> dict[str, Find]:
    """What finds the parts that are asked for, by their names."""
    parts = {"snapshot": evidence.snapshots_of, "axe": evidence.audits_of, "stories": stories.look}
    return {name: find for name, find in parts.items() if getattr(more, name, True)}


def _assessed(instance: Instance, verdict: Verdict, answers: Answers) -> Assessed:
    prediction = answers.predictions.get(instance.instance_id)
    return Assessed(instance, verdict, prediction.model_patch if prediction else "")


def _found(requests: Sequence[Examine], progress: Progress, **how: Any) -> list[Evidence]:
    """The evidence on each prediction, in their order; what was made for it is kept."""
    found: dict[str, Evidence] = {}
    for request, result in each(requests, hear=progress.hear, **how):
        _keep(request, result)
        found[request.name] = result.evidence
        text = "; ".join(result.evidence.notes.values()) or "assessed"
        progress.finish(request.name, text, str(request.assessed.verdict.outcome))
    return [found[request.name] for request in requests]


def _keep(request: Examine, result: Examined) -> None:
    """Keep what was made again."""
    if result.tested:
        request.runs.keep(request.assessed.instance, request.assessed.patch, result.tested)
    for inputs, files in result.made:
        request.runs.unit("evidence", inputs).keep(files, **inputs)


def _verdicts(store: Store, subject: Subject, answers: Answers, instances: Sequence[Instance]) -> dict[str, Verdict]:
    """The verdicts of this run by instance. Raises UserError unless each has one."""
    path = store.evaluation(subject.repo, subject.agent, subject.model) / "verdicts.jsonl"
    found = {one.instance_id: one for one in read_records(path, Verdict) if one.run == answers.run}
    missing = [one.instance_id for one in instances if one.instance_id not in found]
    if missing:
        hint = f"run: just eval-run {subject.repo} {subject.model} --agent {subject.agent}"
        raise UserError(f"{missing[0]} has no verdict for the run {answers.run}", path=path, hint=hint)
    return found


def _look(found: Sequence[Evidence]) -> list[Assessment]:
    """Let the browser look at what needs it: one page, one after the other."""
    with ExitStack() as stack:
        viewer = stack.enter_context(browser.opened()) if any(one.updated for one in found) else None
        return [_assessment(one, viewer) for one in found]


def _seen(found: Evidence, viewer: Browser, updated: Updated) -> SnapshotVerdict:
    seen = snapshots.look(viewer, snapshots.failing(found.verdict), updated)
    unfixed = tuple(found.verdict.unfixed)
    if seen.likeness == "cosmetic" and (found.base is None or snapshots.is_blind(viewer, unfixed, found.base)):
        why = "the assessment does not tell the base from gold"
        return seen.model_copy(update={"likeness": "unparsable", "reasons": dict.fromkeys(seen.tests, why)})
    return seen


def _heard(found: Evidence, viewer: Browser, updated: Updated) -> Said:
    """What a screen reader says of the tests that fail, where there is one."""
    try:
        spoken.source()
    except InfrastructureError as error:
        return Said(note=f"not read aloud: {error}")
    return Said(snapshots.spoken(viewer, snapshots.failing(found.verdict), updated, found.base))


def _compared(base: Audit, gold: Audit, patch: Audit) -> AxeDelta:
    return delta(base.violations, gold.violations, patch.violations, patch.tests)


def _assessment(found: Evidence, viewer: Browser | None) -> Assessment:
    verdict, resolved = found.verdict, found.verdict.outcome is Outcome.RESOLVED
    seen = _seen(found, viewer, found.updated) if viewer and found.updated else None
    heard = _heard(found, viewer, found.updated) if viewer and found.updated else NOTHING
    if seen and heard.value:
        seen = seen.model_copy(update={"spoken": heard.value})
    who: dict[str, Any] = verdict.model_dump(include={"instance_id", "agent", "model", "run", "patch_digest", "image"})
    assessment = Assessment(
        **who,
        resolved=resolved,
        resolved_equivalent=resolved or (seen is not None and seen.likeness == "cosmetic"),
        snapshot=seen,
        axe=_compared(*found.audits) if found.audits else None,
        notes=found.notes | ({"spoken": heard.note} if heard.note else {}),
        browser=viewer.version if viewer and seen else found.browser,
    )
    return beside(assessment, "stories", found.stories)
