"""Ratings that leave the viewer, and ratings from other tools."""

from __future__ import annotations

import ast
import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import factories
import pytest
from click.testing import CliRunner

from pipeline.core import journal
from pipeline.core.errors import UserError
from pipeline.core.reviews import decide_finally, newest_reviews
from pipeline.core.store import Store, write_records
from pipeline.triage import exchange
from pipeline.triage.cli import command
from pipeline.triage.stage import import_file

REPO = factories.REPO
#: an entry as the viewer of the thesis exports it
SEED = {
    "instance_id": "acme/ui-#1",
    "review_status": "needs-work",
    "is_accessibility_related": True,
    "insufficient_evidence": False,
    "wcag_codes": ["4.1.2", {"code": "2.4.3", "name": "Focus Order"}, "4.1.1"],
    "difficulty": "difficult",
    "issue_category": "new-feature",
    "test_quality": "Is Explicit",
    "labels": [{"name": "Is Explicit", "hoverText": "test ids"}],
    "custom_problem_statement": "The menu has no name.",
    "notes": "n",
    "evaluation_notes": "e",
    "confidence": 0.5,
}


def imported(tmp_path: Path, store: Store, text: str, rater: str = "") -> list[Any]:
    path = tmp_path / "metadata.json"
    path.write_text(text)
    import_file(store, REPO, path, rater)
    return newest_reviews(store, REPO)


@pytest.mark.parametrize("form", ["list", "object", "lines"])
def test_the_export_of_the_thesis_is_imported(store: Store, tmp_path: Path, form: str) -> None:
    """A criterion that WCAG 2.2 removed is left out."""
    bare = {name: value for name, value in SEED.items() if name != "instance_id"}
    texts = {
        "list": json.dumps([SEED], indent=1),
        "object": json.dumps({"acme/ui-#1": bare}),
        "lines": json.dumps(SEED) + "\n",
    }
    (one,) = imported(tmp_path, store, texts[form], "thesis")
    assert (one.instance_id, one.rater, one.status, one.difficulty) == (
        "acme__ui-1",
        "thesis",
        "needs-work",
        "difficult",
    )
    assert one.success_criteria == ("4.1.2", "2.4.3") and one.labels[0].hover_text == "test ids"
    assert (one.statement, one.note, one.evaluation_note) == ("The menu has no name.", "n", "e")
    assert (one.is_accessibility_related, one.insufficient_evidence, one.has_unit_test) == (True, False, None)


@pytest.mark.parametrize(
    ("fields", "criteria", "labels"),
    [
        ({"wcag_codes": "4.1.2"}, ("4.1.2",), ()),
        ({"wcag_codes": "4.1.2, 2.4.3"}, ("4.1.2", "2.4.3"), ()),
        ({"wcag_codes": ["4.1.2 Name, Role, Value", {"code": "4.1.2"}]}, ("4.1.2",), ()),
        ({"wcag": None, "wcag_categories": ["2.4.3"]}, ("2.4.3",), ()),
        ({"labels": "Is Explicit"}, (), ("Is Explicit",)),
        ({"labels": "one, two,"}, (), ("one", "two")),
        ({"labels": ["one", {"name": "two"}]}, (), ("one", "two")),
        ({"labels": None}, (), ()),
    ],
)
def test_a_list_may_be_a_comma_separated_text(
    store: Store, tmp_path: Path, fields: dict[str, Any], criteria: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    """The label `MTC` was read as M, T and C, which are unknown."""
    entry = {"instance_id": "acme__ui-1", "review_status": "accepted", **fields}
    (one,) = imported(tmp_path, store, json.dumps([entry]))
    assert (one.success_criteria, tuple(label.name for label in one.labels)) == (criteria, labels)


@pytest.mark.parametrize("text", ["[]", "{}", " [ ]\n"])
def test_an_empty_export_has_no_ratings(store: Store, tmp_path: Path, text: str) -> None:
    assert imported(tmp_path, store, text) == []


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", ":1", "invalid JSON"),
        ("3", "", "a list or an object of ratings is expected"),
        ('[["acme__ui-1"]]', "", "a list or an object of ratings is expected"),
        ('{"acme__ui-1": "accepted"}', "", "a list or an object of ratings is expected"),
        ('{"instance_id": "acme__ui-1", "review_status": "accepted"}\n3\n', ":2: field 'instance_id'", "is missing"),
        ('{"instance_id": "acme__ui-1", "review_status": "accepted"}\n{\n', ":2", "invalid JSON"),
        ('[{"instance_id": "acme__ui-1"}]', ":1: field 'review_status'", "is missing"),
        ('{"instance_id": "acme__ui-1", "status": "accepted", "status": "super"}', ":1", "'status' occurs twice"),
        ('{\n"acme__ui-1": {},\n"acme__ui-1": {}}', "", "'acme__ui-1' occurs twice"),
        ('[{"instance_id": "acme", "review_status": "accepted"}]', ":1: field 'instance_id'", "is not an instance"),
        ('[{"instance_id": "acme__ui-1", "review_status": "accepted", "labels": {"a": 1}}]', ":1", "is not a list"),
        ('[{"instance_id": "acme__ui-1", "false_negative": "bad"}]', ":1", "not a rating of a known format"),
        ('[{"instance_id": "acme__ui-1", "underspecified": 1e999}]', ":1", "not a rating of a known format"),
        (
            '[{"instance_id": "acme__ui-1", "review_status": "accepted", "build_error": "later"}]',
            ":1: field 'build_error'",
            "valid boolean",
        ),
        (
            '[{"instance_id": "acme__ui-1", "review_status": "accepted", "S1": "yes, nearly"}]',
            ":1: field 'conditions.S1'",
            "valid boolean",
        ),
        ('{"instance_id": "acme__ui-1", "rater": "a", "status": "fine"}', ":1: field 'status'", "Input should be"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_place(
    store: Store, tmp_path: Path, text: str, place: str, says: str
) -> None:
    with pytest.raises(UserError, match=says) as error:
        imported(tmp_path, store, text)
    assert f"metadata.json{place}: " in str(error.value) and not store.reviews(REPO).exists()


def test_a_text_that_means_no_is_false(store: Store, tmp_path: Path) -> None:
    """In Python, a non-empty text is true, so a candidate could not be built."""
    entry = {"instance_id": "acme__ui-1", "review_status": "accepted", "build_error": "false"}
    (review,) = imported(tmp_path, store, json.dumps([entry]))
    assert not review.build_error


@pytest.mark.parametrize(
    ("grades", "status", "difficulty"),
    [
        ({"underspecified": 0, "false_negative": 1, "difficulty": "<15 min fix"}, "accepted", "easy"),
        ({"underspecified": 2, "false_negative": 0, "difficulty": "1-4 hours"}, "needs-work", "difficult"),
        ({"underspecified": 0, "false_negative": 0, "other_major_issues": 3}, "needs-work", None),
    ],
)
def test_annotations_are_imported(
    store: Store, tmp_path: Path, grades: dict[str, Any], status: str, difficulty: str | None
) -> None:
    """They do not ask about accessibility, so none of them is super."""
    entry = {"instance_id": "acme__ui-1", "underspecified_notes": "why", **grades}
    (one,) = imported(tmp_path, store, json.dumps([entry]))
    assert (one.status, one.difficulty, one.note) == (status, difficulty, "why")
    assert one.solvable_from_issue_and_repo is (grades["underspecified"] < 2)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"review_status": None}, "status"),
        ({"review_status": "super"}, None),
        ({"wcag_codes": ["1.9.99"]}, "success_criteria.0"),
        ({"difficulty": "?"}, "difficulty"),
    ],
)
def test_an_invalid_rating_is_refused_and_no_rating_is_written(
    store: Store, tmp_path: Path, change: dict[str, Any], field: str | None
) -> None:
    with pytest.raises(UserError) as error:
        imported(tmp_path, store, json.dumps([SEED | {"test_quality": "Good Tests"}, SEED | change]))
    assert (error.value.line, error.value.field) == (2, field) and not store.reviews(REPO).exists()


OURS = '{"instance_id": "acme__ui-1", "rater": "ann", "status": "accepted", "time": "TIME"}\n'


@pytest.mark.rule("reviews-append-only")
@pytest.mark.parametrize(
    ("time", "stored"),
    [
        ("2025-01-31T12:00:00Z", "2025-01-31T12:00:00Z"),
        ("2025-01-31T12:00:00.9", "2025-01-31T12:00:00Z"),
        ("2025-01-31T12:00:00+02:00", "2025-01-31T10:00:00Z"),
        ("2025-01-31", "2025-01-31T00:00:00Z"),
        ("0999-01-31T12:00:00+00:00", "0999-01-31T12:00:00Z"),
    ],
)
def test_times_are_stored_in_one_form(store: Store, tmp_path: Path, time: str, stored: str) -> None:
    """The newest rating counts: times of other forms sort wrongly."""
    (one,) = imported(tmp_path, store, OURS.replace("TIME", time))
    assert one.time == stored


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("time", "says"),
    [
        ("soon", "'soon' is not a time"),
        ("zzz", "is not a time"),
        ("31.01.2025", "is not a time"),
        ("0001-01-01T00:00:00+05:00", "is not a time"),
        ("9999-12-31T23:59:59Z", "is in the future"),
    ],
)
def test_a_time_that_would_win_for_ever_is_refused(store: Store, tmp_path: Path, time: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as error:
        imported(tmp_path, store, OURS.replace("TIME", "2025-01-01T00:00:00Z") + OURS.replace("TIME", time))
    assert (error.value.line, error.value.field) == (2, "time") and not store.reviews(REPO).exists()


def test_the_clock_of_a_colleague_may_be_ahead(store: Store, tmp_path: Path) -> None:
    soon, later = ((datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ") for hours in (20, 72))
    (one,) = imported(tmp_path, store, OURS.replace("TIME", soon))
    assert one.time == soon
    with pytest.raises(UserError, match="is in the future"):
        imported(tmp_path, store, OURS.replace("TIME", later))


def called(store: Store, *words: str) -> str:
    result = CliRunner().invoke(command, ["export", *words, "--data", str(store.root)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def rated(store: Store) -> Store:
    """1 is super, 2 accepted; 3 is super too, but a person says that it cannot be built."""
    ratings = [factories.make_review(1, difficulty="easy"), factories.make_review(2, status="accepted")]
    journal.append(store.reviews(REPO), [*ratings, factories.make_review(3, build_error=True)])
    return store


def test_identifiers_are_exported_in_every_form(rated: Store) -> None:
    assert ast.literal_eval(called(rated).removeprefix("INSTANCES = ")) == ["acme__ui-1"]
    grouped = called(rated, "--status", "super", "--status", "accepted", "--group", "difficulty")
    assert ast.literal_eval(grouped.removeprefix("INSTANCES = ")) == {"easy": ["acme__ui-1"], "unknown": ["acme__ui-2"]}
    assert json.loads(called(rated, "--format", "json", "--with-errors")) == ["acme__ui-1", "acme__ui-3"]
    rows = list(csv.DictReader(io.StringIO(called(rated, "--format", "csv"))))
    assert [(row["instance_id"], row["difficulty"]) for row in rows] == [("acme__ui-1", "easy")]
    assert called(rated, "--repo", "acme/ui", "--status", "rejected") == "INSTANCES = []\n"


def test_candidates_that_could_not_be_built_are_marked(rated: Store) -> None:
    write_records(rated.qualification(REPO) / "rejections.jsonl", [factories.make_rejection(1)])
    assert called(rated, "--format", "json") == "[]\n"
    found = json.loads(called(rated, "--format", "metadata", "--with-errors"))
    assert [(row["instance_id"], row["build_error"], row["build_state"]) for row in found] == [
        ("acme__ui-1", True, "rejected: regression"),
        ("acme__ui-3", True, "not built"),
    ]


def test_exported_metadata_can_be_imported_again(rated: Store, tmp_path: Path) -> None:
    decide_finally(rated, REPO, [factories.make_review(1, rater="cleo", status="accepted", note="decided")])
    (one,) = json.loads(called(rated, "--format", "metadata", "--status", "accepted", "--repo", "acme/ui"))[:1]
    assert (one["decided_by"], one["review_status"], one["notes"]) == ("cleo", "accepted", "decided")
    assert [each["rater"] for each in one["ratings"]] == ["ann"] and one["patch"]["files"] == 2
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps([one]))
    (read,) = exchange.read(path, "back")
    assert (read.status, read.note, read.success_criteria) == ("accepted", "decided", ("4.1.2",))
