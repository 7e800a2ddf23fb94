"""The runs of a repository's patches: those that are kept, and requests for the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import git

from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Instance
from pipeline.core.retry import Patience, patiently
from pipeline.core.store import Store, Unit, digest
from pipeline.core.work import Event
from pipeline.evaluate import kept
from pipeline.evaluate.request import RunPatch
from pipeline.execution.applying import PatchFailed
from pipeline.execution.run import PatchRun, Run
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Limits, Sandbox
from pipeline.sandbox.handle import handle

R = TypeVar("R")


class How(NamedTuple):
    """Where and within which limits patches are run, and how often what the machine fails at is tried."""

    sandbox: Sandbox
    limits: Limits
    patience: Patience


class Bench:
    """Where a repository's patches are run."""

    def __init__(self, store: Store, repo: Repo, how: How, clone: git.Repo, progress: Progress) -> None:
        self.store, self.repo, self.clone, self.progress = store, repo, clone, progress
        self.sandbox, self.limits, self.patience = how
        self.handle = handle(how.sandbox)

    def request(self, instance: Instance, patch: str) -> RunPatch:
        """The request for a run."""
        return RunPatch(instance, patch, str(self.clone.git_dir), self.handle, self.limits, self.patience)

    def inputs(self, instance: Instance, patch: str) -> dict[str, str]:
        """The digests of all that decides how a patch fares."""
        return kept.inputs(instance, patch, self.sandbox.name, self.limits)

    def unit(self, kind: str, inputs: dict[str, str]) -> Unit:
        """Where the result of a patch is kept, by what decides it; `kind` is a folder of `04_evaluation`."""
        return kept.place(self.store, self.repo, digest(inputs), kind)

    def kept(self, instance: Instance, patch: str) -> PatchRun | None:
        """What is kept of a patch, None where it has to be run."""
        inputs = self.inputs(instance, patch)
        unit = self.unit("runs", inputs)
        return kept.load(unit, instance.environment.parser) if unit.is_done(**inputs) else None

    def keep(self, instance: Instance, patch: str, tested: PatchRun) -> None:
        """Keep what came of a patch."""
        inputs = self.inputs(instance, patch)
        kept.save(self.unit("runs", inputs), tested, inputs)

    def run(self, instance: Instance, patch: str) -> Run:
        """The run of a patch, from the store where it is there. Raises PatchFailed and what breaks."""
        tested = self.kept(instance, patch)
        if tested is None:
            tested = self.request(instance, patch).perform(self.hear)
            self.keep(instance, patch, tested)
        if tested.unapplied:
            raise PatchFailed(*tested.unapplied)
        return tested.run

    def patiently(self, instance: Instance, what: str, work: Callable[[Plan], R]) -> R:
        """Do `work` on the instance's image; what the machine fails at is tried again. Raises what `work` does."""
        say = partial(self.progress.step, instance.instance_id)

        def once() -> R:
            plan, _ = self.request(instance, "").plan(self.hear)
            say(what)
            return work(plan)

        return patiently(once, say, self.patience)

    def hear(self, event: Event) -> None:
        """Show what a unit tells."""
        if event.text:
            self.progress.step(event.unit, event.text)
