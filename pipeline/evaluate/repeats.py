"""Flakes: what all runs of a patch show together, and what gold does in the same situation.

A run is repeated if the only tests that fail are tests that passed before the fix, or if it timed out. Tests to be
fixed must pass every time. A test that passes in only some of the runs is flaky if gold flips it, too, and broken
otherwise. If one of the runs timed out, gold must time out sometimes, too. Gold is repeated only if the verdict depends
on it, and once per instance; in disguise as well, since a test that gold fails there proves nothing. Pure: `request`
runs, `kept` stores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.core import verdict
from pipeline.core.records import Outcome, Status
from pipeline.execution.run import TestRun

#: the maximum number of repeats of a patch's run; and the numbers of gold's runs that show which tests are flaky:
#: undisguised ones, and disguised ones in addition
REPEATS, OF_GOLD, OF_DISGUISED = 2, 10, 4
#: what precedes the name of a test that gold does not always pass in disguise
IN_DISGUISE = "disguised: "
#: the name that stands among tests for a run that timed out
TIME = "(time limit)"


class Graded(NamedTuple):
    """Everything that a run decides about a patch. A verdict only adds who made the patch."""

    outcome: Outcome
    cause: str = ""
    fields: dict[str, Any] = {}


#: for each test whose status differs among gold's repeats: status -> count
Flips = Mapping[str, Mapping[str, int]]


def due(runs: Sequence[TestRun], graded: Sequence[Graded]) -> bool:
    """Whether to repeat the run of a patch once more: each of the runs so far may be a flake."""
    return len(runs) <= REPEATS and all(map(_may_be_flaky, runs, graded))


def _may_be_flaky(run: TestRun, graded: Graded) -> bool:
    only_broken = graded.outcome is Outcome.UNRESOLVED and not graded.fields.get("unfixed")
    return run.end == "timeout" or run.end == "ran" and only_broken


def doubtful(runs: Sequence[TestRun], graded: Sequence[Graded]) -> frozenset[str]:
    """The failed tests (TIME included) for which gold's repeats decide: each passes in another run, and nothing else
    failed. Empty if gold would change nothing."""
    ended = _ended(runs, graded)
    if not all(_may_be_flaky(run, grade) or grade.outcome is Outcome.RESOLVED for run, grade in ended):
        return frozenset()
    failed, always_failed = _broken([grade for _, grade in ended])
    late = {TIME} if 0 < len(ended) < len(runs) else set()
    return frozenset() if always_failed else frozenset(failed) | late


def settled(runs: Sequence[TestRun], graded: Sequence[Graded], flips: Flips) -> Graded:
    """The grade of a patch by all its runs. Runs that timed out are ignored if not all did, and gold's sometimes do,
    too."""
    ended = [grade for _, grade in _ended(runs, graded)]
    if not ended:
        return graded[0]
    for grade in ended:
        if grade.outcome not in (Outcome.RESOLVED, Outcome.UNRESOLVED) or grade.fields["unfixed"]:
            return grade
    failed, always_failed = _broken(ended)
    flaky = (failed.keys() - always_failed) & flips.keys()
    broken = {name: status for name, status in failed.items() if name not in flaky}
    outcome = Outcome.UNRESOLVED if broken else Outcome.RESOLVED
    late = len(runs) - len(ended)
    cause = f"the tests took too long in {late} of {len(runs)} runs" if late else ""
    if late and not broken and TIME not in flips:
        outcome, cause = Outcome.TIMEOUT, f"{cause}, and never with gold"
    return ended[-1]._replace(
        outcome=outcome, cause=cause, fields=ended[-1].fields | {"broken": broken, "flaky": tuple(sorted(flaky))}
    )


def flips(runs: Sequence[TestRun], disguised: Sequence[TestRun] = ()) -> dict[str, dict[str, int]]:
    """The tests and files whose status differs among gold's completed runs; TIME if some ran out of it. And the tests
    that fail in one of its `disguised` runs, which are made in each build that a patch may see."""
    late = sum(run.end == "timeout" for run in runs)
    times = {TIME: {"timeout": late, "ran": len(runs) - late}} if late else {}
    hidden = _completed(disguised)
    failing = {name for results in hidden for name, status in results.items() if status is not Status.PASSED}
    counts = {name: Counter(str(results.get(name, Status.NONE)) for results in hidden) for name in failing}
    in_disguise = {f"{IN_DISGUISE}{name}": dict(count) for name, count in sorted(counts.items())}
    return verdict.agree(_completed(runs))[1] | times | in_disguise


def _completed(runs: Sequence[TestRun]) -> list[dict[str, Status]]:
    return [{**run.suites, **run.results} for run in runs if run.end == "ran" and not run.doubts]


def _ended(runs: Sequence[TestRun], graded: Sequence[Graded]) -> list[tuple[TestRun, Graded]]:
    return [(run, grade) for run, grade in zip(runs, graded, strict=True) if run.end != "timeout"]


def _broken(graded: Collection[Graded]) -> tuple[dict[str, Status], set[str]]:
    """The tests that fail in some run, and those that fail in every run."""
    all_broken = [grade.fields["broken"] for grade in graded]
    failed = {name: status for broken in reversed(all_broken) for name, status in sorted(broken.items())}
    return failed, set(failed).intersection(*all_broken) if all_broken else set()
