"""What records may not say of each other: the same thing twice, or two things that can not both be true.

Each check raises UserError with the file and says what to do. Reads nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from pipeline.core.errors import UserError
from pipeline.core.names import Repo, folder_name
from pipeline.core.records import Instance, Outcome, Record, Verdict

R = TypeVar("R", bound=Record)


def valid(kind: type[R], value: object, path: Path, line: int | None = None) -> R:
    """The value as a record. `line` is from 1."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        raise UserError(first["msg"], path=path, line=line, field=field, hint="mend or remove it") from None


def unique(records: Sequence[Any], path: Path, key: tuple[str, ...]) -> None:
    """No two records of one file have the same key."""
    counts = Counter(tuple(getattr(record, field) for field in key) for record in records)
    for values, count in counts.items():
        if count > 1:
            name = " ".join(filter(None, values))
            raise UserError(f"{name} stands here {count} times", path=path, field=key[0], hint="keep one of them")


def belong(instances: Iterable[Instance], repo: Repo, path: Path) -> None:
    """A repository's dataset holds its own instances, under their own names."""
    for instance in instances:
        if instance.instance_id != repo.instance_id(instance.number) or instance.repository != repo:
            message = f"{instance.instance_id} is not number {instance.number} of {repo}"
            raise UserError(message, path=path, field="instance_id", hint="move it to its repository's dataset")


def disjoint(kept: Iterable[Any], rejected: Iterable[Any], path: Path) -> None:
    """Nothing is both kept and rejected by one stage."""
    both = {record.instance_id for record in kept} & {record.instance_id for record in rejected}
    for name in sorted(both):
        raise UserError(f"{name} is kept and rejected", path=path, field="instance_id", hint="run that stage again")


def known(records: Iterable[Any], instances: set[str], path: Path) -> None:
    """Every prediction and verdict is of an instance of the dataset."""
    for record in records:
        if record.instance_id not in instances:
            hint = "predict and evaluate again after a dataset has changed"
            raise UserError(f"{record.instance_id} is not in the dataset", path=path, field="instance_id", hint=hint)


def one_model(pairs: Iterable[tuple[str, str]], folder: Path, path: Path) -> None:
    """All records are of the agent and model that their folder (agent/repository/model) is named by."""
    for agent, model in pairs:
        if agent and (folder_name(agent), folder_name(model)) != (folder.parents[1].name, folder.name):
            raise UserError(f"a record of {agent}, {model}", path=path, hint="move it to the folder of that model")


def consistent(verdicts: Iterable[Verdict], path: Path) -> None:
    """A resolved instance has no test that is unfixed or broken."""
    for verdict in verdicts:
        if verdict.outcome is Outcome.RESOLVED and (verdict.unfixed or verdict.broken):
            message = f"{verdict.instance_id} is resolved, with tests unfixed or broken"
            raise UserError(message, path=path, field="outcome", hint="evaluate this run again")
