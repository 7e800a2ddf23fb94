"""Evaluating one run of an agent and model: every instance of the dataset gets a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import git

from pipeline.core.console import log_file
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.git import require_commit
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Verdict
from pipeline.core.retry import PATIENT, Patience
from pipeline.core.store import Store, digest, write_json
from pipeline.core.trust import require_trust
from pipeline.core.work import Interrupts, each
from pipeline.evaluate.answers import Answers, Subject, read_answers
from pipeline.evaluate.final_report import final_report
from pipeline.evaluate.grade import Graded, of_tested, sign, without_run
from pipeline.evaluate.request import RunPatch
from pipeline.evaluate.runs import How, PatchRuns, patch_runs
from pipeline.execution import images
from pipeline.sandbox.base import DEFAULT, Limits, Sandbox
from pipeline.sandbox.images import Directory


def evaluate(
    store: Store,
    subject: Subject,
    sandbox: Sandbox,
    *,
    limits: Limits = DEFAULT,
    patience: Patience = PATIENT,
    trust_local: bool = False,
    jobs: int = 2,
    engine: str = "threads",
) -> list[Verdict]:
    """Give every instance of the dataset a verdict and write them. Raises UserError before any work on bad input."""
    instances, answers = read_dataset(store, subject.repo), read_answers(store, subject)
    clone = images.source(store, subject.repo)
    check(instances, answers, clone, sandbox, trust_local)
    folder = store.evaluation(subject.repo, subject.agent, subject.model)
    lock = store.lock("evaluate", subject.repo, subject.agent, subject.model)
    with lock, log_file(folder / "evaluate.log"), Progress("evaluating", len(instances)) as progress:
        sandbox.images.serve(Directory.here(store.root))
        runs = patch_runs(store, subject.repo, How(sandbox, limits, patience), clone)
        how = {"jobs": jobs, "engine": engine, "interrupts": Interrupts(progress.stopping, sandbox.abort)}
        fared = graded(runs, instances, answers, progress, **how)
        verdicts = [
            sign(one, subject.agent, subject.model, answers.run, answers.of(one), fared[one.instance_id])
            for one in instances
        ]
        named = {
            one.instance_id: digest(runs.inputs(one, prediction.model_patch))
            for one in instances
            if (prediction := answers.of(one))
        }
        write_json(folder / "runs.json", named)
        write(store, subject, verdicts)
        return verdicts


def graded(
    runs: PatchRuns, instances: Sequence[Instance], answers: Answers, progress: Progress, **how: Any
) -> dict[str, Graded]:
    """How every patch fares, by instance: what needs no run, what is kept, and what is run now (as `each` is told)."""
    found: dict[str, Graded] = {}
    requests: list[RunPatch] = []

    def end(instance: Instance, result: Graded) -> None:
        found[instance.instance_id] = result
        progress.finish(instance.instance_id, f"{result.outcome} {result.cause}".strip(), result.outcome)

    for one in instances:
        prediction = answers.of(one)
        if known := without_run(prediction, answers.owed.get(one.instance_id, "")):
            end(one, known)
        elif tested := runs.kept(one, prediction.model_patch):
            end(one, of_tested(one, tested))
        else:
            requests.append(runs.request(one, prediction.model_patch))
    for request, tested in each(requests, hear=progress.hear, **how):
        runs.keep(request.instance, request.patch, tested)
        end(request.instance, of_tested(request.instance, tested))
    return found


def write(store: Store, subject: Subject, verdicts: Sequence[Verdict]) -> None:
    """Write what came of a run."""
    folder = store.evaluation(subject.repo, subject.agent, subject.model)
    store.replace_records(folder / "verdicts.jsonl", verdicts)
    write_json(folder / "final_report.json", final_report(verdicts))


def check(
    instances: Sequence[Instance], answers: Answers, clone: git.Repo, sandbox: Sandbox, trust_local: bool
) -> None:
    """What would fail for every patch fails before the first. Raises UserError."""
    foreign = sorted(answers.predictions.keys() - {one.instance_id for one in instances})
    if foreign:
        hint = "predict again after a dataset has changed, or remove the line"
        message = f"{foreign[0]} is not in the dataset"
        raise UserError(message, path=answers.path, field="instance_id", hint=hint)
    for one in instances:
        require_commit(clone, one.base.sha)
    run = {one.instance_id: one for one in answers.predictions.values() if one.model_patch.strip()}
    bases = [one.base.sha for one in instances if one.instance_id in run]
    require_trust(sandbox.name, trust_local, *bases, trusted_patch=all(one.trusted for one in run.values()))
