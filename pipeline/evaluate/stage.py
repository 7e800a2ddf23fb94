"""Evaluating one run of an agent and model: every instance of the dataset gets a verdict."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from pipeline.core.console import log_file
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, require_commit
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Outcome, Verdict
from pipeline.core.retry import PATIENT, Patience
from pipeline.core.store import Store, digest, write_json
from pipeline.core.subset import ALL, Subset
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

#: the cause of a verdict that is not given yet, since the patch was not chosen to be run
NOT_CHOSEN = "not_chosen"


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
    subset: Subset = ALL,
) -> list[Verdict]:
    """Give every instance that the run is about a verdict and write them; only patches of the `subset` are run, others
    are judged by what is kept. Raises UserError before any work on bad input."""
    dataset, answers = read_dataset(store, subject.repo), read_answers(store, subject)
    wanted, instances = {one.instance_id for one in subset.of(dataset)}, answers.among(dataset)
    clone = images.source(store, subject.repo)
    check(instances, answers, clone, sandbox, trust_local)
    folder = subject.folder(store)
    lock = store.lock("evaluate", subject.repo, subject.agent, subject.model)
    with lock, log_file(folder / "evaluate.log"), Progress("evaluating", len(instances)) as progress:
        sandbox.images.serve(Directory.here(store.root))
        runs = patch_runs(store, subject.repo, How(sandbox, limits, patience), clone)
        how = {"jobs": jobs, "engine": engine, "interrupts": Interrupts(progress.stopping, sandbox.abort)}
        fared = graded(runs, instances, answers, progress, wanted, **how)
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
    runs: PatchRuns,
    instances: Sequence[Instance],
    answers: Answers,
    progress: Progress,
    wanted: Container[str],
    **how: Any,
) -> dict[str, Graded]:
    """How every patch fares, by instance: what needs no run, what is kept, and what is run now (as `each` is told)."""
    found: dict[str, Graded] = {}
    requests: list[RunPatch] = []

    def end(instance: Instance, result: Graded) -> None:
        found[instance.instance_id] = result
        progress.finish(instance.instance_id, f"{result.outcome} {result.cause}".strip(), result.outcome)

    for one in instances:
        prediction = answers.of(one)
        patch = prediction.model_patch if prediction else ""
        if known := without_run(prediction, answers.owed.get(one.instance_id, "")):
            end(one, known)
        elif tested := runs.kept(one, patch):
            end(one, of_tested(one, tested))
        elif one.instance_id not in wanted:
            end(one, Graded(Outcome.NOT_EVALUATED, NOT_CHOSEN))
        else:
            requests.append(runs.request(one, patch))
    for request, tested in each(requests, hear=progress.hear, **how):
        runs.keep(request.instance, request.patch, tested)
        end(request.instance, of_tested(request.instance, tested))
    return found


def write(store: Store, subject: Subject, verdicts: Sequence[Verdict]) -> None:
    """Write what came of a run."""
    folder = subject.folder(store)
    store.replace_records(folder / "verdicts.jsonl", verdicts)
    write_json(folder / "final_report.json", final_report(verdicts))


def check(instances: Sequence[Instance], answers: Answers, clone: Clone, sandbox: Sandbox, trust_local: bool) -> None:
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
