"""Which parts are missing in an answer from GitHub, judged by the errors in it."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.collect.github.answers import incomplete, part
from pipeline.collect.github.graphql import Answer
from pipeline.core.errors import InfrastructureError

NODES = ("pullRequests", "nodes")


def answer(nodes: Any, *errors: tuple[str | None, tuple[str | int, ...]]) -> Answer:
    """An answer with these pull requests, and with errors of a type at a path."""
    listed = [{"message": "Something went wrong", "type": kind, "path": list(place)} for kind, place in errors]
    return Answer({"repository": {"pullRequests": {"nodes": nodes}}}, listed)


def place(*path: str | int) -> tuple[str | int, ...]:
    return ("repository", *NODES, *path)


@pytest.mark.rule("limits")
@pytest.mark.parametrize(
    ("nodes", "errors", "expected"),
    [
        ([{}, {}], [], set()),
        ([{}, None], [], {1}),
        ([{}, None], [("SERVICE_UNAVAILABLE", place(1))], {1}),
        ([{}, None], [("FORBIDDEN", place(1))], {1}),
        ([{}, None], [("NOT_FOUND", place(1))], set()),
        ([{"labels": None}, {}], [(None, place(0, "labels"))], {0}),
        ([{"author": None}, {}], [("FORBIDDEN", place(0, "author"))], set()),
        ([{"files": None}, {}], [(None, place(0, "files"))], set()),
        ([{"files": {"nodes": [None]}}, {}], [(None, place(0, "files", "nodes", 0))], set()),
    ],
)
def test_objects_that_github_failed_to_return_are_incomplete(nodes: Any, errors: Any, expected: set[int]) -> None:
    """Not incomplete: objects that GitHub does not know or does not show, and files, which REST provides."""
    assert incomplete(answer(nodes, *errors), *NODES) == expected


@pytest.mark.parametrize("path", [("repository",), ("repository", "pullRequests"), place(), ()])
def test_an_error_of_the_whole_answer_is_raised(path: tuple[str | int, ...]) -> None:
    with pytest.raises(InfrastructureError, match="Something went wrong"):
        incomplete(answer([{}], (None, path)), *NODES)


def test_a_missing_part_is_raised() -> None:
    with pytest.raises(InfrastructureError, match="GitHub's answer is incomplete"):
        part(answer(None), *NODES)
    assert part(answer([1]), *NODES) == [1]
