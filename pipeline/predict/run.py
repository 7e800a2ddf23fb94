"""One run of an experiment: a folder named by its time, and a digest of everything that shapes it.

The same digest resumes the run that is there; another one moves it to the archive and starts anew.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline.core.cache import cache_root
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.records import Instance
from pipeline.core.store import Store, Unit, digest, now, read_field, write_json
from pipeline.llm.experiment import Experiment

#: fields of an experiment that shape its answers, besides the repository
_SHAPING = ("agent", "model", "settings")


@dataclass(frozen=True)
class Run:
    """A run's folder. `instances` is the dataset that it answers."""

    experiment: Experiment
    folder: Path
    digest: str
    instances: tuple[Instance, ...]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def cache(self) -> Path:
        """What an agent keeps between the tasks of the run: it can be made again, for the same money."""
        return cache_root() / "answers" / digest(self.digest, self.name)

    def unit(self, instance: Instance) -> Unit:
        """The unit of one instance: its folder holds the agent's output."""
        return Unit(self.folder / "instances" / instance.instance_id)

    def clear(self, instance: Instance) -> None:
        """Take away what an earlier try left for an instance that has no answer."""
        shutil.rmtree(self.unit(instance).folder, ignore_errors=True)

    def missing(self) -> list[Instance]:
        """The instances that have no finished answer yet."""
        return [one for one in self.instances if not self.unit(one).is_done(run=self.digest, task=digest(one.task()))]


def experiment_digest(experiment: Experiment, instances: tuple[Instance, ...]) -> str:
    """All that shapes a run. The oracle's answers are the gold patches: when they change, so does its experiment."""
    gold = [digest(one.fix_patch) for one in instances] if experiment.agent == "oracle" else []
    fields = {"repo": experiment.repository} | {name: getattr(experiment, name) for name in _SHAPING}
    return digest(fields, [digest(one.task(), one.base.sha) for one in instances], gold)


def open_run(store: Store, experiment: Experiment, *, fresh: bool = False) -> Run:
    """Resume the run of the same digest, or start one and archive what is there, under the experiment's lock."""
    instances = read_dataset(store, experiment.repository)
    key = experiment_digest(experiment, instances)
    there = newest(store, experiment)
    if there and not fresh and read_field(there / "run.json", "digest") == key:
        return Run(experiment, there, key, instances)
    parent = store.predictions(experiment.repository, experiment.agent, experiment.model)
    folder = parent / datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    described = {"repo": experiment.repo, "agent": experiment.agent, "model": experiment.model}
    write_json(folder / "run.json", {**described, "settings": experiment.settings, "digest": key, "started": now()})
    for old in sorted(parent.glob("*/run.json")):
        if old.parent != folder:
            store.displace(old.parent)
    return Run(experiment, folder, key, instances)


def newest(store: Store, experiment: Experiment) -> Path | None:
    """The folder of the newest run, None when there is none."""
    parent = store.predictions(experiment.repository, experiment.agent, experiment.model)
    runs = sorted(path.parent for path in parent.glob("*/run.json"))
    return runs[-1] if runs else None


def resume(store: Store, experiment: Experiment) -> Run:
    """The newest run, for the single steps. Raises UserError when there is none, or one of another experiment."""
    folder, instances = newest(store, experiment), read_dataset(store, experiment.repository)
    hint = f"run: just agt-preprocess {experiment.repo} {experiment.model}"
    if folder is None:
        raise UserError(f"no run of {experiment.agent} with {experiment.model} on {experiment.repo}", hint=hint)
    key = experiment_digest(experiment, instances)
    if read_field(folder / "run.json", "digest") != key:
        raise UserError("the newest run is of another dataset, agent or settings", path=folder, hint=hint)
    return Run(experiment, folder, key, instances)
