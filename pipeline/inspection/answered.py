"""The parts of an answer that are shown next to the gold patch: its patch, outcome, tests, and trajectory.

Reads the newest runs, their verdicts and assessments, and the stored answers. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.core.assessment import Spoken
from pipeline.core.options import REFERENCES
from pipeline.core.records import Instance
from pipeline.core.store import Store
from pipeline.inspection.reading import Run, seen_runs
from pipeline.inspection.trajectory import Trajectory, trajectories


@dataclass(frozen=True)
class Answer:
    """An answer of one run. `tests` are the unfixed and broken ones as kind, name and status; `spoken` is what a screen
    reader says, by test."""

    run: Run
    outcome: str
    patch: str
    tests: list[tuple[str, str, str]]
    spoken: Mapping[str, Spoken]
    folder: Path

    @property
    def who(self) -> str:
        """Agent and model; a reference has one name for both."""
        return f"{self.run.agent} with {self.run.model}" if self.run.agent != self.run.model else self.run.agent

    @cached_property
    def trajectories(self) -> list[Trajectory]:
        return trajectories(self.folder)


def newest_answers(store: Store, gold: Instance, agent: str, model: str, attempt: int) -> list[Answer]:
    """The answers of the newest runs; with an agent or a model, only theirs. References are left out unless they are
    named, since their answers say nothing new."""
    runs = [run for run in _newest(store, gold) if agent in ("", run.agent) and model in ("", run.model)]
    chosen = [run for run in runs if agent or model or run.agent not in REFERENCES]
    return [_answer(store, run, gold, attempt) for run in chosen if gold.instance_id in run.predictions(attempt)]


def why_missing(store: Store, gold: Instance) -> str:
    """Why there is no such answer, with the answers that there are."""
    available = {
        f"{run.agent} with {run.model}": attempts for run in _newest(store, gold) if (attempts := _of(run, gold))
    }
    if not available:
        return "no answer yet"
    return "no such answer; available: " + ", ".join(f"{who} (attempt {tries})" for who, tries in available.items())


def _newest(store: Store, gold: Instance) -> list[Run]:
    """The newest run of each agent and model on the instance's repository."""
    return list({run.folder.parent: run for run in seen_runs(store) if run.repo == gold.repository}.values())


def _of(run: Run, gold: Instance) -> str:
    """The attempts of a run at an instance."""
    return ", ".join(str(attempt) for attempt in run.attempts if gold.instance_id in run.predictions(attempt))


def _answer(store: Store, run: Run, gold: Instance, attempt: int) -> Answer:
    name, prediction = gold.instance_id, run.predictions(attempt)[gold.instance_id]
    verdict, assessed = run.verdicts(attempt).get(name), run.assessments(attempt).get(name)
    effects = {"unfixed": verdict.unfixed, "broken": verdict.broken} if verdict else {}
    return Answer(
        run=run,
        outcome=run.outcomes(attempt)[name],
        patch=prediction.model_patch,
        tests=[(kind, test, str(status)) for kind, tests in effects.items() for test, status in tests.items()],
        spoken=assessed.snapshot.spoken if assessed and assessed.snapshot else {},
        folder=store.answers(gold.repository, name, prediction.answer),
    )
