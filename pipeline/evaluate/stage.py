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
from pipeline.core.work import Interrupts, Settled, each
from pipeline.evaluate.answers import Answers, Subject, read_answers
from pipeline.evaluate.final_report import final_report
from pipeline.evaluate.grade import Graded, of_tested, sign, without_run
from pipeline.evaluate.request import RunPatch
from pipeline.evaluate.runs import How, PatchRuns, patch_runs
from pipeline.execution import images
from pipeline.sandbox.base import DEFAULT, Limits, Sandbox
from pipeline.sandbox.images import Directory
from pipeline.sandbox.watch import Watch

#: the cause of a missing verdict if the patch was not selected to run
NOT_SELECTED = "not_selected"


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
    """Give every instance that the run is about a verdict, and write them. Only patches of the `subset` are run, others
    are judged by kept runs. Raises UserError for bad input, before any work."""
    dataset, answers = read_dataset(store, subject.repo), read_answers(store, subject)
    chosen, instances = {instance.instance_id for instance in subset.of(dataset)}, answers.among(dataset)
    clone = images.source(store, subject.repo)
    check(instances, answers, clone, sandbox, trust_local)
    folder = subject.folder(store)
    lock = store.lock("evaluate", subject.repo, subject.agent, subject.model)
    with lock, log_file(folder / "evaluate.log"), Progress("evaluating", len(instances)) as progress:
        sandbox.images.serve(Directory.here(store.root))
        runs = patch_runs(store, subject.repo, How(sandbox, limits, patience), clone)
        how = {"jobs": jobs, "engine": engine, "interrupts": Interrupts(progress.stopping, sandbox.abort)}
        grades = graded(runs, instances, answers, progress, chosen, **how)
        verdicts = [
            sign(
                instance, subject.agent, subject.model, answers.run, answers.of(instance), grades[instance.instance_id]
            )
            for instance in instances
        ]
        run_names = {
            instance.instance_id: digest(runs.inputs(instance, prediction.model_patch))
            for instance in instances
            if (prediction := answers.of(instance))
        }
        write_json(folder / "runs.json", run_names)
        write(store, subject, verdicts)
        return verdicts


def graded(
    runs: PatchRuns,
    instances: Sequence[Instance],
    answers: Answers,
    progress: Progress,
    chosen: Container[str],
    **how: Any,
) -> dict[str, Graded]:
    """The grade of every patch, by instance: without a run, by a kept run, or by one made now. `how` is passed to
    `each`."""
    grades: dict[str, Graded] = {}
    requests: list[RunPatch] = []

    def end(instance: Instance, result: Graded) -> None:
        grades[instance.instance_id] = result
        progress.finish(instance.instance_id, f"{result.outcome} {result.cause}".strip(), result.outcome)

    for instance in instances:
        prediction = answers.of(instance)
        patch = prediction.model_patch if prediction else ""
        if grade := without_run(prediction, answers.failures.get(instance.instance_id, "")):
            end(instance, grade)
        elif tested := runs.kept(instance, patch):
            end(instance, of_tested(instance, tested))
        elif instance.instance_id not in chosen:
            end(instance, Graded(Outcome.NOT_EVALUATED, NOT_SELECTED))
        else:
            requests.append(runs.request(instance, patch))
    watch = Watch(runs.sandbox.sandbox())

    def admit(request: RunPatch) -> RunPatch | Settled:
        """The request with what is known by now of gold's repeats, which patches of equal instances share."""
        return watch.admit(runs.request(request.instance, request.patch))

    for request, tested in each(requests, hear=progress.hear, admit=admit, **how):
        watch.heed(tested.fault)
        runs.keep(request.instance, request.patch, tested)
        end(request.instance, of_tested(request.instance, tested))
    return grades


def write(store: Store, subject: Subject, verdicts: Sequence[Verdict]) -> None:
    """Write the verdicts and the final report of a run."""
    folder = subject.folder(store)
    store.replace_records(folder / "verdicts.jsonl", verdicts)
    write_json(folder / "final_report.json", final_report(verdicts))


def check(instances: Sequence[Instance], answers: Answers, clone: Clone, sandbox: Sandbox, trust_local: bool) -> None:
    """Check before the first patch what would fail for every patch. Raises UserError."""
    foreign = sorted(answers.predictions.keys() - {instance.instance_id for instance in instances})
    if foreign:
        hint = "predict again after a dataset has changed, or remove the line"
        message = f"{foreign[0]} is not in the dataset"
        raise UserError(message, path=answers.path, field="instance_id", hint=hint)
    for instance in instances:
        require_commit(clone, instance.base.sha)
    run = {name: prediction for name, prediction in answers.predictions.items() if prediction.model_patch.strip()}
    bases = [instance.base.sha for instance in instances if instance.instance_id in run]
    require_trust(
        sandbox.name, trust_local, *bases, trusted_patch=all(prediction.trusted for prediction in run.values())
    )
