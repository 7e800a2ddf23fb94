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
    checks = {name: text for name, text in MEANINGS.items() if name not in left_out}
    if as_json:
        wrong = {name: counts[name] for name in checks}
        _json({"wrong": wrong, "findings": [finding._asdict() for finding in found]})
        return
    table("Checks", ("check", "meaning", "wrong"), [(name, text, counts[name]) for name, text in checks.items()])
    if found:
        table("Problems", ("instance", "check", "detail"), found)


def stressed(results: Sequence[Stress], *, as_json: bool) -> None:
    """Flips by instance and level, then the tests to blame, then the sum of each level."""
    if as_json:
        _json([result._asdict() for result in results])
        return
    header = ("instance", "jobs", "repeats", "flips", "not evaluated")
    table("Repeated runs of gold's tests", header, [result[:5] for result in results])
    blamed = [(result.instance, result.jobs, name, count) for result in results for name, count in result.blame.items()]
    if blamed:
        table("What flipped", ("instance", "jobs", "test, or how the run ended", "runs"), blamed)
    for jobs in dict.fromkeys(result.jobs for result in results):
        level = [result for result in results if result.jobs == jobs]
        flips, runs = sum(result.flips for result in level), sum(result.repeats for result in level)
        sums = counted(flips, "flip"), counted(runs, "run"), counted(len(level), "instance"), counted(jobs, "job")
        click.echo("{} in {} of {} at {}".format(*sums))


def differences(found: Sequence[Difference], total: int, *, as_json: bool) -> None:
    """Every fact that differs, and the number of instances that match the list."""
    if as_json:
        _json([difference._asdict() for difference in found])
        return
    if found:
        table("Differences", ("instance", "fact", "in the list", "rebuilt"), found)
    differing = {difference.instance for difference in found}
    click.echo(f"{total - len(differing)} of {total} instances match the list")
    if alike := len(differing - {difference.instance for difference in found if difference.is_telling}):
        click.echo(f"in {alike} of the others, only digests of environment and image differ: all tests end as listed")


def agreement(compared: Sequence[Agreement], problems: Sequence[Exception], *, as_json: bool) -> None:
    """Every instance, then the differences, then the totals. Unreadable records are printed to stderr."""
    sums = totals(compared)
    if as_json:
        rows = [
            comparison._asdict()
            | {"word": comparison.word, "differences": [difference._asdict() for difference in comparison.differences]}
            for comparison in compared
        ]
        _json({"totals": sums._asdict(), "classes": CLASSES, "instances": rows})
    else:
        header = ("instance", "here", "names", "same", "not run here", "differ", "in a word", "classes")
        table("Instances", header, [_instance(comparison) for comparison in compared])
        different = [difference for comparison in compared for difference in comparison.differences]
        if different:
            table("Differences", ("instance", "test", "theirs", "ours", "class", "evidence"), different)
            classes = [(name, text, sums.classes[name]) for name, text in CLASSES.items() if name in sums.classes]
            table("Classes", ("class", "meaning", "tests"), classes)
        click.echo(
            f"{sums.qualified} of {sums.instances} qualify; of these {sums.agree} agree in every test, "
            f"{sums.explained} differ and are explained"
            + (f", {sums.nothing} have nothing to compare" if sums.nothing else "")
        )
    for problem in problems:
        say(f"left out: {problem}")


def _instance(comparison: Agreement) -> tuple[object, ...]:
    kinds = Counter(difference.kind for difference in comparison.differences)
    text = ", ".join(f"{name} {count}" for name, count in sorted(kinds.items()))
    return *comparison[:5], len(comparison.differences), comparison.word, text


def numbers(by_repo: Mapping[str, Numbers], form: str) -> None:
    """Statistics as a `table`, `csv` (repository, group, name, value) or `json` (nested in that order)."""
    {"table": _table, "csv": _csv, "json": _nested}[form](by_repo)


def _table(by_repo: Mapping[str, Numbers]) -> None:
    repos = list(by_repo) if len(by_repo) > 2 else list(by_repo)[:1]  # with one repository, the total is the same
    rows = [(*key, *(by_repo[name].get(key, 0) for name in repos)) for key in by_repo[TOTAL]]
    table("Datasets", ("group", "name", *repos), rows)


def _csv(by_repo: Mapping[str, Numbers]) -> None:
    rows = [(repo, *key, value) for repo, values in by_repo.items() for key, value in values.items()]
    csv.writer(sys.stdout, lineterminator="\n").writerows([("repo", "group", "name", "value"), *rows])


def _nested(by_repo: Mapping[str, Numbers]) -> None:
    nested: dict[str, Any] = {}
    for repo, values in by_repo.items():
        for (group, name), value in values.items():
            nested.setdefault(repo, {}).setdefault(group, {})[name] = value
    _json(nested)


def _json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2))
