"""The catalog behind the viewer: searching, filtering, counting, and noticing changes on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import REPO, make_candidate, make_instance, make_rejection, make_review

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.record import digest
from pipeline.core.records import Review
from pipeline.core.store import Store, write_records
from pipeline.triage.catalog import FILTERS, PENDING, Catalog, Tail

OTHER = Repo("acme", "forms")


@pytest.fixture
def catalog(store: Store) -> Catalog:
    return Catalog(store)


def found(catalog: Catalog, words: str = "", **filters: str) -> list[int]:
    """The numbers of the candidates found, in their order."""
    return [listed.row.number for listed in catalog.search(words, filters).listed]


def append(path: Path, *reviews: Review) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(f"{review.model_dump_json()}\n" for review in reviews)


def rate(store: Store, number: int, **fields: object) -> None:
    append(store.reviews(REPO), make_review(number, **fields))


# -- searching ---------------------------------------------------------------------------------------------------------
def test_the_newest_are_first(catalog: Catalog) -> None:
    assert found(catalog) == [2, 1, 3]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("keyboard", [2]),
        ("KEYB", [2]),
        ("traps dialog", [2]),
        ("dialog menu", []),
        ("acme__ui-3", [3]),
        ("screen reader", [1]),
        ("owned", [3]),
        ('"', []),
        ("'", []),
        ("keyboard\x00", [2]),
        ("OR", []),
        ("text:keyboard", []),
        ("*", []),
        ("   ", [2, 1, 3]),
        ("", [2, 1, 3]),
    ],
)
def test_words_are_found_by_their_prefix(catalog: Catalog, words: str, numbers: list[int]) -> None:
    """A person's text is never a query of the index: quotes, operators and control characters are words."""
    assert found(catalog, words) == numbers


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({"repo": "acme/ui"}, [2, 1, 3]),
        ({"repo": "acme/forms"}, []),
        ({"status": "not rated"}, [2, 1, 3]),
        ({"status": ""}, [2, 1, 3]),
        ({"evidence": "aria"}, [2, 1, 3]),
        ({"build": PENDING}, [2, 1, 3]),
    ],
)
def test_filters(catalog: Catalog, filters: dict[str, str], numbers: list[int]) -> None:
    assert found(catalog, **filters) == numbers


def test_ratings_are_filters(catalog: Catalog, store: Store) -> None:
    rate(store, 1, rater="ann", status="super", difficulty="easy")
    rate(store, 2, rater="ann", status="rejected", success_criteria=(), principles=("operable",))
    rate(store, 2, rater="bob", status="super", success_criteria=("2.1.1",), principles=())
    assert found(catalog, status="super") == [1]
    assert found(catalog, status="disagreement") == [2]
    assert found(catalog, reviewer="bob") == [2]
    assert found(catalog, reviewer="ann") == [2, 1]
    assert found(catalog, difficulty="easy") == [1]
    assert found(catalog, criterion="2.1.1") == [2]
    assert found(catalog, principle="operable") == [2]
    assert found(catalog, principle="robust", status="super") == [1]


def test_a_final_decision_replaces_the_ratings(catalog: Catalog, store: Store) -> None:
    rate(store, 1, rater="ann", status="super")
    rate(store, 1, rater="bob", status="rejected", success_criteria=(), principles=())
    append(store.finals(REPO), make_review(1, rater="eve", success_criteria=("1.1.1",), principles=("perceivable",)))
    assert found(catalog, status="super") == [1]
    assert found(catalog, criterion="4.1.2") == [] and found(catalog, criterion="1.1.1") == [1]


def test_the_outcome_of_stage_02_is_a_filter(catalog: Catalog, store: Store) -> None:
    write_records(store.dataset(REPO), [make_instance(1)])
    write_records(store.qualification(REPO) / "rejections.jsonl", [make_rejection(2, reason="no_fix_transition")])
    assert found(catalog, build="qualified") == [1]
    assert found(catalog, build="rejected: no_fix_transition") == [2]
    assert found(catalog, build=PENDING) == [3]


def test_the_values_of_a_filter_are_counted_as_if_it_were_not_set(catalog: Catalog, store: Store) -> None:
    """Otherwise only the selected value could be selected."""
    rate(store, 1, status="super")
    search = catalog.search("", {"status": "super"})
    assert search.counts["status"] == {"super": 1, "not rated": 2}
    assert search.counts["repo"] == {"acme/ui": 1} and search.total == 3


def test_candidates_that_fail_two_filters_are_in_no_count(catalog: Catalog, store: Store) -> None:
    rate(store, 1, status="super", rater="ann")
    counts = catalog.search("", {"status": "super", "reviewer": "bob"}).counts
    assert counts["reviewer"] == {"ann": 1} and counts["status"] == {}


def test_every_filter_is_counted(catalog: Catalog) -> None:
    assert catalog.search("", {}).counts.keys() == FILTERS.keys()


# -- changes on disk ---------------------------------------------------------------------------------------------------
def test_a_new_candidate_is_found_by_its_words(catalog: Catalog, store: Store) -> None:
    assert found(catalog, "wizard") == []
    path = store.raw(REPO) / "candidates.jsonl"
    append_line = make_candidate(4, title="Name the wizard", merged_at="2026-01-01T00:00:00Z").model_dump_json()
    path.write_text(path.read_text() + append_line + "\n")
    assert found(catalog, "wizard") == [4] and found(catalog)[0] == 4


def test_a_removed_candidate_is_no_longer_found(catalog: Catalog, store: Store) -> None:
    write_records(store.raw(OTHER) / "candidates.jsonl", [make_candidate(7, OTHER, title="Name the wizard")])
    assert found(catalog, "wizard") == [7]
    (store.raw(OTHER) / "candidates.jsonl").unlink()
    (store.raw(OTHER)).rmdir()
    assert found(catalog, repo="acme/forms") == [] and found(catalog) == [2, 1, 3]


def test_a_rating_renews_only_its_own_entry(catalog: Catalog, store: Store) -> None:
    catalog.refresh()
    before = dict(catalog.shelves()[0].entries)
    rate(store, 1, status="super")
    after = catalog.shelves()[0].entries
    assert [name for name, entry in after.items() if entry is not before[name]] == ["acme__ui-1"]


def test_a_candidate_is_read_from_its_own_line(catalog: Catalog) -> None:
    shelf, listed = catalog.get("acme/ui#2")
    assert shelf.candidate(listed.row).title == "Dialog traps the keyboard"
    assert (listed.row.files, listed.row.added, listed.row.removed) == (2, 2, 2)


def test_an_unknown_candidate_lists_the_available_ones(catalog: Catalog) -> None:
    with pytest.raises(UserError) as error:
        catalog.get("acme/ui#9")
    assert "acme__ui-1" in str(error.value.hint)
    with pytest.raises(UserError) as error:
        catalog.get("acme/none#1")
    assert "acme/ui" in str(error.value.hint)


@pytest.mark.rule("bad-input")
def test_an_invalid_line_is_refused_with_its_number(catalog: Catalog, store: Store) -> None:
    path = store.raw(REPO) / "candidates.jsonl"
    path.write_text(path.read_text() + '\n{"title": "no candidate"}\n')
    with pytest.raises(UserError) as error:
        catalog.refresh()
    assert error.value.path == path and error.value.line == 5


@pytest.mark.rule("bad-input")
def test_a_broken_line_is_named_until_it_is_mended(catalog: Catalog, store: Store) -> None:
    """It was named once; from the second page on, there seemed to be no candidate at all, of any repository."""
    write_records(store.raw(OTHER) / "candidates.jsonl", [make_candidate(7, OTHER)])
    path = store.raw(REPO) / "candidates.jsonl"
    good = path.read_text()
    path.write_text(f"{good}{{}}\n")
    rate(store, 1, status="super")
    for _ in range(3):
        with pytest.raises(UserError) as error:
            catalog.search("", {})
        assert (error.value.path, error.value.line) == (path, 4)
    path.write_text(good)
    assert sorted(found(catalog)) == [1, 2, 3, 7]
    assert found(catalog, status="super") == [1] and found(catalog, "keyboard") == [2]


@pytest.mark.rule("bad-input")
def test_what_changed_beside_a_broken_line_is_noticed_later(catalog: Catalog, store: Store) -> None:
    """Once the line is removed, its file is as it was, and a rating given meanwhile was overlooked."""
    append(store.finals(REPO), make_review(2, rater="eve"))
    assert found(catalog, status="super") == [2]
    good = store.finals(REPO).read_text()
    store.finals(REPO).write_text(f"{good}{{}}\n")
    rate(store, 1, status="super")
    for _ in range(2):
        with pytest.raises(UserError):
            catalog.refresh()
    store.finals(REPO).write_text(good)
    assert found(catalog, status="super") == [2, 1]


def test_the_history_is_newest_first_and_marks_final_decisions(catalog: Catalog, store: Store) -> None:
    rate(store, 1, rater="ann", time="2026-01-01T00:00:00Z")
    rate(store, 1, rater="bob", time="2026-01-03T00:00:00Z")
    rate(store, 2, rater="bob", time="2026-01-04T00:00:00Z")
    append(store.finals(REPO), make_review(1, rater="eve", time="2026-01-02T00:00:00Z"))
    shelf, _ = catalog.get("acme__ui-1")
    assert [(review.rater, final) for review, final in shelf.history("acme__ui-1")] == [
        ("bob", False),
        ("eve", True),
        ("ann", False),
    ]


def test_the_outcome_of_a_candidate(catalog: Catalog, store: Store) -> None:
    write_records(store.dataset(REPO), [make_instance(1)])
    write_records(store.qualification(REPO) / "rejections.jsonl", [make_rejection(2)])
    shelf, _ = catalog.get("acme__ui-1")
    outcomes = [shelf.outcome(f"acme__ui-{number}") for number in (1, 2, 3)]
    assert [type(outcome).__name__ for outcome in outcomes] == ["Instance", "Rejection", "NoneType"]


# -- append-only files -------------------------------------------------------------------------------------------------
def raters(tail: Tail[Review]) -> list[str]:
    return [review.rater for review in tail.records]


def test_a_file_is_read_from_where_the_last_read_ended(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    tail = Tail(path, Review)
    assert not tail.read()
    append(path, make_review(rater="ann"))
    assert tail.read() and not tail.read()
    append(path, make_review(rater="bob"), make_review(rater="eve"))
    assert tail.read() and raters(tail) == ["ann", "bob", "eve"]


def test_an_incomplete_line_is_read_later(tmp_path: Path) -> None:
    path, line = tmp_path / "reviews.jsonl", make_review(rater="ann").model_dump_json()
    path.write_text(line[:20])
    tail = Tail(path, Review)
    assert not tail.read() or raters(tail) == []
    path.write_text(line + "\n")
    assert tail.read() and raters(tail) == ["ann"]


def test_a_file_that_was_cut_or_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    append(path, make_review(rater="ann"), make_review(rater="bob"))
    tail = Tail(path, Review)
    tail.read()
    other = tmp_path / "other.jsonl"
    append(other, make_review(rater="eve"))
    other.replace(path)
    assert tail.read() and raters(tail) == ["eve"]


@pytest.mark.rule("bad-input")
def test_a_broken_line_is_named_with_its_number_in_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    append(path, make_review(rater="ann"))
    tail = Tail(path, Review)
    tail.read()
    with path.open("a") as file:
        file.write("\nnot JSON\n")
    for _ in range(2):
        with pytest.raises(UserError) as error:
            tail.read()
        assert (error.value.line, raters(tail)) == (3, ["ann"])
    mended = path.read_text().replace("not JSON", make_review(rater="bob").model_dump_json())
    path.write_text(mended)
    assert tail.read() and raters(tail) == ["ann", "bob"]


def test_an_entry_depends_on_the_candidate_alone_until_it_is_rated(catalog: Catalog) -> None:
    entries = catalog.shelves()[0].entries.values()
    assert len({digest(sorted(entry.has["status"])) for entry in entries}) == 1
