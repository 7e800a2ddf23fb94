"""Transitions, qualification and resolution: pure functions over one table, `transitions.csv`.

Reads no file but that table, runs nothing. A test that is missing from a run is NONE there. The table's rule is the
published one of Multi-SWE-bench (arXiv 2504.02605), stricter where a lost or skipped test passed for a fix.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pipeline.core.records import Counts, Status, TransitionClass, Triple
from pipeline.core.store import digest

Results = Mapping[str, Status]
Quarantine = dict[str, dict[str, dict[str, int]]]


class Rule(NamedTuple):
    """One row of the table: what a transition is, what it does to qualification, whether evaluation expects it."""

    kind: str
    effect: str
    must_pass: bool


class Qualification(NamedTuple):
    """`reason` is empty when the instance qualifies; `evidence` names the tests behind the decision."""

    reason: str
    evidence: tuple[str, ...]


class Resolution(NamedTuple):
    fixed: tuple[str, ...]
    unfixed: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def resolved(self) -> bool:
        return not self.unfixed and not self.broken


#: the table's words for a rejection -> the closed list of reasons in records
REASONS = {
    "regression": "regression",
    "test lost": "test_lost",
    "gold does not fix it": "gold_does_not_fix",
    "anomalous": "anomalous",
}

#: what a fixed test was in the base -> its class; all that ran there changed their behaviour
CLASSES: dict[Status, TransitionClass] = {Status.NONE: "new_test", Status.SKIPPED: "re_enabled"}


def table_digest() -> str:
    """The digest of the law: what was decided by another one is stale."""
    return digest(files("pipeline.core").joinpath("transitions.csv").read_bytes())


@cache
def table() -> dict[Triple, Rule]:
    """All 64 triples."""
    with files("pipeline.core").joinpath("transitions.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {
        Triple(run=row["run"], test=row["test"], fix=row["fix"]): Rule(
            row["class"], row["qualification"], row["evaluation"] == "must pass"
        )
        for row in rows
    }


def agree(repeats: Sequence[Results]) -> tuple[dict[str, Status], dict[str, dict[str, int]]]:
    """One result of several repeats, and the counts of the tests that disagree with themselves."""
    names = sorted(set().union(*repeats))
    counts = {name: Counter(result.get(name, Status.NONE) for result in repeats) for name in names}
    unstable = {name: {str(status): n for status, n in c.items()} for name, c in counts.items() if len(c) > 1}
    return {name: next(iter(counts[name])) for name in names if name not in unstable}, unstable


def quarantine(unstable: Mapping[str, Mapping[str, dict[str, int]]]) -> Quarantine:
    """Turn run -> test -> counts into test -> run -> counts."""
    names = sorted(set().union(*unstable.values()))
    return {name: {run: tests[name] for run, tests in unstable.items() if name in tests} for name in names}


def statuses(counts: Counts) -> dict[str, Status]:
    """One run's stored result, by test."""
    named = zip(Status, (counts.passed_tests, counts.failed_tests, counts.skipped_tests), strict=False)
    return {name: status for status, names in named for name in names}


def transitions(run: Results, test: Results, fix: Results) -> dict[str, Triple]:
    """Every test's three statuses, by name."""
    names = sorted({*run, *test, *fix})
    none = Status.NONE
    return {n: Triple(run=run.get(n, none), test=test.get(n, none), fix=fix.get(n, none)) for n in names}


def qualify(triples: Mapping[str, Triple]) -> Qualification:
    """At least one `fixes` and no `rejects`."""
    rejects: dict[str, list[str]] = {}
    for name, triple in triples.items():
        verb, _, why = table()[triple].effect.partition(": ")
        if verb == "rejects":
            rejects.setdefault(REASONS[why], []).append(name)
    if rejects:
        reason = next(word for word in REASONS.values() if word in rejects)
        return Qualification(reason, tuple(rejects[reason]))
    fixes = fixing(triples)
    return Qualification("" if fixes else "no_fix_transition", tuple(fixes))


def fixing(triples: Mapping[str, Triple]) -> dict[str, Triple]:
    """The tests that the gold patch fixes: any -> FAILED -> PASSED."""
    return {name: triple for name, triple in triples.items() if table()[triple].effect == "fixes"}


def fixed(triples: Mapping[str, Triple]) -> dict[str, Triple]:
    """The tests that pass with the gold patch and did not before it: f2p, s2p and n2p."""
    return {n: t for n, t in triples.items() if table()[t].must_pass and t.test is not Status.PASSED}


def classify(triples: Mapping[str, Triple], by_snapshot: Collection[str]) -> dict[str, TransitionClass]:
    """The class of each fixed test; `by_snapshot` are those that failed by snapshot alone."""
    return {n: "snapshot_only" if n in by_snapshot else CLASSES.get(t.run, "behavioural") for n, t in triples.items()}


def by_kind(triples: Mapping[str, Triple], prefix: str) -> dict[str, Triple]:
    """The tests that evaluation expects, of one class (`p2p`, `f2p`, `s2p`, `n2p`)."""
    return {n: t for n, t in triples.items() if table()[t].must_pass and table()[t].kind.startswith(prefix)}


def resolve(fail_to_pass: Iterable[str], expected: Iterable[str], results: Results) -> Resolution:
    """Compare a candidate's results with what is expected. Missing and skipped tests do not pass."""
    target = set(fail_to_pass)
    passing = {name for name, status in results.items() if status is Status.PASSED}
    return Resolution(
        fixed=tuple(sorted(target & passing)),
        unfixed=tuple(sorted(target - passing)),
        broken=tuple(sorted(set(expected) - target - passing)),
    )
