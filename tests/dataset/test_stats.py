"""Statistics: in which group an instance counts, for each question."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from factories import FIX_PATCH, make_environment, make_instance, make_review

from pipeline.core.names import Repo
from pipeline.core.records import Review
from pipeline.core.store import Store, write_records
from pipeline.dataset.stats import TOTAL, UNASSIGNED, Rated, numbers, stats

UI, KIT = Repo("acme", "ui"), Repo("acme", "kit")
TESTS = {"a": "PFP", "b": "PPP", "c": "NSP", "d": "NNP", "e": "SFP", "f": "PPP"}
#: a second file with two hunks and five changed lines
LARGER = FIX_PATCH + (
    "diff --git a/b.css b/b.css\n--- a/b.css\n+++ b/b.css\n"
    "@@ -1,2 +1,2 @@\n-a\n-b\n+c\n+d\n@@ -9,2 +9,1 @@\n e\n--- f\n"
)


def group(name: str, *rated: Rated) -> dict[str, float]:
    return {key[1]: value for key, value in numbers(rated).items() if key[0] == name}


def of(tests: Mapping[str, str] = TESTS, reviews: tuple[Review, ...] = (), **overrides: object) -> Rated:
    return Rated(make_instance(tests=tests, **overrides), reviews)


@pytest.mark.rule("dataset-stats")
def test_tests_and_their_classes() -> None:
    quarantine = {"q": {"run": {"PASSED": 1, "FAILED": 2}}}
    assert group("tests", of(quarantine=quarantine), of()) == {"f2p": 4, "p2p": 4, "s2p": 2, "n2p": 2, "quarantined": 1}
    assert group("fixed tests", of()) == {"behavioural": 1, "new_test": 2, "re_enabled": 1}


@pytest.mark.rule("dataset-stats")
def test_special_instances_are_counted() -> None:
    snapshots = {name: f"{letters} snapshot" for name, letters in TESTS.items() if name in "acde"}
    some, all_of_them = ({**TESTS, **snapshots, "a": TESTS["a"]}, TESTS | snapshots)
    found = group("instances", of(), of(all_of_them), of(some))
    assert found["all"] == 3 and found["every fixed test by snapshot only"] == 1


@pytest.mark.rule("dataset-stats")
def test_the_sizes_of_gold_patches() -> None:
    """A removed line that looks like a header counts as a line."""
    found = {name: group(f"gold patch, {name}", of(), of(fix_patch=LARGER)) for name in ("files", "hunks", "lines")}
    assert found["files"] == {"min": 1, "median": 1.5, "mean": 1.5, "max": 2}
    assert found["hunks"] == {"min": 1, "median": 2, "mean": 2, "max": 3}
    assert found["lines"] == {"min": 2, "median": 4.5, "mean": 4.5, "max": 7}


@pytest.mark.rule("test-strength")
def test_strength_is_summarized_where_it_was_measured() -> None:
    rated = [of()._replace(strength=strength) for strength in (50.0, 100.0, None)]
    assert group("test strength, %", *rated) == {"min": 50, "median": 75, "mean": 75, "max": 100}
    assert group("test strength, %", of()) == {}


@pytest.mark.rule("only-tests-import")
def test_instances_with_files_that_only_tests_import() -> None:
    found = group("instances", of(moved=("a.js",)), of(moved=("b.js",)), of(needs=("c.js",)))
    assert (found["with files that only tests import"], found["that need such files"]) == (2, 1)


@pytest.mark.rule("dataset-stats")
def test_a_criterion_counts_once_for_an_instance_and_brings_its_principle() -> None:
    both = make_review(success_criteria=("4.1.2", "1.4.3"), principles=("robust",))
    rated = of(reviews=(both, make_review(rater="bob", principles=("operable",))))
    assert group("criterion", rated, of()) == {"1.4.3": 1, "4.1.2": 1, UNASSIGNED: 1}
    assert group("principle", rated, of()) == {"operable": 1, "perceivable": 1, "robust": 1, UNASSIGNED: 1}


@pytest.mark.rule("dataset-stats")
def test_instances_by_era_and_year() -> None:
    old = make_environment(node="8", manager="yarn", manager_version="1.22.22", runner_version="^19.0.2")
    rated = (of(), of(environment=old, merged_at="2018-01-02T00:00:00Z"), of(merged_at=""))
    assert group("era", *rated) == {"node 20, npm 10, jest 29": 2, "node 8, yarn 1, jest 19": 1}
    assert group("year", *rated) == {"2018": 1, "2024": 1, "unknown": 1}


def test_each_repository_and_all_together(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for repo, count in ((UI, 2), (KIT, 1)):
        write_records(store.dataset(repo), [make_instance(number, repo) for number in range(1, count + 1)])
    write_records(store.reviews(UI), [make_review(2)])
    found = stats(store, [UI, KIT])
    assert list(found) == ["acme/ui", "acme/kit", TOTAL]
    assert [counts["instances", "all"] for counts in found.values()] == [2, 1, 3]
    assert [counts.get(("criterion", "4.1.2"), 0) for counts in found.values()] == [1, 0, 1]
