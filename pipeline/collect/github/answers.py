"""The parts of GitHub's answers, and which of them are incomplete: GitHub gives null, and an error with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.collect.github.graphql import LASTING, Answer
from pipeline.core.errors import InfrastructureError


def part(answer: Answer, *path: str) -> Any:
    """A part of an answer's repository. Raises InfrastructureError if it is missing."""
    found: Any = answer.data.get("repository")
    for step in path:
        found = found and found[step]
    if found is None:
        raise missing(answer)
    return found


def incomplete(answer: Answer, *path: str) -> set[str | int]:
    """The keys, or the indexes, of the nodes in this part that are incomplete.

    A node that GitHub does not know is complete, and so is one without parts that the token cannot read or without its
    files, which come from REST. Raises InfrastructureError for an error elsewhere in the answer.
    """
    nodes = part(answer, *path)
    above = ("repository", *path)
    places = [(error.get("type"), tuple(error.get("path") or ())) for error in answer.errors]
    unknown = {place for kind, place in places if kind == "NOT_FOUND"}
    items = nodes.items() if isinstance(nodes, Mapping) else enumerate(nodes)
    found = {key for key, node in items if node is None and (*above, key) not in unknown}
    for kind, place in places:
        if kind not in LASTING and place[len(above) + 1 : len(above) + 2] != ("files",):
            if place[: len(above)] != above or len(place) == len(above):
                raise missing(answer)
            found.add(place[len(above)])
    return found


def missing(answer: Answer) -> InfrastructureError:
    """The error for an answer without what was asked for."""
    return InfrastructureError(f"GitHub's answer is incomplete: {list(answer.errors)[:3]}", cause="github")
