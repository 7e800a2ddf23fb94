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
    """Where and within which limits patches are run, and how often what the machine fails at is tried."""

    sandbox: Sandbox
    limits: Limits
    patience: Patience


@dataclass(frozen=True)
class PatchRuns:
    """Where a repository's patches are run and their runs are kept: plain data, which requests may carry.

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
        own = limits.of_instance(instance, self.limits)
        return RunPatch(instance, patch, self.clone, self.sandbox, own, self.patience, self._flips(instance))

    def inputs(self, instance: Instance, patch: str) -> dict[str, str]:
        """The digests of all that decides how a patch fares."""
        return kept.inputs(instance, patch, self.sandbox.name, limits.of_instance(instance, self.limits))

    def unit(self, kind: str, inputs: dict[str, str]) -> Unit:
        """Where the result of a patch is kept, by what decides it; `kind` is a folder of `04_evaluation`."""
        return kept.place(Path(self.data), self.repo, digest(inputs), kind)

    def kept(self, instance: Instance, patch: str) -> PatchRun | None:
        """What is kept of a patch, None where it has to be run: also where it passes as it is read now, and was not put
        to the counter-runs that this takes, or to the repeats."""
        inputs = self.inputs(instance, patch)
        unit = self.unit("runs", inputs)
        tested = kept.load(unit, instance.environment.parser) if unit.is_done(**inputs) else None
        return None if tested and lacking(instance, tested) else tested

    def keep(self, instance: Instance, patch: str, tested: PatchRun) -> None:
        """Keep what came of a patch. What is kept and lacks a run is archived."""
        inputs = self.inputs(instance, patch)
        unit = self.unit("runs", inputs)
        if unit.is_done(**inputs) and self.kept(instance, patch) is None:
            Store(Path(self.data)).archive(unit.folder)
            unit.path.unlink(missing_ok=True)
        kept.save(unit, tested, inputs)
        if tested.flips is not None:
            self._of_gold(instance).keep({}, {"flips": tested.flips}, **self._gold(instance))

    def _flips(self, instance: Instance) -> dict[str, dict[str, int]] | None:
        """What gold does in its repeats, None where nobody has asked it."""
        unit = self._of_gold(instance)
        return unit.result()["flips"] if unit.is_done(**self._gold(instance)) else None

    def _gold(self, instance: Instance) -> dict[str, str]:
        return self.inputs(instance, instance.fix_patch)

    def _of_gold(self, instance: Instance) -> Unit:
        return self.unit("flips", self._gold(instance))


def patch_runs(store: Store, repo: Repo, how: How, clone: Clone) -> PatchRuns:
    """The runs of patches in a sandbox that is open, on an open clone."""
    return PatchRuns(str(store.root), repo, str(clone.place), handle(how.sandbox), how.limits, how.patience)
