"""The runs of a repository's patches: stored ones, and requests for the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pipeline.core.git import Clone
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.retry import Patience
from pipeline.core.store import Store, Unit, digest
from pipeline.evaluate import kept, limits
from pipeline.evaluate.grade import lacking
from pipeline.evaluate.request import RunPatch
from pipeline.execution.run import PatchRun
from pipeline.sandbox.base import Limits, Sandbox
from pipeline.sandbox.handle import Handle, handle


class How(NamedTuple):
    """Where and within which limits patches are run, and how often a failure of the machine is retried."""

    sandbox: Sandbox
    limits: Limits
    patience: Patience


@dataclass(frozen=True)
class PatchRuns:
    """Where a repository's patches are run and their runs are kept: plain data, which requests can carry.

    `data` is the data directory. Only the coordinator calls `keep`.
    """

    data: str
    repo: Repo
    clone: str
    sandbox: Handle
    limits: Limits
    patience: Patience

    def request(self, instance: Instance, patch: str) -> RunPatch:
        """The request for a run."""
        instance_limits = limits.of_instance(instance, self.limits)
        return RunPatch(
            instance, patch, self.clone, self.sandbox, instance_limits, self.patience, self._flips(instance)
        )

    def inputs(self, instance: Instance, patch: str) -> dict[str, str]:
        """The digests of everything that decides a patch's grade."""
        return kept.inputs(instance, patch, self.sandbox.name, limits.of_instance(instance, self.limits))

    def unit(self, kind: str, inputs: dict[str, str]) -> Unit:
        """The unit that keeps the result of a patch, named by its inputs; `kind` is a folder of `04_evaluation`."""
        return kept.unit_of(Path(self.data), self.repo, digest(inputs), kind)

    def kept(self, instance: Instance, patch: str) -> PatchRun | None:
        """The kept run of a patch, None if it must be run. This includes a run that passes when it is read again but
        lacks the counter-runs or repeats that a passing patch needs."""
        inputs = self.inputs(instance, patch)
        unit = self.unit("runs", inputs)
        tested = kept.load(unit, instance.environment.parser) if unit.is_done(**inputs) else None
        return None if tested and lacking(instance, tested) else tested

    def keep(self, instance: Instance, patch: str, tested: PatchRun) -> None:
        """Keep the result of a patch. An earlier result that lacks a run is archived."""
        inputs = self.inputs(instance, patch)
        unit = self.unit("runs", inputs)
        if unit.is_done(**inputs) and self.kept(instance, patch) is None:
            Store(Path(self.data)).archive(unit.folder)
            unit.path.unlink(missing_ok=True)
        kept.save(unit, tested, inputs)
        if tested.flips is not None:
            self._of_gold(instance).keep({}, {"flips": tested.flips}, **self._gold(instance))

    def _flips(self, instance: Instance) -> dict[str, dict[str, int]] | None:
        """What gold does in its repeats, None if it was not repeated yet."""
        unit = self._of_gold(instance)
        return unit.result()["flips"] if unit.is_done(**self._gold(instance)) else None

    def _gold(self, instance: Instance) -> dict[str, str]:
        return self.inputs(instance, instance.fix_patch)

    def _of_gold(self, instance: Instance) -> Unit:
        return self.unit("flips", self._gold(instance))


def patch_runs(store: Store, repo: Repo, how: How, clone: Clone) -> PatchRuns:
    """The runs of patches in an open sandbox, on an open clone."""
    return PatchRuns(str(store.root), repo, str(clone.place), handle(how.sandbox), how.limits, how.patience)
