"""What datasets consist of, in numbers: by repository, and in total.

Reads instances, reviews and audits, writes nothing. `GROUPS` are the categories in which instances are counted;
`_sizes` are the measures of gold patches. Sizes and test strength have minimum, median, mean and maximum.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pipeline.core.audit import VerdictAudit
from pipeline.core.dataset import read_dataset
from pipeline.core.names import Repo
from pipeline.core.patches import diff_counts, paths
from pipeline.core.records import Instance, Review
from pipeline.core.reviews import newest_reviews
from pipeline.core.store import Store, read_records
from pipeline.core.wcag import PRINCIPLES

#: the beginning of a hunk: every line in one begins with another character
_HUNK = re.compile(r"^@@ -", re.MULTILINE)
TOTAL = "total"
UNASSIGNED = "unassigned"

#: (group, name) -> number, groups in the order of the tables
Numbers = dict[tuple[str, str], float]


class Rated(NamedTuple):
    """An instance with its reviews, and its tests' strength in percent if it was measured."""

    instance: Instance
    reviews: tuple[Review, ...] = ()
    strength: float | None = None


def _instances(entry: Rated) -> Mapping[str, int]:
    instance = entry.instance
    return {
        "all": 1,
        "every fixed test by snapshot only": int(len(instance.snapshot_only) == len(instance.fixed_tests)),
        "with quarantined tests": int(bool(instance.quarantine)),
        "with deviations": int(bool(instance.deviations)),
        "chosen by hand": int(instance.chosen_by_hand),
        "with files that only tests import": int(bool(instance.moved)),
        "that need such files": int(bool(instance.needs)),
    }


def _tests(entry: Rated) -> Mapping[str, int]:
    kinds = {kind: len(getattr(entry.instance, f"{kind}_tests")) for kind in ("f2p", "p2p", "s2p", "n2p")}
    return kinds | {"quarantined": len(entry.instance.quarantine)}


def _criteria(entry: Rated) -> Iterable[str]:
    return {name for review in entry.reviews for name in review.success_criteria} or {UNASSIGNED}


def _principles(entry: Rated) -> Iterable[str]:
    """The principles that raters named, and those of the criteria: a criterion's first digit is its principle."""
    named = {name for review in entry.reviews for name in review.principles}
    criteria = {name for review in entry.reviews for name in review.success_criteria}
    return named | {PRINCIPLES[int(name[0]) - 1] for name in criteria} or {UNASSIGNED}


def _era(entry: Rated) -> Iterable[str]:
    """`node 20, yarn 4, jest 29`: the major versions."""
    environment = entry.instance.environment
    parts = (
        ("node", environment.node),
        (environment.manager, environment.manager_version),
        (environment.runner, environment.runner_version),
    )
    return [", ".join(" ".join([name, *re.findall(r"\d+", version)[:1]]) for name, version in parts)]


#: group -> the names under which an instance counts, once each or with a number
GROUPS: dict[str, Callable[[Rated], Iterable[str] | Mapping[str, int]]] = {
    "instances": _instances,
    "tests": _tests,
    "fixed tests": lambda entry: entry.instance.classes.values(),
    "scope": lambda entry: [entry.instance.scope],
    "statement": lambda entry: [entry.instance.statement_source],
    "principle": _principles,
    "criterion": _criteria,
    "era": _era,
    "year": lambda entry: [entry.instance.merged_at[:4] or "unknown"],
}

#: the statistics of a size
MEASURES: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "median": statistics.median,
    "mean": lambda values: round(statistics.fmean(values), 2),
    "max": max,
}


def _sizes(patch: str) -> Mapping[str, int]:
    return {"files": len(paths(patch)), "hunks": len(_HUNK.findall(patch)), "lines": sum(diff_counts(patch))}


def numbers(rated: Sequence[Rated]) -> Numbers:
    """All numbers of some instances (at least one), by group and name."""
    strengths = [entry.strength for entry in rated if entry.strength is not None]
    measured = {("test strength, %", name): measure(strengths) for name, measure in MEASURES.items() if strengths}
    return _counts(rated) | _spread([_sizes(entry.instance.fix_patch) for entry in rated]) | measured


def _counts(rated: Sequence[Rated]) -> Numbers:
    counted = {group: Counter[str]() for group in GROUPS}
    for group, names in GROUPS.items():
        for entry in rated:
            counted[group].update(names(entry))
    return {(group, name): counts[name] for group, counts in counted.items() for name in sorted(counts)}


def _spread(sizes: Sequence[Mapping[str, int]]) -> Numbers:
    return {
        (f"gold patch, {unit}", name): measure([counts[unit] for counts in sizes])
        for unit in sizes[0]
        for name, measure in MEASURES.items()
    }


def stats(store: Store, repos: Sequence[Repo]) -> dict[str, Numbers]:
    """The numbers by repository, and in total. Raises UserError for a repository without a dataset."""
    rated = {str(repo): _rated(store, repo) for repo in repos}
    everything = [entry for entries in rated.values() for entry in entries]
    return {name: numbers(entries) for name, entries in rated.items()} | {TOTAL: numbers(everything)}


def _rated(store: Store, repo: Repo) -> list[Rated]:
    reviews: dict[str, tuple[Review, ...]] = {}
    for review in newest_reviews(store, repo):
        reviews[review.instance_id] = (*reviews.get(review.instance_id, ()), review)
    audits = {audit.instance_id: audit.hunks.share for audit in read_records(store.audit(repo), VerdictAudit)}
    strength = {name: round(100 * share, 1) for name, share in audits.items() if share is not None}
    return [
        Rated(instance, reviews.get(instance.instance_id, ()), strength.get(instance.instance_id))
        for instance in read_dataset(store, repo)
    ]
