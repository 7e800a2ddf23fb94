"""The final record: the source's record, combined with people's decisions about it."""

from __future__ import annotations

from typing import Any

import pytest
from factories import make_candidate, make_rejection

from pipeline.collect.settle import IDENTITY, Outcome, conflicts, parsed, settle, with_fields
from pipeline.core.decisions import Standing, make
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Rejection

FILES = ("src/Menu.tsx", "src/Menu.test.tsx")
NAME = "acme__ui-1"


def decision(kind: str, **fields: Any) -> Any:
    return make(NAME, kind, **fields)


def setting(name: str, value: Any, before: Any = None) -> Standing:
    return Standing(fields={name: decision("set", field=name, value=value, before=before)})


def collected(**overrides: Any) -> Candidate:
    return make_candidate(1, **overrides)


def refused(**overrides: Any) -> Rejection:
    return make_rejection(1, stage="collect", reason="no_test_changes", **overrides)


@pytest.mark.parametrize("record", [collected(), refused(), None], ids=["candidate", "rejection", "nothing"])
def test_without_a_decision_the_source_counts(record: Outcome | None) -> None:
    assert settle(record, FILES, Standing()) == record


def test_a_candidate_can_be_excluded_with_a_reason() -> None:
    found = settle(collected(), FILES, Standing(place=decision("exclude", reason="only a typo")))
    assert isinstance(found, Rejection)
    assert (found.stage, found.reason, found.detail, found.issues) == ("collect", "excluded", "only a typo", (101,))


def test_a_rejection_can_be_excluded_and_keeps_its_issues() -> None:
    found = settle(refused(issues=(7, 8)), FILES, Standing(place=decision("exclude", reason="no")))
    assert isinstance(found, Rejection) and (found.reason, found.issues) == ("excluded", (7, 8))


def test_a_pull_request_that_was_not_collected_cannot_be_excluded() -> None:
    assert settle(None, FILES, Standing(place=decision("exclude", reason="no"))) is None


def test_the_record_of_a_decision_replaces_the_sources_record() -> None:
    """People edit candidates.jsonl: a line that they add or move is a decision with its own record."""
    own = collected(title="Mine").model_dump(mode="json")
    for record in (collected(), refused(), None):
        found = settle(record, FILES, Standing(place=decision("include", record=own)))
        assert isinstance(found, Candidate) and found.title == "Mine"
    moved = refused(detail="by hand").model_dump(mode="json")
    found = settle(collected(), FILES, Standing(place=decision("exclude", record=moved)))
    assert isinstance(found, Rejection) and found.detail == "by hand"


@pytest.mark.rule("chosen-by-hand")
def test_a_chosen_candidate_is_marked_and_keeps_the_filters_decision() -> None:
    filters = {"no_test_changes": True, "no_a11y_evidence": False}
    found = settle(collected(filters=filters), FILES, Standing(chosen=True))
    assert isinstance(found, Candidate) and found.chosen_by_hand and found.filters == filters


@pytest.mark.parametrize(
    ("filters", "reason", "issues"),
    [
        ({"no_test_changes": False, "no_a11y_evidence": False}, "no_test_changes", ()),
        ({"no_test_changes": True, "no_a11y_evidence": False}, "no_a11y_evidence", (101,)),
    ],
)
def test_a_pull_request_that_is_no_longer_chosen_gets_the_filters_decision(
    filters: dict[str, bool], reason: str, issues: tuple[int, ...]
) -> None:
    """The first failed filter gives the reason; issues were linked only if there was evidence."""
    found = settle(collected(filters=filters, chosen_by_hand=True), FILES, Standing())
    assert isinstance(found, Rejection)
    assert (found.reason, found.issues, found.detail) == (reason, issues, "; ".join(FILES))


def test_a_deselected_pull_request_that_passes_all_filters_stays_a_candidate() -> None:
    found = settle(collected(filters={"no_test_changes": True}, chosen_by_hand=True), FILES, Standing())
    assert isinstance(found, Candidate) and not found.chosen_by_hand


def test_a_rejection_names_few_files() -> None:
    many = [f"src/{number}.ts" for number in range(9)]
    found = settle(collected(filters={"no_test_changes": False}, chosen_by_hand=True), many, Standing())
    assert isinstance(found, Rejection) and found.detail == "; ".join(many[:5])


def test_fields_are_set_after_everything_else() -> None:
    standing = setting("title", "Better")._replace(chosen=True)
    found = settle(collected(filters={"no_a11y_evidence": False}), FILES, standing)
    assert isinstance(found, Candidate) and (found.title, found.chosen_by_hand) == ("Better", True)


def test_a_field_that_a_record_lacks_is_left_alone() -> None:
    """A title set for a candidate means nothing once it is a rejection."""
    assert with_fields(refused(), {"title": "Better"}) == refused()
    assert with_fields(refused(), {"title": "Better", "detail": "why"}) == refused(detail="why")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("record", "fields", "place"),
    [
        (collected(), {"labels": "a11y"}, "labels"),
        (collected(), {"statement_source": "nobody"}, "statement_source"),
        (collected(), {"resolved_issues": [{"title": "no number"}]}, "resolved_issues.0.number"),
        (refused(), {"issues": ["seven"]}, "issues.0"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_field(
    record: Outcome, fields: dict[str, Any], place: str
) -> None:
    with pytest.raises(UserError) as error:
        with_fields(record, fields)
    assert error.value.field == place and type(record).__name__ in str(error.value.hint)


@pytest.mark.rule("bad-input")
def test_a_record_that_is_neither_is_refused() -> None:
    with pytest.raises(UserError, match="a decision does not fit"):
        parsed({"instance_id": NAME, "reason": "excluded"})
    with pytest.raises(UserError) as error:
        parsed({"fix_patch": ""})
    assert "Candidate" in str(error.value.hint)


@pytest.mark.parametrize(
    ("standing", "message"),
    [
        (setting("title", "Mine", before=collected().title), []),
        (setting("title", collected().title, before="Before"), []),
        (setting("title", "Mine", before="Before"), ["acme__ui-1: the source changed title since"]),
        (setting("detail", "Mine"), ["acme__ui-1: the source no longer has the field detail that"]),
    ],
    ids=["unchanged", "the source agrees by now", "changed", "another kind of record"],
)
def test_a_change_of_the_source_under_a_decision_is_reported(standing: Standing, message: list[str]) -> None:
    found = list(conflicts(collected(), standing))
    assert len(found) == len(message) and all(map(str.startswith, found, message))


def test_a_decision_about_a_missing_record_is_reported() -> None:
    (conflict,) = conflicts(None, setting("title", "Mine", before="Before"))
    assert "no longer has the field title" in conflict


def test_identifying_fields_exist_in_candidates_or_rejections() -> None:
    assert set(Candidate.model_fields) | set(Rejection.model_fields) >= IDENTITY
