"""What one run of an agent and model answered: its predictions, and why some instances have none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Prediction
from pipeline.core.run_record import read_run
from pipeline.core.store import Store, attempts_in, each_record, of_attempt, read_object, unique
from pipeline.llm.unanswered import OWN_FAULTS, failures


@dataclass(frozen=True)
class Subject:
    """What is evaluated: one attempt of one run of an agent and model on a repository, by default of the newest run.
    With named settings the agent is `AGENT@NAME`."""

    repo: Repo
    agent: str
    model: str
    run: str = ""
    attempt: int = 1

    def folder(self, store: Store) -> Path:
        """The folder of the verdicts on this attempt."""
        return of_attempt(store.evaluation(self.repo, self.agent, self.model), self.attempt)

    def command(self, recipe: str) -> str:
        """The command that predicts or evaluates it, for hints."""
        agent, _, name = self.agent.partition("@")
        return f"just {recipe} {self.repo} {self.model} --agent {agent}" + (f" --name {name}" if name else "")


@dataclass(frozen=True)
class Answers:
    """The predictions of a run by instance, the file that they are from, and by instance the causes of machine failures
    that left it without an answer. `shown` names the instances that the run is about, None for all."""

    run: str
    path: Path
    predictions: dict[str, Prediction]
    failures: dict[str, str]
    shown: frozenset[str] | None = None

    def of(self, instance: Instance) -> Prediction | None:
        """The prediction for an instance, None if there is none."""
        return self.predictions.get(instance.instance_id)

    def among(self, dataset: Iterable[Instance]) -> list[Instance]:
        """The instances that the run is about."""
        return [instance for instance in dataset if self.shown is None or instance.instance_id in self.shown]


def read_answers(store: Store, subject: Subject) -> Answers:
    """Read the run's folder. Raises UserError that lists the available runs, or names a file that is broken or belongs
    to another agent."""
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    runs = sorted(path.parent.name for path in folder.glob("*/predictions.jsonl"))
    if not runs:
        available = ", ".join(f"{agent} with {model}" for agent, model in store.predicted(subject.repo)) or "none"
        hint = f"available: {available}; or run: {subject.command('agt-run')}"
        raise UserError(f"no predictions of {subject.agent} with {subject.model}", path=folder, hint=hint)
    run = subject.run or runs[-1]
    if run not in runs:
        raise unknown("run", run, runs)
    path = of_attempt(folder / run, subject.attempt) / "predictions.jsonl"
    if not path.exists():
        raise UserError(f"the run has no attempt {subject.attempt}", path=path, hint="predict with more --attempts")
    by_id = {
        prediction.instance_id: _checked(prediction, subject, path)
        for prediction in unique(each_record(path, Prediction), path)
    }
    metadata = path.with_name("metadata.json")
    failures = {name: cause for name, cause in _unanswered(metadata).items() if cause not in OWN_FAULTS}
    shown = read_run(folder / run).instances
    return Answers(run, path, by_id, failures, None if shown is None else frozenset(shown))


def failed(run: Path) -> set[str]:
    """The names of the answers that the agent failed to give, which count like unresolved ones, and so does their
    money. Raises UserError with file and field."""
    path = run / "metadata.json"
    return failures(read_object(path)) if path.exists() else set()


def _unanswered(path: Path) -> dict[str, str]:
    """The instances without an answer, each with its cause. Raises UserError with file and field."""
    causes = read_object(path).get("unanswered", {}) if path.exists() else {}
    if not isinstance(causes, dict) or not all(isinstance(cause, str) for cause in causes.values()):
        hint = "correct the file, or predict again"
        raise UserError("not an object with a cause for each instance", path=path, field="unanswered", hint=hint)
    return causes


def attempts(store: Store, subject: Subject) -> list[Subject]:
    """All attempts of a run, in order; empty if there is no run."""
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    run = subject.run or max((path.parent.name for path in folder.glob("*/predictions.jsonl")), default="")
    return (
        [replace(subject, run=run, attempt=number) for number in attempts_in(folder / run, "predictions.jsonl")]
        if run
        else []
    )


def _checked(prediction: Prediction, subject: Subject, path: Path) -> Prediction:
    """The prediction, if it is of this agent and model. Raises UserError. SWE-bench's format names no agent."""
    agent, model = prediction.agent or subject.agent, prediction.model_name_or_path
    if (agent, model) != (subject.agent, subject.model):
        hint = f"move it to the folder of that agent and model; this one is {subject.agent}'s with {subject.model}"
        raise UserError(f"a prediction of {agent} with {model}", path=path, field="model_name_or_path", hint=hint)
    return prediction
