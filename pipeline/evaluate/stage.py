"""Evaluating the newest (or a named) run of an agent and model: every instance of the dataset gets a verdict.

Runs are kept by what decides them (image, patch, command, parser, files, limits): two models with the same patch cost
one run, and a changed patch never shows an old verdict.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import git

from pipeline.core import images, runs
from pipeline.core.console import Progress, log_file
from pipeline.core.engine import each
from pipeline.core.errors import InfrastructureError, UserError, unknown
from pipeline.core.git import require_commit
from pipeline.core.names import Repo
from pipeline.core.patches import is_protected, select
from pipeline.core.records import Instance, Outcome, Prediction, Status, Verdict
from pipeline.core.runs import Plan, Run
from pipeline.core.sandbox.base import DEFAULT, Limits, Sandbox
from pipeline.core.store import Store, Unit, digest, read_records, write_bytes, write_json
from pipeline.core.trust import require_trust
from pipeline.evaluate.final_report import final_report
from pipeline.evaluate.grade import Graded, of_run, sign, without_run

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Subject:
    """Whose patches are evaluated: one run of one agent and model on one repository."""

    repo: Repo
    agent: str
    model: str
    run: str = ""


def evaluate(
    store: Store,
    subject: Subject,
    sandbox: Sandbox,
    *,
    limits: Limits = DEFAULT,
    trust_local: bool = False,
    jobs: int = 2,
) -> list[Verdict]:
    """Give every instance of the dataset a verdict and write them. Raises UserError before any work on bad input."""
    instances = read_records(store.dataset(subject.repo), Instance)
    if not instances:
        there = ", ".join(str(one) for one in store.repositories("02_dataset")) or "none"
        raise UserError(
            f"{subject.repo} has no dataset", hint=f"built are: {there}; run: just build-run {subject.repo}"
        )
    name, predictions = _predictions(store, subject)
    for one in instances:
        patch = predictions.get(one.instance_id)
        if patch and patch.model_patch.strip():
            require_trust(sandbox.name, trust_local, one.base.sha, trusted_patch=patch.trusted)
    clone = images.source(store, subject.repo)
    for one in instances:
        require_commit(clone, one.base.sha)
    log_path = store.evaluation(subject.repo, subject.agent, subject.model) / "evaluate.log"
    lock = store.lock("evaluate", subject.repo, f"{subject.agent}-{subject.model}")
    with lock, log_file(log_path), Progress("evaluating", len(instances)) as progress:
        bench = _Bench(store, subject.repo, sandbox, limits, clone, progress)
        work = _grader(bench, subject, name, predictions)
        verdicts = {one.instance_id: one for one in each(instances, work, jobs=jobs)}
        return _save(store, subject, [verdicts[one.instance_id] for one in instances])


def _predictions(store: Store, subject: Subject) -> tuple[str, dict[str, Prediction]]:
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    there = sorted(path.parent.name for path in folder.glob("*/predictions.jsonl"))
    if not there:
        have = ", ".join(store.predicted(subject.repo)) or "none"
        hint = f"there is: {have}; or run: just agt-run {subject.repo} {subject.model} --agent {subject.agent}"
        raise UserError(f"no predictions of {subject.agent} with {subject.model}", path=folder, hint=hint)
    name = subject.run or there[-1]
    if name not in there:
        raise unknown("run", name, there)
    path = folder / name / "predictions.jsonl"
    predictions = read_records(path, Prediction)
    by_id = {one.instance_id: one for one in predictions}
    if len(by_id) != len(predictions):
        raise UserError(
            "an instance has two predictions", path=path, field="instance_id", hint="keep one line for each"
        )
    return name, by_id


def _grader(
    bench: _Bench, subject: Subject, name: str, predictions: dict[str, Prediction]
) -> Callable[[Instance], Verdict]:
    def grade(instance: Instance) -> Verdict:
        prediction = predictions.get(instance.instance_id)
        graded = without_run(prediction) or bench.grade(instance, prediction.model_patch)
        bench.progress.finish(instance.instance_id, f"{graded.outcome} {graded.cause}".strip())
        return sign(instance, subject.agent, subject.model, name, prediction, graded)

    return grade


class _Bench:
    """Runs patches, or takes runs that are there. The instance border: what breaks is recorded as data."""

    def __init__(
        self, store: Store, repo: Repo, sandbox: Sandbox, limits: Limits, clone: git.Repo, progress: Progress
    ) -> None:
        self.store, self.repo, self.sandbox, self.limits = store, repo, sandbox, limits
        self.clone, self.progress = clone, progress

    def grade(self, instance: Instance, patch: str) -> Graded:
        try:
            return of_run(instance, self._run(instance, patch))
        except runs.PatchFailed as error:
            if error.name != "candidate":
                return Graded(Outcome.NOT_EVALUATED, str(error))
            return Graded(Outcome.NOT_APPLIED, str(error))
        except Exception as error:  # the instance border
            log.exception("%s", instance.instance_id)
            cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
            return Graded(Outcome.NOT_EVALUATED, f"{cause}: {error}")

    def _run(self, instance: Instance, patch: str) -> Run:
        """The run of a patch, from the store where it is there."""
        inputs = self._inputs(instance, patch)
        unit = Unit(self.store.root / "04_evaluation" / "runs" / self.repo.slug / digest(inputs))
        if not unit.is_done(**inputs):
            run = self._fresh(instance, patch)
            if run.end == "out_of_memory":
                raise InfrastructureError("the tests ran out of memory", cause="out_of_memory")
            write_bytes(unit.folder / "tests.log.gz", gzip.compress(run.log, mtime=0))
            unit.finish({key: value for key, value in asdict(run).items() if key not in ("log", "seconds")}, **inputs)
        return _load(unit.result())

    def _inputs(self, instance: Instance, patch: str) -> dict[str, str]:
        how = [
            instance.environment.test,
            instance.environment.parser,
            instance.files,
            vars(self.limits),
            self.sandbox.name,
        ]
        gold = digest(instance.test_patch, select(instance.fix_patch, is_protected))
        return {"image": instance.image, "patch": digest(patch), "gold": gold, "how": digest(how)}

    def _fresh(self, instance: Instance, patch: str) -> Run:
        say = lambda text: self.progress.step(instance.instance_id, text)  # noqa: E731
        made = images.recipe(self.clone, instance.environment, instance.base.sha, instance.manifests)
        if made.image != instance.image:
            raise UserError(
                "the clone gives another image than the dataset names", field="image", hint="build it again"
            )
        images.ensure(self.sandbox, self.clone, made, say)
        say("running the tests")
        plan = Plan(self.sandbox, instance.image, instance.environment, instance.files, self.limits)
        return runs.run_candidate(plan, patch, instance.fix_patch, instance.test_patch)


def _load(result: dict[str, Any]) -> Run:
    return Run(
        end=result["end"],
        results={name: Status(status) for name, status in result["results"].items()},
        suites={name: Status(status) for name, status in result["suites"].items()},
        by_snapshot=frozenset(result["by_snapshot"]),
        faults=tuple(result["faults"]),
        restored=tuple(result["restored"]),
    )


def _save(store: Store, subject: Subject, verdicts: list[Verdict]) -> list[Verdict]:
    folder = store.evaluation(subject.repo, subject.agent, subject.model)
    store.replace_records(folder / "verdicts.jsonl", verdicts)
    write_json(folder / "final_report.json", final_report(verdicts))
    return verdicts
