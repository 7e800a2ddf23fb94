"""Contradictions between records: duplicates, and statements that cannot both be true.

Each check raises UserError with the file and says what to do. Reads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.core.assessment import Assessment
from pipeline.core.errors import UserError, unfit
from pipeline.core.names import Repo, agent_folder, folder_name
from pipeline.core.records import Instance, Outcome, Prediction, Rejection, Verdict

R = TypeVar("R", bound=BaseModel)
#: outcomes that depend on whether the patch is empty
_SAY_WHETHER_EMPTY = (Outcome.EMPTY, Outcome.RESOLVED, Outcome.UNRESOLVED)


def valid(kind: type[R], value: object, path: Path, line: int | None = None) -> R:
    """The value as a record. `line` is from 1. Raises UserError."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise unfit(error, path=path, line=line, hint="correct or remove it") from None


def belongs(instance: Instance, repo: Repo, path: Path) -> None:
    """A repository's dataset holds only its own instances."""
    if instance.repository != repo:
        message = f"{instance.instance_id} is not number {instance.number} of {repo}"
        raise UserError(message, path=path, field="instance_id", hint="move it to its repository's dataset")


def not_kept(rejection: Rejection, kept: Container[str], path: Path, kept_path: Path) -> None:
    """A stage does not both keep (in `kept_path`) and reject the same pull request."""
    if rejection.instance_id in kept:
        message = f"{rejection.instance_id} is rejected here and kept in {kept_path}"
        raise UserError(message, path=path, field="instance_id", hint="run that stage again")


def known(record: Any, instances: Container[str], path: Path) -> None:
    """Every prediction and verdict belongs to an instance of the dataset."""
    if record.instance_id not in instances:
        hint = "predict and evaluate again after a dataset has changed"
        raise UserError(f"{record.instance_id} is not in the dataset", path=path, field="instance_id", hint=hint)


def of_run(record: Prediction, who: tuple[str, str], path: Path) -> None:
    """A prediction has the agent and model of its run."""
    if (record.agent, record.model_name_or_path) != who:
        message = f"a record of {record.agent}, {record.model_name_or_path} in a run of {', '.join(who)}"
        raise UserError(message, path=path, hint="move it to the folder of that model")


def of_folder(agent: str, model: str, folder: Path, path: Path) -> None:
    """A record has the agent and model of its folder (agent/repository/model)."""
    if (agent_folder(agent), folder_name(model)) != (folder.parents[1].name, folder.name):
        raise UserError(
            f"a record of {agent} with {model} is in the folder of another agent or model",
            path=path,
            hint="move it to the folder of that model",
        )


def agrees(verdict: Verdict, answer: Prediction, folder: Callable[[], Path], answer_path: Path) -> None:
    """A verdict (in `folder`) is `empty` exactly if the patch (in `answer_path`) is empty, and no empty patch is
    resolved."""
    empty = not answer.model_patch.strip()
    if (verdict.outcome is Outcome.EMPTY) != empty and verdict.outcome in _SAY_WHETHER_EMPTY:
        state = "empty" if empty else "not empty"
        message = f"{verdict.instance_id} is {verdict.outcome}, and its patch in {answer_path} is {state}"
        path = folder() / "verdicts.jsonl"
        raise UserError(message, path=path, field="outcome", hint="evaluate this run again")


def agrees_with_verdict(assessment: Assessment, verdict: Verdict, path: Path) -> None:
    """The assessment agrees with the strict verdict, which it never changes."""
    if assessment.resolved != (verdict.outcome is Outcome.RESOLVED):
        message = f"{verdict.instance_id} is resolved here or in {path.with_name('verdicts.jsonl')}, not in both"
        raise UserError(message, path=path, field="resolved", hint="assess this run again")


def consistent(verdict: Verdict, path: Path) -> None:
    """A resolved instance has no unfixed or broken tests."""
    if verdict.outcome is Outcome.RESOLVED and (verdict.unfixed or verdict.broken):
        message = f"{verdict.instance_id} is resolved, with tests unfixed or broken"
        raise UserError(message, path=path, field="outcome", hint="evaluate this run again")
