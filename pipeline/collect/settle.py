"""What becomes of a pull request, by what its source says and what people decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from pipeline.core.decisions import Standing
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Rejection

Outcome = Candidate | Rejection

#: fields that say which pull request it is, or what a record says of itself: nobody decides them
IDENTITY = frozenset({"schema_version", "tool", "org", "repo", "number", "instance_id", "stage"})


def settle(said: Outcome | None, files: Sequence[str], standing: Standing) -> Outcome | None:
    """The record that counts; None where neither the source nor a decision has one.

    `said` is the source's record and `files` are the paths that the pull request changes. Raises UserError for a
    decision that gives no record.
    """
    place, outcome = standing.place, _chosen(said, files, standing.chosen)
    if place and place.record:
        outcome = parsed(place.record)
    elif place and place.kind == "exclude" and outcome:
        outcome = _excluded(outcome, place.reason)
    return outcome and with_fields(outcome, {name: one.value for name, one in standing.fields.items()})


def _chosen(said: Outcome | None, files: Sequence[str], chosen: bool) -> Outcome | None:
    """What is chosen by hand is marked; what no longer is goes where the filters send it."""
    if not isinstance(said, Candidate) or said.chosen_by_hand == chosen:
        return said
    failed = [name for name, passed in said.filters.items() if not passed]
    if chosen or not failed:
        return said.model_copy(update={"chosen_by_hand": chosen})
    issues = tuple(issue.number for issue in said.resolved_issues) if failed[0] == "no_a11y_evidence" else ()
    return rejection(said.instance_id, failed[0], "; ".join(files[:5]), issues)


def _excluded(outcome: Outcome, reason: str) -> Rejection:
    issues = outcome.issues if isinstance(outcome, Rejection) else (issue.number for issue in outcome.resolved_issues)
    return rejection(outcome.instance_id, "excluded", reason, tuple(issues))


def rejection(instance_id: str, reason: str, detail: str, issues: tuple[int, ...] = ()) -> Rejection:
    return Rejection(instance_id=instance_id, stage="collect", reason=reason, detail=detail, issues=issues)


def with_fields(outcome: Outcome, fields: dict[str, Any]) -> Outcome:
    """A record with other values in those fields that it has. Raises UserError for a value that does not fit."""
    there = {name: value for name, value in fields.items() if name in type(outcome).model_fields}
    return _validated(type(outcome), outcome.model_dump(mode="json") | there) if there else outcome


def parsed(record: dict[str, Any]) -> Outcome:
    """The candidate or the rejection that a decision holds."""
    return _validated(Candidate if "fix_patch" in record else Rejection, record)


def _validated(kind: type[Candidate] | type[Rejection], fields: dict[str, Any]) -> Outcome:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        hint = f"a11y-bench schema {kind.__name__} says what it takes"
        message = f"a decision does not fit: {first['msg']}"
        raise UserError(message, field=".".join(map(str, first["loc"])), hint=hint) from None


def conflicts(said: Outcome | None, standing: Standing) -> Iterator[str]:
    """Where the source has come to say something else than when a person decided; the person's word stays."""
    for name, one in standing.fields.items():
        fields = said.model_dump(mode="json") if said else {}
        if name not in fields:
            yield f"{one.instance_id}: the source no longer has the field {name} that {one.author} set ({one.time})"
        elif fields[name] not in (one.before, one.value):
            yield f"{one.instance_id}: the source changed {name} since {one.author} set it ({one.time}); that stays"
