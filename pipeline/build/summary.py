"""The result of a build in numbers: `02_dataset/<repo>/summary.json`, and a table for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.build.batch import TIMINGS
from pipeline.build.budget import Budget
from pipeline.build.plan import Planned
from pipeline.build.qualify import NOT_EVALUATED, QUALIFIED, Outcome, kind
from pipeline.build.reasons import REASONS
from pipeline.core.console import clock, say, table
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Rejection
from pipeline.core.sizes import show_size
from pipeline.core.store import read_json
from pipeline.core.timing import KINDS

#: the file of these numbers
SUMMARY = "summary.json"
#: kinds of outcomes other than rejections -> their meaning for people
MEANINGS = {QUALIFIED: "instances of the dataset", "undecided": "the build was stopped early: run the command again"}
#: reasons for a rejection that end a run before anything is measured
LIMITS = ("timeout", "output_limit", "disk_limit", "process_limit")


def summarize(units: Sequence[Planned], decided: Mapping[str, Outcome], budget: Budget) -> dict[str, Any]:
    """The instances by outcome, the causes of missing evaluations, seconds by kind, and disk use in bytes.

    `overhead` is the share of the seconds that went neither into installs nor into test processes.
    """
    instances = defaultdict[str, list[str]](list)
    for unit in units:
        instances[kind(decided[unit.name]) if unit.name in decided else "undecided"].append(unit.name)
    causes = {
        outcome.instance_id: outcome.detail
        for outcome in decided.values()
        if isinstance(outcome, Rejection) and outcome.reason == NOT_EVALUATED
    }
    seconds = _seconds(units)
    worked = sum(seconds.values()) - seconds["waiting"]
    return {
        "counts": {name: len(ids) for name, ids in instances.items()},
        "instances": instances,
        "causes": causes,
        "bases": _bases(units, decided),
        "seconds": seconds,
        "overhead": round(seconds["other"] / worked, 3) if worked else 0,
        "disk": {"used": budget.used, "limit": budget.limit},
    }


def _bases(units: Sequence[Planned], decided: Mapping[str, Outcome]) -> dict[str, Any]:
    """Of the candidates whose install ended: how many bases are well, and which are not. A base that met a limit has no
    health, and is not well."""
    ended = {unit.name: decided[unit.name] for unit in units if unit.name in decided}
    bases = {name: outcome.health for name, outcome in ended.items() if outcome.health or kind(outcome) in LIMITS}
    sick = [name for name, health in bases.items() if not (health and health.well)]
    return {"installed": len(bases), "well": len(bases) - len(sick), "sick": sick}


def _seconds(units: Sequence[Planned]) -> dict[str, float]:
    """Seconds by kind, summed over all units of this build and earlier ones."""
    spent = [read_json(path) for unit in units if (path := unit.unit.folder / TIMINGS).exists()]
    return {name: round(sum(timings[name] for timings in spent), 1) for name in KINDS}


def show(repo: Repo, figures: Mapping[str, Any]) -> None:
    """The counts as a table on stdout, time and causes on stderr."""
    order = sorted(figures["counts"].items(), key=lambda row: (row[0] != QUALIFIED, -row[1]))
    meanings = REASONS | MEANINGS
    rows = [(name, count, meanings[name], _numbers(figures["instances"][name])) for name, count in order]
    table(f"Dataset of {repo}", ("outcome", "count", "meaning", "pull requests"), rows)
    for instance, cause in figures["causes"].items():
        more = "; give each run more with --memory" if cause.startswith("out_of_memory") else ""
        say(f"not evaluated: {instance}: {cause.splitlines()[0]}{more}")
    bases = figures["bases"]
    say(f"bases: {bases['well']} of {bases['installed']} installed bases are well")
    for instance in bases["sick"]:
        say(f"sick: {instance}")
    seconds, disk = figures["seconds"], figures["disk"]
    spent = ", ".join(f"{name} {clock(seconds[name])}" for name in ("install", "tests", "other"))
    say(f"time: {spent} (overhead {figures['overhead']:.1%}); images of all builds: {show_size(disk['used'])}")


def _numbers(instances: Sequence[str]) -> str:
    return " ".join(f"#{parse_instance_id(instance)[1]}" for instance in instances)
