"""`dataset check --stress N`: run gold's tests of each instance repeatedly, alone and under load.

Reads the dataset and the clone; stores nothing. A run flips if a test that must pass does not, or if the run ends
abnormally. Quarantined tests and tests that evaluation does not expect to pass are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.core.dataset import read_dataset
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Outcome
from pipeline.core.retry import patiently
from pipeline.core.store import Store
from pipeline.core.trust import require_trust
from pipeline.core.work import Event, Interrupts, Tell, each
from pipeline.dataset.examine import RunOptions
from pipeline.evaluate.grade import so_far
from pipeline.evaluate.request import RunPatch
from pipeline.evaluate.runs import How, PatchRuns, patch_runs
from pipeline.execution.images import source
from pipeline.execution.run import PatchRun
from pipeline.execution.runs import run_patch
from pipeline.sandbox.base import DEFAULT
from pipeline.sandbox.images import Directory
from pipeline.sandbox.watch import Watch

#: numbers of concurrent jobs
LEVELS = (1, 8)


class Stress(NamedTuple):
    """An instance at a level of concurrent jobs: the runs that flipped, the runs that the machine failed, and how
    often each test (or abnormal end) was to blame."""

    instance: str
    jobs: int
    repeats: int
    flips: int
    not_evaluated: int
    blame: dict[str, int]


@dataclass(frozen=True)
class Repeat:
    """The request: one run of gold's tests, without counter-runs or repeats."""

    patch: RunPatch
    number: int

    @property
    def name(self) -> str:
        return f"{self.patch.name} repeat {self.number}"

    @property
    def affinity(self) -> str:
        return self.patch.affinity

    def perform(self, tell: Tell) -> PatchRun:
        patch = self.patch
        return patiently(lambda: self._run(tell), lambda text: tell(Event(patch.name, text)), patch.patience)

    def _run(self, tell: Tell) -> PatchRun:
        plan, ran = self.patch.plan(tell)
        gold, instance = self.patch.instance.fix_patch, self.patch.instance
        return PatchRun(run_patch(plan, gold, gold, instance.test_patch, instance.expected_files), ran=ran)

    def failed(self, error: Exception) -> PatchRun:
        return self.patch.failed(error)


def stress(store: Store, repo: Repo, repeats: int, options: RunOptions, levels: Sequence[int] = LEVELS) -> list[Stress]:
    """Run each instance of a dataset `repeats` times at each level. Raises UserError for a missing dataset."""
    instances = read_dataset(store, repo)
    require_trust(
        options.sandbox.name, options.trust_local, *(instance.base.sha for instance in instances), trusted_patch=True
    )
    options.sandbox.images.serve(Directory.here(store.root))
    runs = patch_runs(store, repo, How(options.sandbox, DEFAULT, options.patience), source(store, repo))
    return [result for jobs in levels for result in _at_level(runs, instances, repeats, jobs, options)]


def _at_level(
    runs: PatchRuns, instances: Sequence[Instance], repeats: int, jobs: int, options: RunOptions
) -> list[Stress]:
    """The results of each instance at this level, with repeats of all instances running side by side."""
    patches = [runs.request(instance, instance.fix_patch) for instance in instances]
    requests = [Repeat(patch, number) for number in range(1, repeats + 1) for patch in patches]
    results: dict[str, list[PatchRun]] = {instance.instance_id: [] for instance in instances}
    with Progress(f"gold at {jobs} jobs", len(requests)) as progress:
        interrupts = Interrupts(progress.stopping, options.sandbox.abort)
        watch = Watch(options.sandbox)
        for request, tested in each(requests, jobs=jobs, hear=progress.hear, admit=watch.admit, interrupts=interrupts):
            watch.heed(tested.fault)
            results[request.patch.name].append(tested)
            outcome = so_far(request.patch.instance, tested).outcome
            progress.finish(request.name, outcome, outcome)
    return [counted(instance, jobs, results[instance.instance_id]) for instance in instances]


def counted(instance: Instance, jobs: int, runs: Sequence[PatchRun]) -> Stress:
    """The flips of an instance at a level."""
    blame: dict[str, int] = {}
    graded = [so_far(instance, run) for run in runs]
    flipped = [grade for grade in graded if grade.outcome not in (Outcome.RESOLVED, Outcome.NOT_EVALUATED)]
    for grade in flipped:
        names = grade.fields.get("unfixed", {}) | grade.fields.get("broken", {})
        for name in names or (f"{grade.outcome} {grade.cause}",):
            blame[name] = blame.get(name, 0) + 1
    failed = sum(grade.outcome is Outcome.NOT_EVALUATED for grade in graded)
    return Stress(instance.instance_id, jobs, len(runs), len(flipped), failed, blame)
