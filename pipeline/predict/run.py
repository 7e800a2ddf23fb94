"""A run: a named view of one agent's and model's answers to the tasks of one repository.

Answers are stored by everything that shapes them (task, agent, settings, model, attempt) and shared by runs, so another
instance, limit or price does not cause a new request. A run's folder is named by its start, and its records say what it
shows. The newest run of an agent and model counts; older ones stay.
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
from pipeline.core.run_record import RunRecord, read_run
from pipeline.core.store import Store, Unit, digest, now, of_attempt, read_records, write_json
from pipeline.core.subset import ALL, Subset
from pipeline.llm.experiment import Experiment

#: an instance and the number of the attempt
Attempt = tuple[Instance, int]


class Wanted(NamedTuple):
    """What a run should show: which instances, and how many attempts at each. `fresh` asks again for stored answers,
    `chooses` lets existing tests choose among proposals, and `about` is further information for people."""

    subset: Subset = ALL
    attempts: int = 1
    fresh: bool = False
    chooses: bool = False
    about: Mapping[str, Any] = {}


#: all instances, one attempt
PLAIN = Wanted()


@dataclass(frozen=True)
class Run:
    """A run's folder. `instances` are those that it shows; `answers` is the folder of the repository's stored answers;
    `fresh` is the run that asked for its answers, if they are not shared by all runs."""

    experiment: Experiment
    folder: Path
    digest: str
    instances: tuple[Instance, ...]
    answers: Path
    attempts: int = 1
    fresh: str = ""

    @property
    def name(self) -> str:
        return self.folder.name

    def cache(self, made_by: str) -> Path:
        """Where an agent keeps results for its other tasks in the repository, whatever model answers; they can be made
        again, at the same cost. `made_by` is a digest of what makes them. Each data directory, and each fresh run, pays
        for its own."""
        identity = self.experiment.repo, self.experiment.agent, made_by, str(self.answers)
        return cache_root() / "answers" / digest(*identity, self.fresh)

    def inputs(self, instance: Instance, attempt: int = 1) -> dict[str, str]:
        """Everything that shapes an answer. A fresh answer belongs to the run that asked for it; the oracle's is the
        gold patch."""
        experiment = self.experiment
        shaping = {
            "task": digest(instance.task(), instance.base.sha),
            "agent": experiment.agent,
            "settings": experiment.settings,
            "model": experiment.model,
            "attempt": str(attempt),
        }
        gold = {"gold": digest(instance.fix_patch)} if experiment.agent == "oracle" else {}
        return shaping | gold | ({"fresh": self.fresh} if self.fresh else {})

    def answer(self, instance: Instance, attempt: int = 1) -> str:
        """The name of the answer to an instance's task."""
        return digest(self.inputs(instance, attempt))

    def unit(self, instance: Instance, attempt: int = 1) -> Unit:
        """The unit of an answer: its folder holds the agent's output."""
        return Unit(self.answers / instance.instance_id / self.answer(instance, attempt))

    def clear(self, instance: Instance, attempt: int = 1) -> None:
        """Remove the files that an earlier try left for an instance without an answer."""
        shutil.rmtree(self.unit(instance, attempt).folder, ignore_errors=True)

    def is_answered(self, instance: Instance, attempt: int = 1) -> bool:
        return self.unit(instance, attempt).is_done(**self.inputs(instance, attempt))

    def missing(self, attempt: int = 1) -> list[Instance]:
        """The instances that have no finished answer yet."""
        return [instance for instance in self.instances if not self.is_answered(instance, attempt)]

    def unanswered(self) -> list[Attempt]:
        """The missing answers of all attempts: all first ones, then all second ones."""
        return [(instance, attempt) for attempt in range(1, self.attempts + 1) for instance in self.missing(attempt)]

    def view(self, attempt: int) -> Path:
        """The folder of an attempt's records."""
        return of_attempt(self.folder, attempt)

    def predictions(self, attempt: int) -> list[Prediction]:
        """The answers of an attempt, as last collected."""
        return read_records(self.view(attempt) / "predictions.jsonl", Prediction)


def run_digest(experiment: Experiment, chooses: bool = False) -> str:
    """The digest of everything that the answers of a run have in common."""
    return digest(experiment.repository, experiment.agent, experiment.model, experiment.settings, chooses)


def open_run(store: Store, experiment: Experiment, wanted: Wanted = PLAIN) -> Run:
    """Continue the newest run if it is of the same experiment, else start a new one. The caller holds the lock.

    A continued run shows what it showed before, and what is wanted now. A run that only lets tests choose among the
    newest run's answers, or no longer does, shows the same answers. Raises UserError for a name that other settings
    have, for a repository without a dataset, and for an instance that is not in it.
    """
    dataset, key = read_dataset(store, experiment.repository), run_digest(experiment, wanted.chooses)
    chosen, latest = wanted.subset.of(dataset), newest(store, experiment)
    before = _before(experiment, latest, wanted)
    continues = before.digest == key
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    folder = latest if latest and continues else _folder(store, experiment) / started
    origin = _origin(experiment, before, latest)
    names = None if wanted.subset.is_all else [instance.instance_id for instance in chosen]
    about = {
        **_described(experiment, wanted),
        "digest": key,
        "instances": _both(before.instances, names) if continues else names,
        "attempts": max(wanted.attempts, before.attempts) if continues else wanted.attempts,
        "fresh": wanted.fresh or bool(origin),
        "origin": "" if origin == folder.name else origin,
        "started": before.started if continues else now(),
        "served_by": before.served_by if continues else (),
    }
    if RunRecord.model_validate(about) != before:
        write_json(folder / "run.json", about)
    return _run(store, experiment, folder, dataset)


def _before(experiment: Experiment, latest: Path | None, wanted: Wanted) -> RunRecord:
    """The record of the newest run, of which nothing counts if all is asked again. Raises UserError for a name that
    other settings have."""
    before = read_run(latest) if latest and not wanted.fresh else RunRecord()
    if latest and experiment.name and before.digest not in ("", run_digest(experiment, wanted.chooses)):
        hint = f"give another name, ask again with --fresh, or archive the run: a11y-bench runs remove {latest.name}"
        raise UserError(f"other settings already have the name '{experiment.name}'", hint=hint)
    return before


def view(store: Store, experiment: Experiment, wanted: Wanted) -> Run:
    """The run that would be continued, as if it showed only what is wanted. Nothing is written. Raises UserError as
    `open_run` does."""
    instances, key = (
        wanted.subset.of(read_dataset(store, experiment.repository)),
        run_digest(experiment, wanted.chooses),
    )
    folder, answers = _folder(store, experiment) / "planned", store.answers(experiment.repository, "")
    latest = newest(store, experiment)
    about = _before(experiment, latest, wanted)
    if latest and about.digest == key:
        folder = latest
    return Run(experiment, folder, key, instances, answers, wanted.attempts, _origin(experiment, about, latest))


def _origin(experiment: Experiment, about: RunRecord, folder: Path | None) -> str:
    """The run that asked for the newest run's answers, whether or not tests choose among them; empty if all runs share
    them, or if it is of another experiment."""
    same = about.digest in (run_digest(experiment, chooses) for chooses in (False, True))
    return _asked_by(about, folder) if folder and same else ""


def _asked_by(about: RunRecord, folder: Path) -> str:
    """The run that asked for the answers of a fresh run; empty for any other."""
    return about.origin or folder.name if about.fresh else ""


def _described(experiment: Experiment, wanted: Wanted) -> dict[str, Any]:
    """The fields of `run.json` besides the view. `agent` is the label in tables."""
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


def record_served(run: Run, served: Sequence[tuple[str, str]]) -> None:
    """Record in `run.json` the providers' names of the models that answered, with their fingerprints."""
    about = read_run(run.folder)
    served_by = tuple({"model": model, "fingerprint": fingerprint} for model, fingerprint in served)
    if about.served_by != served_by:
        fields = about.model_dump(mode="json", exclude_unset=True)
        write_json(run.folder / "run.json", fields | {"served_by": served_by})


def _both(shown: Sequence[str] | None, names: Sequence[str] | None) -> list[str] | None:
    """The instances of two views together; None means all."""
    return None if shown is None or names is None else list(dict.fromkeys([*shown, *names]))


def _run(store: Store, experiment: Experiment, folder: Path, dataset: tuple[Instance, ...]) -> Run:
    """The run of a folder, as described in its `run.json`."""
    about = read_run(folder)
    shown = about.instances
    instances = tuple(instance for instance in dataset if shown is None or instance.instance_id in shown)
    answers = store.answers(experiment.repository, "")
    return Run(experiment, folder, about.digest, instances, answers, about.attempts, _asked_by(about, folder))


def _folder(store: Store, experiment: Experiment) -> Path:
    return store.predictions(experiment.repository, experiment.label, experiment.model)


def newest(store: Store, experiment: Experiment) -> Path | None:
    """The folder of the newest run, None if there is none."""
    return max(_runs(_folder(store, experiment)), default=None)


def _runs(folder: Path) -> Iterator[Path]:
    return (path.parent for path in folder.glob("*/run.json"))


def resume(store: Store, experiment: Experiment, *, chooses: bool = False) -> Run:
    """The newest run, for the single steps. Raises UserError if there is none, or it is of another experiment."""
    folder, dataset = newest(store, experiment), read_dataset(store, experiment.repository)
    hint = f"run: just agt-preprocess {experiment.repo} {experiment.model}"
    if folder is None:
        raise UserError(f"no run of {experiment.label} with {experiment.model} on {experiment.repo}", hint=hint)
    if read_run(folder).digest != run_digest(experiment, chooses):
        raise UserError("the newest run is of another agent or settings", path=folder, hint=hint)
    return _run(store, experiment, folder, dataset)
