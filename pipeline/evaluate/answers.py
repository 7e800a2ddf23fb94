"""What one run of an agent and model answered: its predictions, and why some instances have none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Prediction
from pipeline.core.store import Store, attempts_in, each_record, of_attempt, read_json, shown_by, unique

#: causes of a missing answer that are the agent's own doing; every other one is the machine's or the provider's
OWN_FAULTS = ("agent_error",)


@dataclass(frozen=True)
class Subject:
    """Whose patches are evaluated: one attempt of one run of one agent and model on one repository; the newest run
    by default. With named settings the agent is `AGENT@NAME`."""

    repo: Repo
    agent: str
    model: str
    run: str = ""
    attempt: int = 1

    def folder(self, store: Store) -> Path:
        """Where the verdicts on this attempt stand."""
        return of_attempt(store.evaluation(self.repo, self.agent, self.model), self.attempt)


@dataclass(frozen=True)
class Answers:
    """The predictions of a run by instance, the file they are from, and causes of answers that a machine owes. `shown`
    names the instances that the run is about, None for all."""

    run: str
    path: Path
    predictions: dict[str, Prediction]
    owed: dict[str, str]
    shown: frozenset[str] | None = None

    def of(self, instance: Instance) -> Prediction | None:
        """The prediction for an instance, None where there is none."""
        return self.predictions.get(instance.instance_id)

    def among(self, dataset: Iterable[Instance]) -> list[Instance]:
        """The instances that the run is about."""
        return [one for one in dataset if self.shown is None or one.instance_id in self.shown]


def read_answers(store: Store, subject: Subject) -> Answers:
    """Read the run's folder. Raises UserError that lists what there is, or names the file that is broken or
    another's."""
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    there = sorted(path.parent.name for path in folder.glob("*/predictions.jsonl"))
    if not there:
        have = ", ".join(f"{agent} with {model}" for agent, model in store.predicted(subject.repo)) or "none"
        hint = f"available: {have}; or run: just agt-run {subject.repo} {subject.model} --agent {subject.agent}"
        raise UserError(f"no predictions of {subject.agent} with {subject.model}", path=folder, hint=hint)
    run = subject.run or there[-1]
    if run not in there:
        raise unknown("run", run, there)
    path = of_attempt(folder / run, subject.attempt) / "predictions.jsonl"
    if not path.exists():
        raise UserError(f"the run has no attempt {subject.attempt}", path=path, hint="predict with more --attempts")
    by_id = {one.instance_id: _own(one, subject, path) for one in unique(each_record(path, Prediction), path)}
    about = path.with_name("metadata.json")
    unanswered = read_json(about).get("unanswered", {}) if about.exists() else {}
    owed = {name: cause for name, cause in unanswered.items() if cause not in OWN_FAULTS}
    return Answers(run, path, by_id, owed, shown_by(folder / run))


def attempts(store: Store, subject: Subject) -> list[Subject]:
    """All attempts of a run, the first one first; none where there is no run."""
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    run = subject.run or max((path.parent.name for path in folder.glob("*/predictions.jsonl")), default="")
    return (
        [replace(subject, run=run, attempt=one) for one in attempts_in(folder / run, "predictions.jsonl")]
        if run
        else []
    )


def _own(prediction: Prediction, subject: Subject, path: Path) -> Prediction:
    """An answer of this agent and model: another's is never given their verdict. SWE-bench's form names no agent."""
    agent, model = prediction.agent or subject.agent, prediction.model_name_or_path
    if (agent, model) != (subject.agent, subject.model):
        hint = f"move it to the folder of that agent and model; this one is {subject.agent}'s with {subject.model}"
        raise UserError(f"a prediction of {agent} with {model}", path=path, field="model_name_or_path", hint=hint)
    return prediction
