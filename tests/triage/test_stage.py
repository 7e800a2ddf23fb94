"""Ratings are appended, and each rater's newest one for a candidate counts; a rating of an unknown candidate is
refused."""

from __future__ import annotations

import json
from pathlib import Path

import factories
import pytest

from pipeline.core.errors import UserError
from pipeline.core.records import Review
from pipeline.core.reviews import newest_reviews
from pipeline.core.store import Store, read_records, write_records
from pipeline.triage.stage import add, import_file, undo

REPO = factories.REPO


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two candidates."""
    made = Store(tmp_path / "data")
    write_records(made.raw(REPO) / "candidates.jsonl", [factories.make_candidate(number) for number in (1, 2)])
    return made


def kept(store: Store) -> list[tuple[str, str, str]]:
    return [(review.instance_id, review.rater, review.status) for review in newest_reviews(store, REPO)]


@pytest.mark.rule("reviews-append-only")
def test_a_later_rating_of_the_same_rater_counts(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is replaced: the earlier rating stays in the file, and the change is reported."""
    add(store, REPO, [factories.make_review(1), factories.make_review(2)])
    before = store.reviews(REPO).read_bytes()
    add(
        store,
        REPO,
        [factories.make_review(1, status="rejected"), factories.make_review(1, rater="bob", status="accepted")],
    )
    assert kept(store) == [
        ("acme__ui-1", "ann", "rejected"),
        ("acme__ui-2", "ann", "super"),
        ("acme__ui-1", "bob", "accepted"),
    ]
    assert store.reviews(REPO).read_bytes().startswith(before)
    assert all(review.time for review in read_records(store.reviews(REPO), Review))
    assert "acme__ui-1: ann rated super before and rejected now" in capsys.readouterr().err


@pytest.mark.rule("reviews-append-only")
def test_an_older_rating_that_is_imported_later_does_not_count(store: Store, tmp_path: Path) -> None:
    add(store, REPO, [factories.make_review(1)])
    old = factories.make_review(1, status="rejected", time="2020-01-02T03:04:05Z")
    write_records(tmp_path / "old.jsonl", [old])
    import_file(store, REPO, tmp_path / "old.jsonl")
    assert kept(store) == [("acme__ui-1", "ann", "super")]
    assert old in read_records(store.reviews(REPO), Review)


def test_an_identical_rating_adds_nothing(store: Store) -> None:
    add(store, REPO, [factories.make_review(1)])
    before = store.reviews(REPO).read_bytes()
    add(store, REPO, [factories.make_review(1)])
    assert store.reviews(REPO).read_bytes() == before


@pytest.mark.rule("reviews-append-only")
def test_a_file_that_is_imported_again_adds_nothing(store: Store, tmp_path: Path) -> None:
    """Colleagues send each other whole files; all but each rater's last rating used to be appended every time."""
    ratings = [
        factories.make_review(1, status=status, time=f"2025-01-0{day}T00:00:00Z", undo=day == 3)
        for day, status in enumerate(("accepted", "super", "accepted"), 1)
    ]
    write_records(tmp_path / "theirs.jsonl", ratings)
    for _ in range(3):
        import_file(store, REPO, tmp_path / "theirs.jsonl")
        assert read_records(store.reviews(REPO), Review) == ratings
    assert kept(store) == [("acme__ui-1", "ann", "accepted")]


def test_an_earlier_rating_may_be_repeated(store: Store) -> None:
    """Even within one second: the last one counts."""
    for status in ("super", "rejected", "super"):
        add(store, REPO, [factories.make_review(1, status=status)])
    assert kept(store) == [("acme__ui-1", "ann", "super")]


def test_an_undo_without_its_rating_has_no_effect(store: Store, tmp_path: Path) -> None:
    """In a part of somebody's file: undoing once more ended the viewer's page in a traceback."""
    write_records(tmp_path / "part.jsonl", [factories.make_review(1, undo=True, time="2025-01-01T00:00:00Z")])
    import_file(store, REPO, tmp_path / "part.jsonl")
    assert not undo(store, REPO, "acme__ui-1", "ann") and kept(store) == [("acme__ui-1", "ann", "super")]
    add(store, REPO, [factories.make_review(1, status="rejected")])
    assert undo(store, REPO, "acme__ui-1", "ann") and kept(store) == []


@pytest.mark.rule("bad-input")
def test_an_unknown_candidate_is_refused_with_the_available_ones(store: Store) -> None:
    with pytest.raises(UserError, match="unknown candidate 'acme__ui-9'") as error:
        add(store, REPO, [factories.make_review(1), factories.make_review(9)])
    assert "available: acme__ui-1, acme__ui-2" in str(error.value)
    assert kept(store) == []


def test_ratings_are_imported_from_a_file(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    write_records(path, [factories.make_review(1), factories.make_review(2, rater="model-a")])
    found = import_file(store, REPO, path)
    assert found == read_records(store.reviews(REPO), Review) == newest_reviews(store, REPO)
    assert [review.model_copy(update={"time": ""}) for review in found] == read_records(path, Review)


@pytest.mark.rule("bad-input")
def test_a_broken_rating_is_named_and_nothing_is_written(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    good = factories.make_review(1).model_dump(mode="json")
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | {'principles': ['usable']})}\n")
    with pytest.raises(UserError) as error:
        import_file(store, REPO, path)
    assert (error.value.path, error.value.line, error.value.field) == (path, 2, "principles.0")
    assert kept(store) == []
    with pytest.raises(UserError, match="no such file"):
        import_file(store, REPO, tmp_path / "gone.jsonl")
