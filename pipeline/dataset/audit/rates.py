"""The shares of wrong verdicts with their intervals, as tables for people and as plain data for programs.

Variants of one gold patch depend on each other, so intervals over several instances are for clustered samples.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import click

from pipeline.core.audit import JUDGES, Judge, Kind, Tally, VerdictAudit, by_rule, judged, tally
from pipeline.core.console import table
from pipeline.report.statistics import Interval, of_clusters

#: kind of variant -> the name of a wrong verdict on it
ERRORS: dict[Kind, str] = {"same": "false negatives", "harmful": "false positives"}
JUDGE = {"strict": "tests", "checked": "tests with checker"}


def present(audits: Sequence[VerdictAudit], *, as_json: bool) -> None:
    """Print the results of an audit."""
    if as_json:
        click.echo(json.dumps(data(audits), indent=2))
        return
    table("Errors of our verdicts", ("judge", "error", "wrong", "of", "share", "95% interval"), list(_errors(audits)))
    head = ("kind", "class", "of", *(f"wrong: {name}" for name in JUDGE.values()))
    table("By class", head, list(_classes(audits)))
    wrong = (f"{kind}: wrong ({name})" for name in JUDGE.values() for kind in ERRORS)
    head = ("instance", "gold", *wrong, "hunks noticed", "test strength")
    table("By instance", head, [_instance(audit) for audit in audits])
    if rows := list(_wrong_verdicts(audits)):
        table("Wrong verdicts", ("instance", "kind", "class", "place", "gold", "variant", "outcome"), rows)


def _errors(audits: Sequence[VerdictAudit]) -> Iterator[tuple[object, ...]]:
    for judge in JUDGES:
        for kind, error in ERRORS.items():
            counts = tally(audits, kind, judge)
            yield JUDGE[judge], error, *counts, percent(counts), as_text(interval(audits, kind, judge))


def _classes(audits: Sequence[VerdictAudit]) -> Iterator[tuple[object, ...]]:
    for kind in ERRORS:
        strict, checked = (by_rule(audits, kind, judge) for judge in JUDGES)
        for rule, counts in strict.items():
            yield kind, rule, counts.of, counts.wrong, checked[rule].wrong if rule in checked else "-"


def _instance(audit: VerdictAudit) -> tuple[object, ...]:
    tallies = (tally([audit], kind, judge) for judge in JUDGES for kind in ERRORS)
    return audit.instance_id, audit.gold or "-", *map(_of, tallies), _of(audit.hunks), percent(audit.hunks)


def _wrong_verdicts(audits: Sequence[VerdictAudit]) -> Iterator[tuple[object, ...]]:
    for kind in ERRORS:
        for audit, judge, wrong in judged(audits, kind, "strict"):
            if wrong:
                location = f"{judge.path}:{judge.line}"
                yield audit.instance_id, kind, judge.rule, location, judge.before, judge.after, judge.outcome


def _of(counts: Tally) -> str:
    return f"{counts.wrong} of {counts.of}"


def percent(counts: Tally) -> str:
    """A share for people."""
    return "-" if counts.share is None else f"{counts.share:.1%}"


def as_text(ends: Interval | None) -> str:
    """An interval for people."""
    return f"{ends.low:.1%} to {ends.high:.1%}" if ends else "-"


def interval(audits: Sequence[VerdictAudit], kind: Kind, judge: Judge, rule: str | None = None) -> Interval | None:
    """The interval of the share of wrong verdicts on a kind, or on one class of it; None without any verdict."""
    found: dict[str, list[bool]] = defaultdict(list)
    for audit, variant, wrong in judged(audits, kind, judge):
        if rule in (None, variant.rule):
            found[audit.instance_id].append(wrong)
    return of_clusters([(len(verdicts), sum(verdicts)) for verdicts in found.values()])


def data(audits: Sequence[VerdictAudit]) -> dict[str, Any]:
    """The same numbers as plain data."""
    return {
        "errors": {judge: {error: _numbers(audits, kind, judge) for kind, error in ERRORS.items()} for judge in JUDGES},
        "classes": {
            judge: {
                kind: {rule: _numbers(audits, kind, judge, rule) for rule in by_rule(audits, kind, judge)}
                for kind in ERRORS
            }
            for judge in JUDGES
        },
        "instances": {audit.instance_id: _audit_data(audit) for audit in audits},
    }


def _audit_data(audit: VerdictAudit) -> dict[str, Any]:
    errors: dict[str, Any] = {
        judge: {error: _numbers([audit], kind, judge) for kind, error in ERRORS.items()} for judge in JUDGES
    }
    strength = {"noticed": audit.hunks.wrong, "of": audit.hunks.of, "share": audit.hunks.share}
    return {"gold": audit.gold, **errors, "test strength": strength, "left out": audit.left_out}


def _numbers(audits: Sequence[VerdictAudit], kind: Kind, judge: Judge, rule: str | None = None) -> dict[str, Any]:
    counts = tally(audits, kind, judge) if rule is None else by_rule(audits, kind, judge)[rule]
    ends = interval(audits, kind, judge, rule)
    return {"wrong": counts.wrong, "of": counts.of, "share": counts.share, "interval": list(ends) if ends else None}
