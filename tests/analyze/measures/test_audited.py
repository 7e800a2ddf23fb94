"""Tables on the errors of our verdicts; conftest's small data directory, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from analyze.measures.conftest import rows

from pipeline import analyze


@pytest.mark.rule("verifier-error")
def test_errors_of_either_judge_with_their_intervals(tables):
    """Variants that were not run do not count, nor do instances that gold does not resolve; where the checker says
    nothing, the tests' verdict is its verdict."""
    assert rows(tables, "verdict_errors", "judge", "error", "wrong", "judged", "wrong %", "wrong interval") == [
        "tests false negative 1 2 50.0 9.5–90.5",
        "tests false positive 1 2 50.0 9.5–90.5",
        "tests and checker false negative 1 2 50.0 9.5–90.5",
        "tests and checker false positive 0 2 0.0 0.0–65.8",
    ]


@pytest.mark.rule("verifier-error")
def test_errors_of_either_judge_by_instance(tables):
    columns = ("instance id", "judge", "error", "wrong", "judged", "wrong interval")
    assert rows(tables, "verdict_errors_by_instance", *columns) == [
        "acme__ui-1 tests false negative 1 2 9.5–90.5",
        "acme__ui-1 tests false positive 1 2 9.5–90.5",
        "acme__ui-1 tests and checker false negative 1 2 9.5–90.5",
        "acme__ui-1 tests and checker false positive 0 2 0.0–65.8",
    ]


@pytest.mark.rule("verifier-error")
def test_variants_of_one_instance_are_no_independent_samples(frames):
    """Two instances whose variants all end alike are two samples, not four."""
    first = frames.audits[frames.audits["variant"] == "same"]
    second = first.assign(instance_id="acme__ui-2", strict=False)
    audits = pd.concat([first.assign(strict=True), second])
    made = analyze.tables(replace(frames, audits=audits))
    found = rows(made, "verdict_errors", "judge", "error", "wrong", "judged", "wrong interval")
    assert found[0] == "tests false negative 2 4 9.5–90.5"
    assert rows(made, "verdict_errors_by_instance", "judge", "wrong interval")[0] == "tests 0.0–65.8"


def test_errors_by_rule(tables):
    assert rows(tables, "verdict_errors_by_rule", "variant", "rule", "judged", "wrong", "wrong checked") == [
        "harmful role inverted 1 0 0",
        "harmful text changed 1 1 0",
        "same form 1 0 0",
        "same names 1 1 1",
    ]


@pytest.mark.rule("test-strength")
def test_strength_is_in_its_table_and_in_the_frame_of_instances(tables, frames):
    assert rows(tables, "test_strength") == ["acme__ui-1 2 1 50.0"]
    strength = frames.instances.set_index("instance_id")["test_strength"]
    assert (strength["acme__ui-1"], strength.drop("acme__ui-1").isna().all()) == (50, True)
