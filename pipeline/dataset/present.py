"""The output of the `dataset` commands: tables for people, JSON and CSV for programs."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click

from pipeline.core.console import counted, say, table
from pipeline.dataset.agree import CLASSES, Agreement, totals
from pipeline.dataset.check import Finding
from pipeline.dataset.examine import MEANINGS
from pipeline.dataset.rebuild import Difference
from pipeline.dataset.stats import TOTAL, Numbers
from pipeline.dataset.stress import Stress


def findings(found: Sequence[Finding], left_out: Collection[str], *, as_json: bool) -> None:
    """How often each check failed, then its findings; the checks in `left_out` were not made."""
    counts = Counter(finding.check for finding in found)
    made = {name: text for name, text in MEANINGS.items() if name not in left_out}
    if as_json:
        wrong = {name: counts[name] for name in made}
        _json({"wrong": wrong, "findings": [finding._asdict() for finding in found]})
        return
    table("Checks", ("check", "meaning", "wrong"), [(name, text, counts[name]) for name, text in made.items()])
    if found:
        table("Problems", ("instance", "check", "detail"), found)


def stressed(found: Sequence[Stress], *, as_json: bool) -> None:
    """Flips by instance and level, then the tests to blame, then the sum of each level."""
    if as_json:
        _json([one._asdict() for one in found])
        return
    header = ("instance", "jobs", "repeats", "flips", "not evaluated")
    table("Repeated runs of gold's tests", header, [one[:5] for one in found])
    blamed = [(one.instance, one.jobs, name, count) for one in found for name, count in one.blame.items()]
    if blamed:
        table("What flipped", ("instance", "jobs", "test, or how the run ended", "runs"), blamed)
    for jobs in dict.fromkeys(one.jobs for one in found):
        level = [one for one in found if one.jobs == jobs]
        flips, runs = sum(one.flips for one in level), sum(one.repeats for one in level)
        sums = counted(flips, "flip"), counted(runs, "run"), counted(len(level), "instance"), counted(jobs, "job")
        click.echo("{} in {} of {} at {}".format(*sums))


def differences(found: Sequence[Difference], total: int, *, as_json: bool) -> None:
    """Every fact that differs, and the number of instances that match the list."""
    if as_json:
        _json([one._asdict() for one in found])
        return
    if found:
        table("Differences", ("instance", "fact", "in the list", "rebuilt"), found)
    click.echo(f"{total - len({one.instance for one in found})} of {total} instances match the list")


def agreement(compared: Sequence[Agreement], problems: Sequence[Exception], *, as_json: bool) -> None:
    """Every instance, then the differences, then the totals. Unreadable records are printed to stderr."""
    whole = totals(compared)
    if as_json:
        rows = [
            one._asdict() | {"word": one.word} | {"differences": [d._asdict() for d in one.differences]}
            for one in compared
        ]
        _json({"totals": whole._asdict(), "classes": CLASSES, "instances": rows})
    else:
        header = ("instance", "here", "names", "same", "not run here", "differ", "in a word", "classes")
        table("Instances", header, [_instance(one) for one in compared])
        different = [each for one in compared for each in one.differences]
        if different:
            table("Differences", ("instance", "test", "theirs", "ours", "class", "evidence"), different)
            met = {name: text for name, text in CLASSES.items() if name in whole.classes}
            table("Classes", ("class", "meaning", "tests"), [(n, text, whole.classes[n]) for n, text in met.items()])
        click.echo(
            f"{whole.qualified} of {whole.instances} qualify; of these {whole.agree} agree in every test, "
            f"{whole.explained} differ and are explained"
        )
    for problem in problems:
        say(f"left out: {problem}")


def _instance(one: Agreement) -> tuple[object, ...]:
    kinds = Counter(each.kind for each in one.differences)
    text = ", ".join(f"{name} {count}" for name, count in sorted(kinds.items()))
    return one.instance, one.outcome, one.listed, one.same, one.not_run, len(one.differences), one.word, text


def numbers(found: Mapping[str, Numbers], form: str) -> None:
    """Statistics as a `table`, `csv` (repository, group, name, value) or `json` (nested in that order)."""
    {"table": _table, "csv": _csv, "json": _nested}[form](found)


def _table(found: Mapping[str, Numbers]) -> None:
    repos = list(found) if len(found) > 2 else list(found)[:1]  # with one repository, the total is the same
    rows = [(*key, *(found[name].get(key, 0) for name in repos)) for key in found[TOTAL]]
    table("Datasets", ("group", "name", *repos), rows)


def _csv(found: Mapping[str, Numbers]) -> None:
    rows = [(repo, *key, value) for repo, counted in found.items() for key, value in counted.items()]
    csv.writer(sys.stdout, lineterminator="\n").writerows([("repo", "group", "name", "value"), *rows])


def _nested(found: Mapping[str, Numbers]) -> None:
    nested: dict[str, Any] = {}
    for repo, numbers in found.items():
        for (group, name), value in numbers.items():
            nested.setdefault(repo, {}).setdefault(group, {})[name] = value
    _json(nested)


def _json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2))
