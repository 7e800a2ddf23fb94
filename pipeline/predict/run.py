"""A run: a named view of the answers of one agent and model to the tasks of one repository.

Answers are stored by everything that shapes them (task, agent, settings, model, attempt) and shared by runs: another
instance, limit or price asks nothing again. A run's folder is named by its time, and its records say what it shows. The
newest run of an agent and model counts; older ones stay.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pipeline import __version__
from pipeline.core.cache import cache_root
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.records import Instance, Prediction
from pipeline.core.store import Store, Unit, digest, now, of_attempt, read_field, read_json, read_records, write_json
from pipeline.core.subset import ALL, Subset
from pipeline.llm.experiment import Experiment

#: an instance and the number of an attempt at it
Owed = tuple[Instance, int]


class Wanted(NamedTuple):
    """What a run is to show: which instances, how many attempts at each. `fresh` asks even for what is kept; `chooses`
    lets existing tests choose among proposals; `about` is what people want to know of it beside."""

    subset: Subset = ALL
    attempts: int = 1
    fresh: bool = False
    chooses: bool = False
    about: Mapping[str, Any] = {}


#: all instances, one attempt
PLAIN = Wanted()


@dataclass(frozen=True)
class Run:
    """A run's folder. `instances` are those that it shows; `answers` holds the kept answers of the repository."""

    experiment: Experiment
    folder: Path
    digest: str
    instances: tuple[Instance, ...]
    answers: Path
    attempts: int = 1
    fresh: bool = False

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def cache(self) -> Path:
        """What an agent keeps between the tasks of its experiment, on the money of one data directory: it can be made
        again, for the same money."""
        whose = self.experiment.id, str(self.answers), self.name if self.fresh else ""
        return cache_root() / "answers" / digest(*whose)

    def inputs(self, instance: Instance, attempt: int = 1) -> dict[str, str]:
        """All that shapes an answer. A fresh one belongs to its run; the oracle's is the gold patch."""
        experiment = self.experiment
        shaping = {
            "task": digest(instance.task(), instance.base.sha),
            "agent": experiment.agent,
            "settings": experiment.settings,
            "model": experiment.model,
            "attempt": str(attempt),
        }
        gold = {"gold": digest(instance.fix_patch)} if experiment.agent == "oracle" else {}
        return shaping | gold | ({"fresh": self.name} if self.fresh else {})

    def answer(self, instance: Instance, attempt: int = 1) -> str:
        """The name of the answer to an instance's task."""
        return digest(self.inputs(instance, attempt))

    def unit(self, instance: Instance, attempt: int = 1) -> Unit:
        """The unit of an answer: its folder holds the agent's output."""
        return Unit(self.answers / instance.instance_id / self.answer(instance, attempt))

    def clear(self, instance: Instance, attempt: int = 1) -> None:
        """Take away what an earlier try left for an instance that has no answer."""
        shutil.rmtree(self.unit(instance, attempt).folder, ignore_errors=True)

    def is_answered(self, instance: Instance, attempt: int = 1) -> bool:
        return self.unit(instance, attempt).is_done(**self.inputs(instance, attempt))

    def missing(self, attempt: int = 1) -> list[Instance]:
        """The instances that have no finished answer yet."""
        return [one for one in self.instances if not self.is_answered(one, attempt)]

    def owed(self) -> list[Owed]:
        """The same of all attempts: all first ones, then all second ones."""
        return [(one, attempt) for attempt in range(1, self.attempts + 1) for one in self.missing(attempt)]

    def view(self, attempt: int) -> Path:
        """Where the records of an attempt stand."""
        return of_attempt(self.folder, attempt)

    def predictions(self, attempt: int) -> list[Prediction]:
        """The answers of an attempt, as they were collected last."""
        return read_records(self.view(attempt) / "predictions.jsonl", Prediction)


def run_digest(experiment: Experiment, chooses: bool = False) -> str:
    """All that the answers of a run have in common."""
    return digest(experiment.repository, experiment.agent, experiment.model, experiment.settings, chooses)


def open_run(store: Store, experiment: Experiment, wanted: Wanted = PLAIN) -> Run:
    """Go on with the newest run where it is of the same experiment, or start one beside it; the caller holds the lock.

    A run that is gone on with shows what it showed, and what is wanted. Raises UserError for a name that other settings
    have, for a repository without a dataset, and for an instance that is not in it.
    """
    dataset, key = read_dataset(store, experiment.repository), run_digest(experiment, wanted.chooses)
    chosen, there = wanted.subset.of(dataset), newest(store, experiment)
    before = read_json(there / "run.json") if there and not wanted.fresh else {}
    if there and before and before.get("digest") != key and experiment.name:
        hint = "give another --name, or --fresh; `a11y-bench runs remove` takes a run away"
        raise UserError(f"other settings already have the name '{experiment.name}'", path=there / "run.json", hint=hint)
    goes_on = before.get("digest") == key
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    folder = there if there and goes_on else _folder(store, experiment) / started
    names = None if wanted.subset.is_all else [one.instance_id for one in chosen]
    said = {
        **_described(experiment, wanted),
        "digest": key,
        "instances": _both(before, names) if goes_on else names,
        "attempts": max(wanted.attempts, before["attempts"]) if goes_on else wanted.attempts,
        "fresh": before["fresh"] if goes_on else wanted.fresh,
        "started": before["started"] if goes_on else now(),
        "served_by": before.get("served_by", []) if goes_on else [],
    }
    if said != before:
        write_json(folder / "run.json", said)
    return _run(store, experiment, folder, dataset)


def view(store: Store, experiment: Experiment, wanted: Wanted) -> Run:
    """The run as it would be of what is wanted alone; nothing is written."""
    instances = wanted.subset.of(read_dataset(store, experiment.repository))
    folder, answers = _folder(store, experiment) / "planned", store.answers(experiment.repository, "")
    return Run(experiment, folder, run_digest(experiment, wanted.chooses), instances, answers, wanted.attempts)


def _described(experiment: Experiment, wanted: Wanted) -> dict[str, Any]:
    """What a run says of itself beside its view; `agent` is the label by which tables name it."""
    return {
        "repo": experiment.repo,
        "agent": experiment.label,
        "name": experiment.name,
        "model": experiment.model,
        "settings": experiment.settings,
        "experiment": experiment.id,
        "chooses": wanted.chooses,
        "shaped_by": {"tool": __version__, **wanted.about},
    }


def tell(run: Run, served: Sequence[tuple[str, str]]) -> None:
    """Let a run's `run.json` say what the providers call the models that answered, with their fingerprints."""
    path = run.folder / "run.json"
    said = read_json(path)
    told = [{"model": model, "fingerprint": fingerprint} for model, fingerprint in served]
    if said["served_by"] != told:
        write_json(path, said | {"served_by": told})


def _both(before: Mapping[str, Any], names: list[str] | None) -> list[str] | None:
    """The instances of two views; None is all that there are."""
    shown = before["instances"]
    return None if shown is None or names is None else list(dict.fromkeys([*shown, *names]))


def _run(store: Store, experiment: Experiment, folder: Path, dataset: tuple[Instance, ...]) -> Run:
    """The run of a folder, as its `run.json` says."""
    said = read_json(folder / "run.json")
    shown = said["instances"]
    instances = tuple(one for one in dataset if shown is None or one.instance_id in shown)
    answers = store.answers(experiment.repository, "")
    return Run(experiment, folder, said["digest"], instances, answers, said["attempts"], said["fresh"])


def _folder(store: Store, experiment: Experiment) -> Path:
    return store.predictions(experiment.repository, experiment.label, experiment.model)


def newest(store: Store, experiment: Experiment) -> Path | None:
    """The folder of the newest run, None when there is none."""
    return max(_runs(_folder(store, experiment)), default=None)


def _runs(folder: Path) -> Iterator[Path]:
    return (path.parent for path in folder.glob("*/run.json"))


def resume(store: Store, experiment: Experiment, *, chooses: bool = False) -> Run:
    """The newest run, for the single steps. Raises UserError when there is none, or one of another experiment."""
    folder, dataset = newest(store, experiment), read_dataset(store, experiment.repository)
    hint = f"run: just agt-preprocess {experiment.repo} {experiment.model}"
    if folder is None:
        raise UserError(f"no run of {experiment.label} with {experiment.model} on {experiment.repo}", hint=hint)
    if read_field(folder / "run.json", "digest") != run_digest(experiment, chooses):
        raise UserError("the newest run is of another agent or settings", path=folder, hint=hint)
    return _run(store, experiment, folder, dataset)
