"""The page of an instance: its issue, gold patch and tests, and the attempts of every agent and model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.plots.models import MARKS as _FILLS
from pipeline.analyze.reading.rows import Statement
from pipeline.core.names import parse_instance_id

Key = tuple[str, str, str]

#: outcome -> its letter in figures and lists
MARKS = {outcome.value: letter for outcome, (_, letter) in _FILLS.items()}


@dataclass(frozen=True)
class Attempt:
    """An attempt of one agent and model at an instance: its row of `predictions`, its patch, and tests by effect."""

    row: Any
    patch: str
    stages: list[tuple[str, int]] = field(default_factory=list)
    tests: dict[str, list[str]] = field(default_factory=dict)

    @property
    def has_result(self) -> bool:
        """Whether there is an answer or a verdict to show."""
        return self.row.predicted or self.row.judged

    @property
    def who(self) -> str:
        return self.row.model if self.row.kind == "reference" else f"{self.row.model} ({self.row.agent})"


@dataclass(frozen=True)
class Page:
    """One instance with everything that its page shows: the tests that change, and the number that pass before and
    after."""

    row: Any
    statement: Statement
    transitions: list[Any]
    unchanged: int
    attempts: list[Attempt]

    @property
    def heading(self) -> str:
        repo, number = parse_instance_id(self.row.instance_id)
        return f"{repo}#{number}: {self.row.title}"

    @cached_property
    def by_model(self) -> dict[str, Attempt]:
        """The attempts by the names of their models, without references."""
        return {attempt.who: attempt for attempt in self.attempts if attempt.row.kind != "reference"}


def pages(frames: Frames) -> list[Page]:
    """The pages of all instances in order; on each, models come before references."""
    attempts, unchanged = _attempts(frames), frames.transitions["kind"] == "p2p"
    changing = _by_instance(frames.transitions[~unchanged])
    unchanged_counts = frames.transitions[unchanged].groupby("instance_id").size().to_dict()
    return [
        Page(row, frames.statements[name], changing[name], unchanged_counts.get(name, 0), attempts[name])
        for row in _rows(frames.instances)
        for name in [row.instance_id]
    ]


def models(shown: Iterable[Page]) -> list[str]:
    """The names of all models with an attempt on any of the pages, in the order of the pages."""
    rows = {(attempt.row.agent, attempt.row.model): name for page in shown for name, attempt in page.by_model.items()}
    return [rows[who] for who in sorted(rows)]


def _attempts(frames: Frames) -> dict[str, list[Attempt]]:
    stages, tests = _stages(frames), _tests(frames)
    by_instance: dict[str, list[Attempt]] = defaultdict(list)
    for row in _rows(frames.predictions.sort_values(["kind", "agent", "model"], kind="stable")):
        key = row.agent, row.model, row.instance_id
        by_instance[row.instance_id].append(Attempt(row, frames.patches.get(key, ""), stages[key], tests[key]))
    return by_instance


def _stages(frames: Frames) -> dict[Key, list[tuple[str, int]]]:
    by_attempt: dict[Key, list[tuple[str, int]]] = defaultdict(list)
    for row in _rows(frames.stages):
        by_attempt[row.agent, row.model, row.instance_id].append((row.stage, row.count))
    return by_attempt


def _tests(frames: Frames) -> dict[Key, dict[str, list[str]]]:
    by_attempt: dict[Key, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in _rows(frames.results):
        by_attempt[row.agent, row.model, row.instance_id][row.effect].append(row.name)
    return by_attempt


def _by_instance(frame: pd.DataFrame) -> dict[str, list[Any]]:
    by_instance: dict[str, list[Any]] = defaultdict(list)
    for row in _rows(frame):
        by_instance[row.instance_id].append(row)
    return by_instance


def _rows(frame: pd.DataFrame) -> Iterable[Any]:
    """The rows, with None for unknown values, for templates."""
    return frame.astype(object).where(frame.notna(), None).itertuples(index=False)
