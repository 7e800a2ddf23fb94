"""Flakes: what the runs of a patch say together, and what gold did in the same situation.

A run is repeated if only tests fail that passed before the fix, or time ran out. Tests to be fixed must pass every
time. A test that passes in one of the runs is flaky if gold flips it too, and broken otherwise. Gold is asked only if
the verdict depends on it, and once per instance. Pure: `request` runs, `kept` stores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.core import verdict
from pipeline.core.records import Outcome, Status
from pipeline.execution.run import TestRun

#: repeats of a patch's run, at most; runs of gold that tell what it flips
REPEATS, OF_GOLD = 2, 10


class Graded(NamedTuple):
    """All that a run decides; what a verdict adds is only who made the patch."""

    outcome: Outcome
    cause: str = ""
    fields: dict[str, Any] = {}


#: what gold does in its repeats, by test, where it disagrees with itself: status -> count
Flips = Mapping[str, Mapping[str, int]]


def due(runs: Sequence[TestRun], graded: Sequence[Graded]) -> bool:
    """Whether the run of a patch is repeated once more: each of the runs so far (and how it fares by itself) asks."""
    return len(runs) <= REPEATS and all(map(_asks, runs, graded))


def _asks(run: TestRun, graded: Graded) -> bool:
    only_broken = graded.outcome is Outcome.UNRESOLVED and not graded.fields.get("unfixed")
    return run.end == "timeout" or run.end == "ran" and only_broken


def doubtful(runs: Sequence[TestRun], graded: Sequence[Graded]) -> frozenset[str]:
    """The tests whose failure gold decides about: each of those that failed passes in another run, and all else is
    well. None where it would change nothing."""
    ended = _ended(runs, graded)
    if not all(_asks(run, one) or one.outcome is Outcome.RESOLVED for run, one in ended):
        return frozenset()
    failed, never = _broken([one for _, one in ended])
    return frozenset() if never else frozenset(failed)


def settled(runs: Sequence[TestRun], graded: Sequence[Graded], flips: Flips) -> Graded:
    """How a patch fares by all its runs. One that took too long says nothing, unless all did."""
    ended = [one for _, one in _ended(runs, graded)]
    if not ended:
        return graded[0]
    for one in ended:
        if one.outcome not in (Outcome.RESOLVED, Outcome.UNRESOLVED) or one.fields["unfixed"]:
            return one
    failed, never = _broken(ended)
    flaky = (failed.keys() - never) & flips.keys()
    broken = {name: status for name, status in failed.items() if name not in flaky}
    outcome = Outcome.UNRESOLVED if broken else Outcome.RESOLVED
    late = len(runs) - len(ended)
    cause = f"the tests took too long in {late} of {len(runs)} runs" if late else ""
    return ended[-1]._replace(
        outcome=outcome, cause=cause, fields=ended[-1].fields | {"broken": broken, "flaky": tuple(sorted(flaky))}
    )


def flips(runs: Sequence[TestRun]) -> dict[str, dict[str, int]]:
    """The tests, and files, that do not do the same in all of gold's runs that came to their end."""
    return verdict.agree([{**run.suites, **run.results} for run in runs if run.end == "ran" and not run.doubts])[1]


def _ended(runs: Sequence[TestRun], graded: Sequence[Graded]) -> list[tuple[TestRun, Graded]]:
    return [(run, one) for run, one in zip(runs, graded, strict=True) if run.end != "timeout"]


def _broken(graded: Collection[Graded]) -> tuple[dict[str, Status], set[str]]:
    """The tests that fail in some run, and those of them that fail in each."""
    all_of_them = [one.fields["broken"] for one in graded]
    failed = {name: status for broken in reversed(all_of_them) for name, status in sorted(broken.items())}
    return failed, set(failed).intersection(*all_of_them) if all_of_them else set()
