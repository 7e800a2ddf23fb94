"""Records of schema 1 as records of schema 2: how each field is converted, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from factories import make_instance, make_prediction, make_review, make_verdict

from pipeline.core.errors import UserError
from pipeline.core.record import SCHEMA_VERSION, Versioned
from pipeline.core.records import Instance, Outcome, Prediction, Review, Verdict
from pipeline.migrate.records import CHANGES, converted

LETTERS = {"P": "passed_tests", "F": "failed_tests", "S": "skipped_tests"}
RUNS = ("run_result", "test_patch_result", "fix_patch_result")
DERIVED = ("fixed_tests", "p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests", "classes")


def plain(record: Versioned) -> dict[str, Any]:
    return record.model_dump(mode="json")


def old_instance(tests: dict[str, str]) -> dict[str, Any]:
    """An instance as schema 1 stored it: each run's tests by status, and the lists derived from them."""
    new = make_instance(tests=tests)
    old = {name: value for name, value in plain(new).items() if name not in ("tests", "tool")}
    for place, field in enumerate(RUNS):
        counts = {
            name: [test for test, text in tests.items() if text[place] == letter] for letter, name in LETTERS.items()
        }
        old[field] = counts
    old |= {name: getattr(new, name) for name in DERIVED}
    old["environment"] = {**old["environment"], "schema_version": 1}
    return old | {"schema_version": 1}


TESTS = {
    "Menu > has a name": "PFP",
    "Menu > is new": "NNP",
    "Menu > was skipped": "SSP",
    "Menu > opens": "PPP",
    "Menu > looks": "PFP snapshot",
    "Menu > breaks": "FFF",
}


def test_the_lists_of_tests_become_one_table() -> None:
    new = Instance.model_validate(converted(Instance, old_instance(TESTS)))
    assert new.tests == TESTS
    assert new.fixed_tests.keys() == make_instance(tests=TESTS).fixed_tests.keys()


def test_the_version_of_the_program_is_not_known() -> None:
    """Schema 1 did not record it, and this program did not write the record."""
    new = converted(Instance, old_instance(TESTS))
    assert (new["schema_version"], new["tool"]) == (SCHEMA_VERSION, "")


@pytest.mark.parametrize("field", ["f2p_tests", "p2p_tests", "fixed_tests"])
def test_lists_that_contradict_the_runs_are_refused(field: str) -> None:
    old = old_instance(TESTS)
    old[field] = {**old[field], "Menu > nobody ran": "x"}
    with pytest.raises(UserError, match="does not follow from the results") as error:
        converted(Instance, old)
    assert error.value.field == field and "qualify it again" in str(error.value.hint)


def test_classes_that_contradict_the_runs_are_refused() -> None:
    old = old_instance(TESTS)
    old["classes"] = dict.fromkeys(old["classes"], "other")
    with pytest.raises(UserError) as error:
        converted(Instance, old)
    assert error.value.field == "classes"


def test_a_verdict_keeps_the_statuses_of_tests_that_did_not_pass() -> None:
    verdict = make_verdict(make_prediction(), Outcome.UNRESOLVED)
    old = {name: value for name, value in plain(verdict).items() if name != "tool"} | {"schema_version": 1}
    old |= {"tests": {"a": "FAILED", "b": "PASSED"}, "unfixed": ["a", "gone"], "broken": []}
    new = Verdict.model_validate(converted(Verdict, old))
    assert {test: str(status) for test, status in new.unfixed.items()} == {"a": "FAILED", "gone": "NONE"}
    assert new.broken == {}


@pytest.mark.parametrize(("old", "new"), [("super", "super"), ("rejected", "rejected")])
def test_unchanged_names_of_ratings_are_kept(old: str, new: str) -> None:
    record = plain(make_review(status=old)) | {"schema_version": 1}
    assert converted(Review, record)["status"] == new


def test_a_record_without_a_change_keeps_its_fields() -> None:
    prediction = make_prediction()
    old = {name: value for name, value in plain(prediction).items() if name != "tool"} | {"schema_version": 1}
    assert Prediction.model_validate(converted(Prediction, old)) == prediction.model_copy(update={"tool": ""})


@pytest.mark.parametrize("kind", list(CHANGES), ids=lambda kind: kind.__name__)
def test_a_record_of_schema_2_is_returned_unchanged(kind: type[Versioned]) -> None:
    for record in ({"schema_version": SCHEMA_VERSION, "any": "field"}, {"any": "field"}):
        assert converted(kind, record) is record


def test_the_original_is_not_changed() -> None:
    old = old_instance(TESTS)
    before = repr(old)
    converted(Instance, old)
    assert repr(old) == before
