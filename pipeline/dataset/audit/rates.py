"""The shares of wrong verdicts with their intervals, as tables for people and as plain data for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from pipeline.core.audit import JUDGES, Kind, Tally, VerdictAudit, by_rule, judged, tally
from pipeline.core.console import table
from pipeline.report.statistics import wilson

#: kind of variant -> the name of a wrong verdict on it
ERRORS: dict[Kind, str] = {"same": "false negatives", "harmful": "false positives"}
JUDGE = {"strict": "tests", "checked": "tests with checker"}


def present(audits: Sequence[VerdictAudit], *, as_json: bool) -> None:
    """Print the results of an audit."""
    if as_json:
        click.echo(json.dumps(data(audits), indent=2))
        return
    table("Errors of our verdicts", ("judge", "error", "wrong", "of", "share", "95 % interval"), list(_errors(audits)))
    head = ("kind", "class", "of", *(f"wrong: {name}" for name in JUDGE.values()))
    table("By class", head, list(_classes(audits)))
    head = ("instance", "gold", "same: wrong", "harmful: wrong", "hunks noticed", "test strength")
    table("By instance", head, [_instance(one) for one in audits])
    if rows := list(_wrong(audits)):
        table("Wrong verdicts", ("instance", "kind", "class", "place", "gold", "variant", "outcome"), rows)


def _errors(audits: Sequence[VerdictAudit]) -> Iterator[tuple[object, ...]]:
    for judge in JUDGES:
        for kind, error in ERRORS.items():
            found = tally(audits, kind, judge)
            yield JUDGE[judge], error, *found, percent(found), interval(found)


def _classes(audits: Sequence[VerdictAudit]) -> Iterator[tuple[object, ...]]:
    for kind in ERRORS:
        strict, checked = (by_rule(audits, kind, judge) for judge in JUDGES)
        for rule, found in strict.items():
            yield kind, rule, found.of, found.wrong, checked[rule].wrong if rule in checked else "-"


def _instance(one: VerdictAudit) -> tuple[object, ...]:
    told = (tally([one], kind, "strict") for kind in ERRORS)
    return one.instance_id, one.gold or "-", *map(_of, told), _of(one.hunks), percent(one.hunks)


def _wrong(audits: Sequence[VerdictAudit]) -> Iterator[tuple[object, ...]]:
    for kind in ERRORS:
        for audit, judge, wrong in judged(audits, kind, "strict"):
            if wrong:
                place = f"{judge.path}:{judge.line}"
                yield audit.instance_id, kind, judge.rule, place, judge.before, judge.after, judge.outcome


def _of(found: Tally) -> str:
    return f"{found.wrong} of {found.of}"


def percent(found: Tally) -> str:
    """A share for people."""
    return "-" if found.share is None else f"{found.share:.1%}"


def interval(found: Tally) -> str:
    """Wilson's interval of a share for people."""
    ends = wilson(*found)
    return f"{ends.low:.1%} to {ends.high:.1%}" if ends else "-"


def data(audits: Sequence[VerdictAudit]) -> dict[str, Any]:
    """The same numbers as plain data."""
    return {
        "errors": {
            judge: {error: _numbers(tally(audits, kind, judge)) for kind, error in ERRORS.items()} for judge in JUDGES
        },
        "classes": {
            judge: {
                kind: {rule: _numbers(one) for rule, one in by_rule(audits, kind, judge).items()} for kind in ERRORS
            }
            for judge in JUDGES
        },
        "instances": {one.instance_id: _one(one) for one in audits},
    }


def _one(audit: VerdictAudit) -> dict[str, Any]:
    errors = {error: _numbers(tally([audit], kind, "strict")) for kind, error in ERRORS.items()}
    strength = {"noticed": audit.hunks.wrong, "of": audit.hunks.of, "share": audit.hunks.share}
    return {"gold": audit.gold, "strict": errors, "test strength": strength, "left out": audit.left_out}


def _numbers(found: Tally) -> dict[str, Any]:
    ends = wilson(*found)
    return {"wrong": found.wrong, "of": found.of, "share": found.share, "interval": list(ends) if ends else None}
