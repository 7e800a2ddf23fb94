"""What one run of an agent and model answered: its predictions, and why some instances have none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Prediction
from pipeline.core.store import Store, each_record, read_json, unique

#: causes of a missing answer that are the agent's own doing; every other one is the machine's or the provider's
OWN_FAULTS = ("agent_error",)


@dataclass(frozen=True)
class Subject:
    """Whose patches are evaluated: one run of one agent and model on one repository; the newest run unless told."""

    repo: Repo
    agent: str
    model: str
    run: str = ""


@dataclass(frozen=True)
class Answers:
    """The predictions of a run by instance, the file they are from, and causes of answers that a machine owes."""

    run: str
    path: Path
    predictions: dict[str, Prediction]
    owed: dict[str, str]

    def of(self, instance: Instance) -> Prediction | None:
        """The prediction for an instance, None where there is none."""
        return self.predictions.get(instance.instance_id)


def read_answers(store: Store, subject: Subject) -> Answers:
    """Read the run's folder. Raises UserError that lists what there is, or names the file that is broken or
    another's."""
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    there = sorted(path.parent.name for path in folder.glob("*/predictions.jsonl"))
    if not there:
        have = ", ".join(f"{agent} with {model}" for agent, model in store.predicted(subject.repo)) or "none"
        hint = f"there is: {have}; or run: just agt-run {subject.repo} {subject.model} --agent {subject.agent}"
        raise UserError(f"no predictions of {subject.agent} with {subject.model}", path=folder, hint=hint)
    run = subject.run or there[-1]
    if run not in there:
        raise unknown("run", run, there)
    path = folder / run / "predictions.jsonl"
    by_id = {one.instance_id: _own(one, subject, path) for one in unique(each_record(path, Prediction), path)}
    about = folder / run / "metadata.json"
    unanswered = read_json(about).get("unanswered", {}) if about.exists() else {}
    return Answers(run, path, by_id, {name: cause for name, cause in unanswered.items() if cause not in OWN_FAULTS})


def _own(prediction: Prediction, subject: Subject, path: Path) -> Prediction:
    """An answer of this agent and model: another's is never given their verdict. SWE-bench's form names no agent."""
    agent, model = prediction.agent or subject.agent, prediction.model_name_or_path
    if (agent, model) != (subject.agent, subject.model):
        hint = f"move it to the folder of that agent and model; this one is {subject.agent}'s with {subject.model}"
        raise UserError(f"a prediction of {agent} with {model}", path=path, field="model_name_or_path", hint=hint)
    return prediction
