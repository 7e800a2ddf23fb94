"""Running one patch as a unit of work: the tests of an instance on it, in the instance's image, and where all of them
pass the counter-runs.

Reads the clone and works in a sandbox; writes nothing. The result is data in every case: a run, the patch that does not
apply, or what the machine failed at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.git import opened_clone
from pipeline.core.records import Identity, Instance
from pipeline.core.retry import PATIENT, Patience, patiently
from pipeline.core.work import Event, Tell
from pipeline.evaluate import blame, repeats
from pipeline.evaluate.grade import due, graded_runs
from pipeline.execution import counter, images, runs
from pipeline.execution.applying import PatchFailed
from pipeline.execution.run import PatchRun, TestRun
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Limits
from pipeline.sandbox.handle import Handle


@dataclass(frozen=True)
class RunPatch:
    """The request: a patch that is not empty on an instance, where its objects come from, where and how it runs.

    `flips` is what gold does in its repeats (repeats.flips), None where nobody has asked it yet.
    """

    instance: Instance
    patch: str
    clone: str
    sandbox: Handle
    limits: Limits
    patience: Patience = PATIENT
    flips: dict[str, dict[str, int]] | None = None

    @property
    def name(self) -> str:
        return self.instance.instance_id

    @property
    def affinity(self) -> str:
        return self.instance.environment_digest

    def perform(self, tell: Tell) -> PatchRun:
        try:
            return self._tested(tell)
        except PatchFailed as error:
            return PatchRun(unapplied=(error.name, error.why))

    def _tested(self, tell: Tell) -> PatchRun:
        """The run, or that it was lost, where the machine is not to blame. Raises PatchFailed, InfrastructureError."""
        try:
            return patiently(
                lambda: self._run(*self.plan(tell), tell), lambda text: tell(Event(self.name, text)), self.patience
            )
        except InfrastructureError as failed:
            error = failed
        plan, ran = self.plan(tell)
        tested = blame.settled(error, lambda: self._run(plan, ran, tell), lambda: blame.serves(plan))
        return tested or PatchRun(TestRun("lost", log=f"{error}\n".encode()), ran=ran)

    def _run(self, plan: Plan, ran: Identity, tell: Tell) -> PatchRun:
        """The run of the patch, again where it may be a flake, and the counter-runs."""
        tell(Event(self.name, "running the tests"))
        instance = self.instance
        gold = (instance.fix_patch, instance.test_patch)
        words = (plan, self.patch, *gold, instance.expected_files)
        tested = PatchRun(runs.run_patch(*words), flips=self.flips, ran=ran)
        while repeats.due(*graded_runs(instance, tested)):
            tell(Event(self.name, "running the tests again: it may be a flake"))
            tested = replace(tested, repeats=(*tested.repeats, runs.run_patch(*words)))
        if tested.flips is None and repeats.doubtful(*graded_runs(instance, tested)):
            tested = replace(tested, flips=repeats.flips(self._of_gold(plan, tell)))
        while kind := due(instance, tested):
            tell(Event(self.name, f"counter-run: {kind}"))
            told = instance.counter_runs
            own = counter.kind_of(kind)
            run = counter.run(own, *words, told.patch(own), moved=told.moved)
            tested = replace(tested, counter={**tested.counter, kind: run})
        return tested

    def _of_gold(self, plan: Plan, tell: Tell) -> list[TestRun]:
        """Gold's runs, as its patch is evaluated."""
        done, instance = [], self.instance
        for number in range(1, repeats.OF_GOLD + 1):
            tell(Event(self.name, f"what gold flips: run {number} of {repeats.OF_GOLD}"))
            gold = (instance.fix_patch, instance.test_patch)
            done.append(runs.run_patch(plan, instance.fix_patch, *gold, instance.expected_files))
        return done

    def plan(self, tell: Tell) -> tuple[Plan, Identity]:
        """What is run, its image made if it is gone, and what that is made of. Raises UserError, InstallFailed,
        InfrastructureError."""
        instance, sandbox, clone = self.instance, self.sandbox.sandbox(), opened_clone(self.clone)
        made = images.recipe(clone, instance.environment, instance.base.sha, instance.manifests)
        if made.image != instance.image:
            hint = f"run: just build-run {instance.repository} --pr {instance.number}"
            raise UserError("the clone gives another image than the dataset names", field="image", hint=hint)
        there = images.ensure(sandbox, clone, made, lambda text: tell(Event(self.name, text)))
        tell(Event(self.name, kind="ready"))
        ran = there.ran.within(vars(self.limits))
        how = (instance.environment, instance.selected, self.limits, instance.protected)
        return Plan(sandbox, instance.image, *how), ran

    def failed(self, error: Exception) -> PatchRun:
        return PatchRun(fault=fault(error))


def fault(error: Exception) -> str:
    """How a record names what the machine, or this program, failed at."""
    cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
    return f"{cause}: {error}"
