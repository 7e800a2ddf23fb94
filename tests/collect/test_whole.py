"""How many commits of the history belong to a pull request: one, or several that were rebased onto the branch."""

from __future__ import annotations

import pytest
from factories import make_pull_request

from pipeline.collect.sources import Merged, Unavailable
from pipeline.collect.whole import Span, whole

PATHS = ("src/Menu.tsx", "src/Menu.test.tsx")


def merged(added: int | None = 3, removed: int | None = 1, files: tuple[str, ...] = PATHS) -> Merged:
    """A pull request with the host's numbers of lines, or None if the host has none."""
    return Merged(make_pull_request(), files, added=added, removed=removed)


class History:
    """The changes of the last n commits, and which n were requested."""

    def __init__(self, *spans: Span | None, commits: int = 1) -> None:
        self._spans, self._commits = spans, commits
        self.asked: list[int] = []
        self.counted = 0

    def span(self, number: int) -> Span | None:
        self.asked.append(number)
        return self._spans[number - 1] if number <= len(self._spans) else None

    def commits(self) -> int:
        self.counted += 1
        return self._commits


def span(base: str, added: int, removed: int, *files: str) -> Span:
    return Span(base, frozenset(files or PATHS), added, removed)


def base_of(given: Merged, history: History) -> str:
    return whole(given, history.span, history.commits).base


@pytest.mark.trap("half-a-rebase")
def test_a_squashed_pull_request_is_its_last_commit() -> None:
    history = History(span("one", 3, 1))
    assert base_of(merged(), history) == "one"
    assert (history.asked, history.counted) == ([1], 0)


@pytest.mark.trap("half-a-rebase")
def test_a_rebased_one_is_all_of_its_commits() -> None:
    """After a rebase merge of several commits, only the last one was gold."""
    history = History(span("one", 1, 0, PATHS[0]), span("two", 2, 0), span("three", 3, 1), commits=3)
    assert base_of(merged(), history) == "three"


def test_commits_that_were_empty_are_not_in_the_history() -> None:
    history = History(span("one", 1, 0), span("two", 3, 1), commits=4)
    assert base_of(merged(), history) == "two"
    assert history.asked == [1, 4, 3, 2]


def test_the_first_change_that_fits_ends_the_search() -> None:
    history = History(span("one", 1, 0), span("two", 3, 1), span("three", 3, 1), commits=3)
    assert base_of(merged(), history) == "three" and history.asked == [1, 3]


def test_on_a_changed_branch_the_nearest_range_counts() -> None:
    history = History(span("one", 9, 9), span("two", 4, 1), span("three", 7, 1), commits=3)
    assert base_of(merged(), history) == "two"


def test_a_range_without_all_paths_is_no_change() -> None:
    """The numbers may match by chance."""
    history = History(span("one", 3, 1, PATHS[0]), span("two", 9, 9), commits=2)
    assert base_of(merged(), history) == "two"


@pytest.mark.parametrize(("added", "removed"), [(None, None), (None, 1), (3, None)])
def test_without_numbers_of_a_host_the_paths_decide(added: int | None, removed: int | None) -> None:
    history = History(span("one", 100, 100), commits=5)
    assert base_of(merged(added, removed), history) == "one" and history.counted == 0


def test_starting_commits_are_tried_up_to_a_limit() -> None:
    history = History(span("one", 9, 9), commits=1000)
    assert base_of(merged(), history) == "one"
    assert len(history.asked) <= 13 and history.asked[1] == 1000


def test_a_change_that_begins_with_the_root_has_no_base() -> None:
    with pytest.raises(Unavailable) as error:
        base_of(merged(), History())
    assert error.value.reason == "base_missing" and make_pull_request().merge_sha in error.value.detail


def test_a_change_that_lies_elsewhere_in_the_history_names_what_is_missing() -> None:
    many = tuple(f"src/{number}.ts" for number in range(9))
    with pytest.raises(Unavailable) as error:
        base_of(merged(files=many), History(span("one", 3, 1), commits=1))
    assert error.value.reason == "spread" and error.value.detail == "; ".join(many[:5])
