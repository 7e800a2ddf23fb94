"""Running patches, or taking the runs that are there (`kept`)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import git

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Outcome
from pipeline.core.retry import Patience, patiently
from pipeline.core.store import Store, Unit, digest
from pipeline.evaluate import kept
from pipeline.evaluate.grade import Graded, of_work
from pipeline.execution import images, runs
from pipeline.execution.applying import PatchFailed
from pipeline.execution.runs import Plan, Run
from pipeline.sandbox.base import Limits, Sandbox

R = TypeVar("R")
log = logging.getLogger(__name__)


class How(NamedTuple):
    """Where and within which limits patches are run, and how often what the machine fails at is tried."""

    sandbox: Sandbox
    limits: Limits
    patience: Patience


class Bench:
    """Where a repository's patches are run. The instance border: what breaks is recorded as data."""

    def __init__(self, store: Store, repo: Repo, how: How, clone: git.Repo, progress: Progress) -> None:
        self.store, self.repo, self.clone, self.progress = store, repo, clone, progress
        self.sandbox, self.limits, self.patience = how

    def grade(self, instance: Instance, patch: str) -> Graded:
        """How a patch that is not empty fares."""
        try:
            return of_work(instance, lambda: self.run(instance, patch))
        except Exception as error:  # the instance border
            log.exception("%s", instance.instance_id)
            cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
            return Graded(Outcome.NOT_EVALUATED, f"{cause}: {error}")

    def run(self, instance: Instance, patch: str) -> Run:
        """The run of a patch, from the store where it is there. What ran out of memory is not kept. Raises PatchFailed
        and what breaks."""
        inputs = self.inputs(instance, patch)
        unit = self.unit("runs", inputs)
        if unit.is_done(**inputs):
            return kept.load(unit, instance.environment.parser)
        try:
            run = self.patiently(
                instance,
                "running the tests",
                lambda plan: runs.run_candidate(
                    plan, patch, instance.fix_patch, instance.test_patch, instance.expected_files
                ),
            )
        except PatchFailed as error:
            kept.save_failure(unit, error, inputs)
            raise
        if run.end != "out_of_memory":
            kept.save(unit, run, inputs)
        return run

    def unit(self, kind: str, inputs: dict[str, str]) -> Unit:
        """Where the result of a patch is kept, by what decides it; `kind` is a folder of `04_evaluation`."""
        return kept.place(self.store, self.repo, digest(inputs), kind)

    def inputs(self, instance: Instance, patch: str) -> dict[str, str]:
        """The digests of all that decides how a patch fares."""
        environment = instance.environment.model_dump(mode="json", exclude={"evidence"})
        how = [environment, instance.selected, vars(self.limits), self.sandbox.name, runs.VERSION, kept.VERSION]
        return kept.what(instance, patch) | {"how": digest(how)}

    def patiently(self, instance: Instance, what: str, work: Callable[[Plan], R]) -> R:
        """Do `work` on the instance's image; what the machine fails at is tried again. Raises what `work` does."""
        say = partial(self._say, instance)

        def once() -> R:
            plan = self._plan(instance)
            say(what)
            return work(plan)

        return patiently(once, say, self.patience)

    def _plan(self, instance: Instance) -> Plan:
        """What is run, its image made if it is gone. Raises UserError, InstallFailed, InfrastructureError."""
        say = partial(self._say, instance)
        made = images.recipe(self.clone, instance.environment, instance.base.sha, instance.manifests)
        if made.image != instance.image:
            hint = f"run: just build-run {self.repo} --pr {instance.number}"
            raise UserError("the clone gives another image than the dataset names", field="image", hint=hint)
        images.ensure(self.sandbox, self.clone, made, say)
        return Plan(self.sandbox, instance.image, instance.environment, instance.selected, self.limits)

    def _say(self, instance: Instance, text: str) -> None:
        self.progress.step(instance.instance_id, text)
