"""How references become links, and which linked issues are a pull request's task."""

from __future__ import annotations

from typing import Any

import pytest
from factories import make_pull_request

from pipeline.collect.links import CLOSING, STATES, Link, Unresolved, linked, resolve, unresolved
from pipeline.collect.patterns import shipped
from pipeline.collect.sources import Merged
from pipeline.core.records import Issue


def issue(number: int, title: str = "") -> Issue:
    return Issue(number=number, title=title or f"Issue {number}")


def merged(body: str = "", *, title: str = "", issues: tuple[Issue, ...] = (), **more: Any) -> Merged:
    """Pull request 99 with this text, as a source provides it."""
    return Merged(make_pull_request(99, title=title, body=body, resolved_issues=issues), ("src/Menu.tsx",), **more)


def tasks(given: Merged, answers: dict[int, Issue | str]) -> list[int]:
    """The numbers of the issues that are the pull request's task."""
    links = list(resolve(unresolved(given, shipped()), answers))
    return [found.number for found in linked(given, links, answers)]


def test_each_reference_keeps_its_origin() -> None:
    given = merged(
        "Closes #1, see #2, fixes other/lib#3, like other/lib#4", closing=(2, 5), closing_elsewhere=("a/b#6",)
    )
    found = unresolved(given, shipped())
    assert found.here == ((1, "keyword"), (2, "text"), (2, "closing"), (5, "closing"))
    assert found.elsewhere == (("other/lib#3", "keyword"), ("other/lib#4", "text"), ("a/b#6", "closing"))


def test_a_number_is_looked_up_once() -> None:
    assert unresolved(merged("Closes #1, see #2", closing=(2, 1)), shipped()).numbers == [1, 2]
    assert Unresolved((), ()).numbers == []


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (issue(1), "issue"),
        ("pull_request", "pull_request"),
        ("not_found", "not_found"),
        ("unknown", "unknown"),
        (None, "unknown"),
    ],
)
def test_a_reference_has_the_state_of_its_answer(answer: Issue | str | None, state: str) -> None:
    """A number about which the source gives no answer is unknown, not missing."""
    answers = {} if answer is None else {1: answer}
    assert list(resolve(Unresolved(((1, "text"),), ()), answers)) == [Link("#1", 1, "text", state)]
    assert state in STATES


def test_a_reference_to_another_repository_is_never_a_local_issue() -> None:
    """`other/lib#1` was once taken for this repository's issue 1."""
    (link,) = resolve(Unresolved((), (("other/lib#1", "keyword"),)), {1: issue(1)})
    assert link == Link("other/lib#1", 0, "keyword", "elsewhere")


@pytest.mark.rule("closing-links")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (merged("Closes #1, see #2"), [1]),
        (merged("See #2 and #1"), [2, 1]),
        (merged("Closes #1 and #2"), [1, 2]),
        (merged("See #1", closing=(2,)), [2]),
        (merged("Closes #1", closing=(2,)), [1, 2]),
        (merged("Closes #1", closing=(1,)), [1]),
        (merged("Closes #7, see #1"), []),
        (merged("Closes other/lib#1, see #2"), []),
        (merged("See #1", closing_elsewhere=("other/lib#3",)), []),
        (merged("Closes #3, see #1"), []),
        (merged("Nothing"), []),
    ],
    ids=[
        "closed before mentioned",
        "mentioned only",
        "a list",
        "linked on GitHub",
        "in both ways",
        "the same in both ways",
        "closed, but unknown",
        "closed elsewhere",
        "closed elsewhere on GitHub",
        "closes a pull request",
        "nothing",
    ],
)
def test_the_issues_of_a_task(given: Merged, expected: list[int]) -> None:
    """If it closes something that cannot be read, an issue that it only mentions is not the task."""
    assert tasks(given, {1: issue(1), 2: issue(2), 3: "pull_request"}) == expected


def test_issues_of_the_source_come_first_and_count_once() -> None:
    """An imported dataset has issues of its own; the text may link the same one."""
    own = issue(2, "Menu has no name")
    given = merged("Closes #1 and #2", issues=(own,))
    assert tasks(given, {1: issue(1), 2: own}) == [2, 1]


def test_origins_of_references_are_a_closed_list() -> None:
    origins = {origin for _, origin in unresolved(merged("Closes #1, see #2", closing=(3,)), shipped()).here}
    assert origins == {*CLOSING, "text"}
