"""A run: a named view of one agent's and model's answers to the tasks of one repository.

Answers are stored by everything that shapes them (task, agent, settings, model, attempt) and shared by runs, so another
instance, limit or price does not cause a new request. A run's folder is named by its start, and its records say what it
shows. The newest run of an agent and model counts; older ones stay.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    `renewed` are the fresh runs that asked again for an instance's first, second, … answer. All runs share the
    others."""

    experiment: Experiment
    folder: Path
    digest: str
    instances: tuple[Instance, ...]
    answers: Path
    attempts: int = 1
    renewed: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        return self.folder.name

    def asked_by(self, instance: Instance, attempt: int = 1) -> str:
        """The fresh run that asked for an answer; empty for one that all runs share."""
        return dict(enumerate(self.renewed.get(instance.instance_id, ()), 1)).get(attempt, "")

    def cache(self, store: Store, made_by: str, asked_by: str = "") -> Path:
        """Where an agent keeps results for its other tasks in the repository, whatever model answers; they can be made
        again, at the same cost. `made_by` is a digest of what makes them. Each data directory, and each fresh run
        (`asked_by`), pays for its own."""
        payer = store.identity(), asked_by
        return cache_root() / "answers" / digest(self.experiment.repo, self.experiment.agent, made_by, *payer)

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
        fresh = self.asked_by(instance, attempt)
        return shaping | gold | ({"fresh": fresh} if fresh else {})

    def answer(self, instance: Instance, attempt: int = 1) -> str:
        """The name of the answer to an instance's task."""
        return digest(self.inputs(instance, attempt))

    def names(self) -> set[str]:
        """The names of all answers that it shows, or will show."""
        attempts = range(1, self.attempts + 1)
        return {self.answer(instance, attempt) for instance in self.instances for attempt in attempts}

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
    newest run's answers, or no longer does, shows the same answers; so does a fresh run, except for those that it asks
    again. Raises UserError for a name that other settings have, for a repository without a dataset, and for an instance
    that is not in it.
    """
    dataset, key = read_dataset(store, experiment.repository), run_digest(experiment, wanted.chooses)
    chosen, (latest, before) = wanted.subset.of(dataset), _before(store, experiment, wanted)
    continues = before.digest == key and not wanted.fresh
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    folder = latest if latest and continues else _folder(store, experiment) / started
    names = [instance.instance_id for instance in chosen]
    shown = None if wanted.subset.is_all else names
    renewed = _renewed(before, latest, dataset)
    if wanted.fresh:
        again = (started,) * wanted.attempts
        renewed |= {name: (*again, *renewed.get(name, ())[wanted.attempts :]) for name in names}
    about = {
        **_described(experiment, wanted),
        "digest": key,
        "instances": _both(before.instances, shown) if continues else shown,
        "attempts": max(wanted.attempts, before.attempts) if continues else wanted.attempts,
        "renewed": renewed,
        "started": before.started if continues else now(),
        "served_by": before.served_by if continues else (),
    }
    planned = Run(experiment, folder, key, chosen, store.answers(experiment.repository, ""), wanted.attempts, renewed)
    if continues and not planned.unanswered():
        about["shaped_by"] = _unchanged(before.shaped_by, about["shaped_by"])
    if RunRecord.model_validate(about) != before:
        write_json(folder / "run.json", about)
    return _run(store, experiment, folder, dataset)


def _unchanged(shaped_by: Mapping[str, Any], now_given: Mapping[str, Any]) -> dict[str, Any]:
    """What shaped answers that are not asked again, such as a model at its former price. The settings have their new
    text, by which the run is found, although it may differ only in comments."""
    return {**shaped_by, **{name: text for name, text in now_given.items() if name == "settings_text"}}


def _before(store: Store, experiment: Experiment, wanted: Wanted) -> tuple[Path | None, RunRecord]:
    """The newest run's folder, and its record if it shows answers of the same experiment, whether or not tests choose
    among them; otherwise an empty one. Raises UserError for a name that other settings have."""
    latest = newest(store, experiment)
    before = read_run(latest) if latest else RunRecord()
    is_other = before.digest not in ("", run_digest(experiment, wanted.chooses))
    if latest and experiment.name and is_other and not wanted.fresh:
        hint = f"give another name, ask again with --fresh, or archive the run: a11y-bench runs remove {latest.name}"
        raise UserError(f"other settings already have the name '{experiment.name}'", hint=hint)
    is_same = before.digest in (run_digest(experiment, chooses) for chooses in (False, True))
    return latest, before if is_same else RunRecord()


def view(store: Store, experiment: Experiment, wanted: Wanted) -> Run:
    """The run that would be continued, as if it showed only what is wanted. Nothing is written. Raises UserError as
    `open_run` does."""
    dataset, key = read_dataset(store, experiment.repository), run_digest(experiment, wanted.chooses)
    latest, before = _before(store, experiment, wanted)
    folder = latest if latest and before.digest == key else _folder(store, experiment) / "planned"
    chosen, answers = wanted.subset.of(dataset), store.answers(experiment.repository, "")
    return Run(experiment, folder, key, chosen, answers, wanted.attempts, _renewed(before, latest, dataset))


def _renewed(about: RunRecord, folder: Path | None, dataset: Sequence[Instance]) -> dict[str, tuple[str, ...]]:
    """The fresh runs that asked for a run's answers, by instance. Older versions asked again for everything that a
    fresh run showed."""
    if about.renewed or not (about.fresh and folder):
        return dict(about.renewed)
    again = (about.origin or folder.name,) * about.attempts
    return {instance.instance_id: again for instance in _shown(about, dataset)}


def _shown(about: RunRecord, dataset: Sequence[Instance]) -> tuple[Instance, ...]:
    """The instances that a run shows."""
    return tuple(one for one in dataset if about.instances is None or one.instance_id in about.instances)


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
    about, answers = read_run(folder), store.answers(experiment.repository, "")
    shown = _shown(about, dataset), answers, about.attempts
    return Run(experiment, folder, about.digest, *shown, _renewed(about, folder, dataset))


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
    whose = f"--agent {experiment.agent}" + (f" --name {experiment.name}" if experiment.name else "")
    hint = f"run: just agt-preprocess {experiment.repo} {experiment.model} {whose} (with the same settings)"
    if folder is None:
        raise UserError(f"no run of {experiment.label} with {experiment.model} on {experiment.repo}", hint=hint)
    if read_run(folder).digest != run_digest(experiment, chooses):
        raise UserError("the newest run is of another agent or settings", path=folder, hint=hint)
    return _run(store, experiment, folder, dataset)
