"""Transitions, qualification and resolution: pure functions over one table, `transitions.csv`.

Reads only that table. A test that is missing from a run has the status NONE. The table follows the published rule of
Multi-SWE-bench (arXiv 2504.02605), but is stricter: there, some lost or skipped tests count as fixed.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from pipeline.core.record import Record


class Status(StrEnum):
    """The result of one test in one run; NONE is a test that was missing."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"
    NONE = "NONE"


class Triple(Record):
    """A test's status in the three runs of the qualification."""

    run: Status
    test: Status
    fix: Status


#: classes of fixed tests: `snapshot_only` failed by its snapshot alone, so that only the exact markup passes it;
#: `new_test` was not in the base, `re_enabled` was skipped there; `behavioural` is any other
TransitionClass = Literal["behavioural", "snapshot_only", "new_test", "re_enabled"]


class Counts(Record):
    """One run's result in Multi-SWE-bench's form."""

    passed_count: int
    failed_count: int
    skipped_count: int
    passed_tests: tuple[str, ...]
    failed_tests: tuple[str, ...]
    skipped_tests: tuple[str, ...]


Results = Mapping[str, Status]
Quarantine = dict[str, dict[str, dict[str, int]]]


class Rule(NamedTuple):
    """One row of the table: a transition's kind, its effect on qualification, and whether evaluation expects it."""

    kind: str
    effect: str
    must_pass: bool


class Qualification(NamedTuple):
    """`reason` is empty when the instance qualifies; `evidence` names the tests behind the decision."""

    reason: str
    evidence: tuple[str, ...]


class Resolution(NamedTuple):
    """Tests to be fixed that pass, and the status of those that do not and of other expected tests that fail."""

    fixed: tuple[str, ...]
    unfixed: dict[str, Status]
    broken: dict[str, Status]

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

#: status of a fixed test in the base -> its class; tests that ran there changed their behavior
CLASSES: dict[Status, TransitionClass] = {Status.NONE: "new_test", Status.SKIPPED: "re_enabled"}


@cache
def table() -> dict[Triple, Rule]:
    """The rules of all 64 triples."""
    rows = csv.DictReader(files("pipeline.core").joinpath("transitions.csv").read_text(encoding="utf-8").splitlines())
    return {
        Triple(**{run: Status(row[run]) for run in Triple.model_fields}): Rule(
            row["class"], row["qualification"], row["evaluation"] == "must pass"
        )
        for row in rows
    }


def agree(repeats: Sequence[Results]) -> tuple[dict[str, Status], dict[str, dict[str, int]]]:
    """The common result of several repeats, and the status counts of tests whose repeats disagree."""
    names = sorted(set().union(*repeats))
    counts = {name: Counter(result.get(name, Status.NONE) for result in repeats) for name in names}
    unstable = {name: {str(status): n for status, n in c.items()} for name, c in counts.items() if len(c) > 1}
    return {name: next(iter(counts[name])) for name in names if name not in unstable}, unstable


def quarantine(unstable: Mapping[str, Mapping[str, dict[str, int]]]) -> Quarantine:
    """Turn run -> test -> counts into test -> run -> counts."""
    names = sorted(set().union(*unstable.values()))
    return {name: {run: tests[name] for run, tests in unstable.items() if name in tests} for name in names}


def counts(results: Results) -> Counts:
    """One run's result in the exported form."""
    by = {status: tuple(sorted(name for name, was in results.items() if was is status)) for status in Status}
    passed, failed, skipped = by[Status.PASSED], by[Status.FAILED], by[Status.SKIPPED]
    return Counts(
        passed_count=len(passed),
        failed_count=len(failed),
        skipped_count=len(skipped),
        passed_tests=passed,
        failed_tests=failed,
        skipped_tests=skipped,
    )


#: the suffix to the letters of a test that failed by its snapshot alone
SNAPSHOT = " snapshot"
_LETTERS = {status.value[0]: status for status in Status}


def written(triples: Mapping[str, Triple], by_snapshot: Collection[str] = ()) -> dict[str, str]:
    """The transitions of tests in their stored form: `PFP` is passed, failed, passed; ` snapshot` marks a fixed test
    that failed by its snapshot alone."""
    marked = fixed(triples).keys() & set(by_snapshot)
    return {name: _letters(triple) + (SNAPSHOT if name in marked else "") for name, triple in triples.items()}


def _letters(triple: Triple) -> str:
    return "".join(status.value[0] for _, status in triple)


@cache
def read(letters: str) -> Triple:
    """The transition that is stored as these letters."""
    run, test, fix = (_LETTERS[letter] for letter in letters.removesuffix(SNAPSHOT))
    return Triple(run=run, test=test, fix=fix)


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


def resolve(to_fix: Iterable[str], expected: Iterable[str], results: Results) -> Resolution:
    """Compare a patch's results with the expected ones. A test that does not pass is unfixed if it is one of `to_fix`
    (tests that did not pass without gold), else broken. Missing and skipped tests do not pass."""
    target = set(to_fix)
    passing = {name for name, status in results.items() if status is Status.PASSED}

    def missed(names: set[str]) -> dict[str, Status]:
        return {name: results.get(name, Status.NONE) for name in sorted(names - passing)}

    return Resolution(tuple(sorted(target & passing)), missed(target), missed(set(expected) - target))
