"""What reading collects: rows of frames, texts that only the report shows, and notes on what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pipeline.analyze import columns
from pipeline.analyze.structure import Structure
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Instance, Issue

#: an agent and a model
Who = tuple[str, str]


class KnownInstance(NamedTuple):
    """The facts about an instance that later stages need. `files` are those that the gold patch changes."""

    instance_id: str
    repo: Repo
    merged_at: str
    image: str
    gold: Structure
    files: frozenset[str]


class Statement(NamedTuple):
    """What only the report shows of an instance: other people's texts and code."""

    issues: tuple[Issue, ...]
    gold_patch: str
    deviations: tuple[str, ...]
    quarantine: tuple[str, ...]


class Rows:
    """Rows by frame; `known` and `statements` by instance, `patches` by agent, model and instance. `without_issue` are
    the candidates and instances whose only text is the pull request's own."""

    def __init__(self, repos: tuple[Repo, ...]) -> None:
        self.repos = repos
        self.frames: dict[str, list[tuple[Any, ...]]] = {name: [] for name in columns.frames()}
        self.known: dict[str, KnownInstance] = {}
        self.statements: dict[str, Statement] = {}
        self.patches: dict[tuple[str, str, str], str] = {}
        self.without_issue: set[str] = set()
        self.notes: list[str] = []

    def add(self, frame: str, **parts: Any) -> None:
        """Add a row to a frame, read from these parts as the dictionary of columns says."""
        self.frames[frame].append(columns.cells(frame, parts))

    def extend(self, frame: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows whose cells are already in the dictionary's order."""
        self.frames[frame].extend(rows)

    def mark(self, record: Candidate | Instance) -> None:
        """Remember a candidate or instance that has no linked issue."""
        if record.statement_source == "pull_request":
            self.without_issue.add(record.instance_id)

    def note(self, text: str) -> None:
        self.notes.append(text)
