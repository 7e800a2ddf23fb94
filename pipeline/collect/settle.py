"""The outcome of a pull request: its source's record, changed by people's decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from pipeline.core.decisions import Standing
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Rejection

Outcome = Candidate | Rejection

#: fields that identify the pull request or describe the record itself: no decision changes them
IDENTITY = frozenset({"schema_version", "tool", "org", "repo", "number", "instance_id", "stage"})


def settle(source_record: Outcome | None, files: Sequence[str], standing: Standing) -> Outcome | None:
    """The record that counts; None if neither the source nor a decision has one.

    `source_record` is the source's record, and `files` are the paths that the pull request changes. Raises UserError
    for a decision that does not give a valid record.
    """
    decision, outcome = standing.place, _chosen(source_record, files, standing.chosen)
    if decision and decision.record:
        outcome = parsed(decision.record)
    elif decision and decision.kind == "exclude" and outcome:
        outcome = _excluded(outcome, decision.reason)
    return outcome and with_fields(outcome, {name: field.value for name, field in standing.fields.items()})


def _chosen(source_record: Outcome | None, files: Sequence[str], chosen: bool) -> Outcome | None:
    """The source's record, marked if it is chosen by hand. One that is no longer chosen gets the filters' outcome."""
    if not isinstance(source_record, Candidate) or source_record.chosen_by_hand == chosen:
        return source_record
    failed = [name for name, passed in source_record.filters.items() if not passed]
    if chosen or not failed:
        return source_record.model_copy(update={"chosen_by_hand": chosen})
    issues = tuple(issue.number for issue in source_record.resolved_issues) if failed[0] == "no_a11y_evidence" else ()
    return rejection(source_record.instance_id, failed[0], "; ".join(files[:5]), issues)


def _excluded(outcome: Outcome, reason: str) -> Rejection:
    issues = outcome.issues if isinstance(outcome, Rejection) else (issue.number for issue in outcome.resolved_issues)
    return rejection(outcome.instance_id, "excluded", reason, tuple(issues))


def rejection(instance_id: str, reason: str, detail: str, issues: tuple[int, ...] = ()) -> Rejection:
    return Rejection(instance_id=instance_id, stage="collect", reason=reason, detail=detail, issues=issues)


def with_fields(outcome: Outcome, fields: dict[str, Any]) -> Outcome:
    """A record with other values in some fields; fields that it lacks are ignored. Raises UserError for a bad value."""
    known = {name: value for name, value in fields.items() if name in type(outcome).model_fields}
    return _validated(type(outcome), outcome.model_dump(mode="json") | known) if known else outcome


def parsed(record: dict[str, Any]) -> Outcome:
    """The candidate or rejection that a decision contains. Raises UserError."""
    return _validated(Candidate if "fix_patch" in record else Rejection, record)


def _validated(kind: type[Candidate] | type[Rejection], fields: dict[str, Any]) -> Outcome:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        problem = error.errors()[0]
        hint = f"a11y-bench schema {kind.__name__} says what it takes"
        message = f"a decision does not fit: {problem['msg']}"
        raise UserError(message, field=".".join(map(str, problem["loc"])), hint=hint) from None


def conflicts(source_record: Outcome | None, standing: Standing) -> Iterator[str]:
    """Messages about fields that a person set and whose value the source changed since. The person's value is kept."""
    for name, decision in standing.fields.items():
        fields = source_record.model_dump(mode="json") if source_record else {}
        if name not in fields:
            made = f"{decision.author} set ({decision.time})"
            yield f"{decision.instance_id}: the source no longer has the field {name} that {made}"
        elif fields[name] not in (decision.before, decision.value):
            made = f"{decision.author} set it ({decision.time})"
            yield f"{decision.instance_id}: the source changed {name} since {made}; that value stays"
