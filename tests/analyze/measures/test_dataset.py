"""Tables on the dataset; conftest's small data directory, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from analyze.measures.conftest import rows

from pipeline.analyze.measures import dataset


@pytest.mark.rule("table-4.1")
def test_funnel_counts_totals_and_the_median_share(tables):
    """RULES, Mining: the columns of the thesis's table 4.1; the median of two shares is their mean."""
    assert rows(
        tables, "funnel", "repository", "total", "tests", "a11y", "a11y %", "issues", "sample", "without issue"
    ) == [
        "acme/forms 1 1 1 100.0 1 1 0",
        "acme/ui 7 5 4 80.0 4 4 1",
        "all 8 6 5 90.0 5 5 1",
    ]


def test_qualification_counts_kept_and_pending_candidates(tables):
    """Candidates 1 and 2 are rated super, 4 bad, 3 and 5 not at all; nobody rated forms."""
    columns = ("repository", "candidates", "kept", "qualified", "rejected", "pending", "qualified %")
    assert rows(tables, "qualification", *columns) == [
        "acme/forms 1 – 1 0 0 100.0",
        "acme/ui 5 2 3 1 1 75.0",
        "all 6 – 4 1 1 80.0",
    ]


def test_an_instance_without_candidate_does_not_change_the_pending_count(frames):
    """A dataset can come from elsewhere; pending candidates are counted by name, so their number is never negative."""
    elsewhere = frames.candidates[frames.candidates["number"] == 5]
    table = dataset.qualification(replace(frames, candidates=elsewhere))
    assert table[["candidates", "qualified", "rejected", "pending"]].iloc[1].tolist() == [1, 3, 1, 1]


def test_rejections_by_reason(tables):
    assert rows(tables, "rejections") == ["collect no_test_changes acme/ui 2", "build regression acme/ui 1"]


def test_composition_of_the_dataset(tables):
    columns = (
        "repository",
        "instances",
        "with issue",
        "first year",
        "gold files median",
        "gold lines median",
        "expected median",
    )
    assert rows(tables, "composition", *columns) == [
        "acme/forms 1 1 2024 1.0 2.0 2.0",
        "acme/ui 3 2 2024 1.0 2.0 2.0",
        "all 4 3 2024 1.0 2.0 2.0",
    ]


@pytest.mark.rule("two-denominators")
def test_principles_over_criteria_and_over_instances(tables):
    """RULES, Analysis. Instance 1 has two criteria of one principle and one of another, 2 has one, two have none."""
    assert rows(tables, "principles") == [
        "perceivable 2 50.0 1 25.0",
        "operable 1 25.0 1 25.0",
        "robust 1 25.0 1 25.0",
        "unassigned 0 0.0 2 50.0",
    ]


def test_success_criteria(tables):
    assert rows(tables, "success_criteria") == ["1.1.1 perceivable 1", "1.3.1 perceivable 1", "4.1.2 robust 1"]


def test_classes_of_instances(tables):
    assert rows(tables, "classes") == [
        "difficulty easy 1 25.0",
        "difficulty difficult 1 25.0",
        "difficulty unknown 2 50.0",
        "size 1 file 4 100.0",
        "statement_source issue 3 75.0",
        "statement_source pull_request 1 25.0",
        "year 2024 4 100.0",
    ]
