"""The result of a task, as stored in `metadata.json`.

The funnel counts files (located, shown), then samples. The outcome of a task is the furthest cause of its sets and
samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from magentless.causes import FUNNEL, Cause, Ended, furthest
from magentless.localize import Localisation
from magentless.repair import Sample
from magentless.replies import Span


@dataclass
class FileSet:
    """One sample of edit locations: the located files, the places in them, and the files in the repair prompt."""

    number: int
    located: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    places: Mapping[str, Sequence[Span]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    cause: Cause | None = None
    detail: str = ""


@dataclass
class Run:
    """The result of a task."""

    sets: list[FileSet]
    localisation: Localisation = field(default_factory=Localisation)
    samples: list[Sample] = field(default_factory=list)
    votes: list[list[int]] = field(default_factory=list)
    selected: Sample | None = None

    def end(self, end: Ended) -> None:
        """End all sets, since localisation ended."""
        for files in self.sets:
            files.cause, files.detail = end.cause, end.detail

    @property
    def patches(self) -> list[bytes]:
        """One patch of each group of equivalent samples, sorted by votes: the selected one first."""
        by_number = {sample.number: sample.patch for sample in self.samples}
        return [by_number[group[0]] for group in self.votes]

    @property
    def outcome(self) -> Cause:
        """The outcome of the task: the furthest cause of all sets and samples."""
        if self.selected:
            return Cause.SUCCESSFUL_PATCH
        causes = [*(files.cause for files in self.sets), *(sample.cause for sample in self.samples)]
        return furthest(cause for cause in causes if cause)

    def funnel(self) -> dict[str, int]:
        """The number of files or samples that passed each stage."""
        samples = {stage: sum(sample.came_to(stage) for sample in self.samples) for stage in FUNNEL[2:-1]}
        return {
            "located": len({path for files in self.sets for path in files.located}),
            "shown": len({path for files in self.sets for path in files.shown}),
            **samples,
            "selected": int(self.selected is not None),
        }

    def record(self) -> dict[str, Any]:
        """The metadata of the run."""
        return {
            "outcome": self.outcome,
            "funnel": self.funnel(),
            "selected": self.selected.number if self.selected else None,
            "votes": self.votes,
            "localisation": self.localisation.record(),
            "sets": [vars(files) for files in self.sets],
            "samples": [sample.record() for sample in self.samples],
        }
