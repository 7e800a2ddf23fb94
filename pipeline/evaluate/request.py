"""Running one patch as a unit of work: the instance's tests on it, in the instance's image, and if all of them pass,
the counter-runs.

Reads the clone and works in a sandbox; writes nothing. The result is data in every case: a run, the patch that does not
apply, or a failure of the machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.git import opened_clone
from pipeline.core.records import Identity, Instance
from pipeline.core.retry import PATIENT, Patience, patiently
from pipeline.core.work import Event, Tell
from pipeline.evaluate import blame, repeats
from pipeline.evaluate.grade import BUILDS, build_for, due, graded_runs, hangs_on_gold
from pipeline.execution import counter, images, runs
from pipeline.execution.applying import PatchFailed
from pipeline.execution.run import PatchRun, TestRun
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Limits
from pipeline.sandbox.handle import Handle


@dataclass(frozen=True)
class RunPatch:
    """The request: an instance, a patch that is not empty, the clone for its objects, and where and how it runs.

    `flips` is what gold does in its repeats (repeats.flips), None if gold was not repeated yet.
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
        """The run; one that ended as `lost` if it failed and the machine is not to blame. Raises PatchFailed,
        InfrastructureError."""
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
        """The run of the patch, its repeats if it may be a flake, and the counter-runs."""
        tell(Event(self.name, "running the tests"))
        instance = self.instance
        gold = (instance.fix_patch, instance.test_patch)
        arguments = (plan, self.patch, *gold, instance.expected_files)
        tested = PatchRun(runs.run_patch(*arguments), flips=self.flips, ran=ran)
        while repeats.due(*graded_runs(instance, tested)):
            tell(Event(self.name, "running the tests again: it may be a flake"))
            tested = replace(tested, repeats=(*tested.repeats, runs.run_patch(*arguments)))
        if tested.flips is None and repeats.doubtful(*graded_runs(instance, tested)):
            tested = replace(tested, flips=self._flips(plan, tell))
        tested = self._countered(tested, arguments, tell)
        if hangs_on_gold(instance, tested):
            tested = replace(tested, flips=self._flips(plan, tell))
            tested = self._countered(tested, arguments, tell)
        return tested

    def _countered(self, tested: PatchRun, arguments: tuple[Any, ...], tell: Tell) -> PatchRun:
        """The result with all counter-runs that are due; `arguments` are those of the patch's run."""
        while kind := due(self.instance, tested):
            tell(Event(self.name, f"counter-run: {kind}"))
            counter_kind = counter.kind_of(kind)
            run = self._counter_run(counter_kind, arguments, build_for(tested, counter_kind))
            run = replace(run, shared=counter.shared(self.patch, self.instance.counter_runs.patch(counter_kind)))
            tested = replace(tested, counter={**tested.counter, kind: run})
        return tested

    def _counter_run(self, kind: counter.Kind, arguments: tuple[Any, ...], build: str) -> TestRun:
        """A counter-run in the form in which gold had it."""
        counter_runs = self.instance.counter_runs
        is_disguised = kind == "disguised" or counter_runs.hidden
        form = counter.form_of(counter_runs) if is_disguised else None
        words = (kind, *arguments, counter_runs.patch(kind))
        return counter.run(*words, form=form, build=build)

    def _flips(self, plan: Plan, tell: Tell) -> dict[str, dict[str, int]]:
        """The tests that are flaky with gold, and those that gold does not always pass in disguise."""
        return repeats.flips(self._of_gold(plan, tell), self._of_disguised_gold(plan, tell))

    def _of_gold(self, plan: Plan, tell: Tell) -> list[TestRun]:
        """Repeated runs of the gold patch, evaluated like any other."""
        gold_runs, instance = [], self.instance
        for number in range(1, repeats.OF_GOLD + 1):
            tell(Event(self.name, f"looking for tests that are flaky with gold: run {number} of {repeats.OF_GOLD}"))
            gold = (instance.fix_patch, instance.test_patch)
            gold_runs.append(runs.run_patch(plan, instance.fix_patch, *gold, instance.expected_files))
        return gold_runs

    def _of_disguised_gold(self, plan: Plan, tell: Tell) -> list[TestRun]:
        """The same in disguise, if patches are disguised, with sources in each build in turn."""
        instance = self.instance
        if "disguised" not in instance.counter_runs.complete:
            return []
        arguments = (plan, instance.fix_patch, instance.fix_patch, instance.test_patch, instance.expected_files)
        gold_runs: list[TestRun] = []
        for number in range(repeats.OF_DISGUISED):
            tell(Event(self.name, f"gold disguised: run {number + 1} of {repeats.OF_DISGUISED}"))
            gold_runs.append(self._counter_run("disguised", arguments, BUILDS[number % len(BUILDS)]))
        return gold_runs

    def plan(self, tell: Tell) -> tuple[Plan, Identity]:
        """The plan of a run and the identity of its image, which is made if it is missing. Raises UserError,
        InstallFailed, InfrastructureError."""
        instance, sandbox, clone = self.instance, self.sandbox.sandbox(), opened_clone(self.clone)
        recipe = images.recipe(clone, instance.environment, instance.base.sha, instance.manifests)
        if recipe.image != instance.image:
            hint = f"run: just build-run {instance.repository} --pr {instance.number}"
            message = "this clone and program would make another image than the one that the instance qualified with"
            raise UserError(message, field="image", hint=hint)
        image = images.ensure(sandbox, clone, recipe, lambda text: tell(Event(self.name, text)))
        tell(Event(self.name, kind="ready"))
        ran = image.ran.within(vars(self.limits))
        settings = (instance.environment, instance.selected, self.limits, instance.protected)
        return Plan(sandbox, instance.image, *settings), ran

    def failed(self, error: Exception) -> PatchRun:
        return PatchRun(fault=fault(error))


def fault(error: Exception) -> str:
    """A failure of the machine or of this program, in the form that records use."""
    cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
    return f"{cause}: {error}"
