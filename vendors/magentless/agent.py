"""The three steps in order, for one task: sets of localize and several repairs, then one selection.

The first localisation and the first repair are greedy, all others are sampled. What ends a set or a sample is recorded
there; only a broken provider ends the run. The funnel counts files (located, shown), then samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from magentless.causes import FUNNEL, Cause, Ended, furthest
from magentless.checkout import Checkout
from magentless.inputs import Settings, Task
from magentless.localize import named_files, offered, ranked
from magentless.prompting import Prompter
from magentless.provider import ChatModel
from magentless.repair import Sample, repair
from magentless.selection import select
from magentless.views import view
from magentless.words import identifiers


@dataclass
class FileSet:
    """One localisation: the files that the model named, and those that a repair prompt shows."""

    number: int
    located: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    cause: Cause | None = None
    detail: str = ""


@dataclass
class Run:
    """What came of a task."""

    sets: list[FileSet] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    votes: list[list[int]] = field(default_factory=list)
    selected: Sample | None = None

    @property
    def patch(self) -> bytes:
        """The selected patch, empty when there is none."""
        return self.selected.patch if self.selected else b""

    @property
    def outcome(self) -> Cause:
        """How the task ended: of all sets and samples, the cause that came furthest."""
        if self.selected:
            return Cause.SUCCESSFUL_PATCH
        return furthest(end.cause for end in (*self.sets, *self.samples) if end.cause)

    def funnel(self) -> dict[str, int]:
        """How much came through each stage."""
        samples = {stage: sum(sample.came_to(stage) for sample in self.samples) for stage in FUNNEL[2:-1]}
        return {
            "located": len({path for files in self.sets for path in files.located}),
            "shown": len({path for files in self.sets for path in files.shown}),
            **samples,
            "selected": int(self.selected is not None),
        }

    def record(self) -> dict[str, Any]:
        """What the metadata keep of the run."""
        return {
            "outcome": self.outcome,
            "funnel": self.funnel(),
            "selected": self.selected.number if self.selected else None,
            "votes": self.votes,
            "sets": [vars(files) for files in self.sets],
            "samples": [sample.record() for sample in self.samples],
        }


class Agent:
    """Works on one task in one checkout with one model."""

    def __init__(self, task: Task, checkout: Checkout, model: ChatModel, settings: Settings) -> None:
        self._checkout, self._model, self._settings = checkout, model, settings
        self._prompter = Prompter(task, model.name, settings)
        self._offered = ranked(offered(checkout.files, settings.files), task)
        self._words = identifiers(task.prose)

    def run(self) -> Run:
        """All sets and samples, and the selection. Raises ProviderFailure when the provider failed."""
        run = Run()
        for number in range(self._settings.samples.sets):
            files = FileSet(number)
            run.sets.append(files)
            try:
                prompt = self._localize(files)
            except Ended as end:
                files.cause, files.detail = end.cause, end.detail
            else:
                run.samples.extend(self._samples(files, prompt))
        run.selected, run.votes = select(run.samples, self._checkout)
        return run

    def _localize(self, files: FileSet) -> str:
        """Fills in `files` and gives the prompt that shows them. Raises Ended."""
        reply = self._ask("localize", self._prompter.localize(self._offered).text, self._temperature(files.number))
        files.located = tuple(named_files(reply, self._offered, self._settings.files.top))
        paths, views = self._views(files.located)
        prompt = self._prompter.repair(views)
        files.shown = tuple(paths[index] for index in prompt.shown)
        return prompt.text

    def _views(self, paths: Sequence[str]) -> tuple[list[str], list[str]]:
        """The readable ones of the files, and what the prompt shows of each. Raises Ended without any."""
        texts = {path: text for path in paths if (text := self._checkout.text(path)) is not None}
        if not texts:
            raise Ended(Cause.NO_LOCALISATION, "localize: none of the named files is readable text")
        return list(texts), [view(path, text, self._words, self._settings.files) for path, text in texts.items()]

    def _samples(self, files: FileSet, prompt: str) -> list[Sample]:
        per_set = self._settings.samples.per_set
        return [self._sample(files.number * per_set + index, files.number, prompt) for index in range(per_set)]

    def _sample(self, number: int, set_number: int, prompt: str) -> Sample:
        sample = Sample(number, set_number, self._temperature(number))
        try:
            repair(sample, self._ask("repair", prompt, sample.temperature), self._checkout)
        except Ended as end:
            sample.cause, sample.detail = end.cause, end.detail
        return sample

    def _ask(self, step: str, prompt: str, temperature: float) -> str:
        tokens = getattr(self._settings.output, step)
        return self._model.ask(step, prompt, temperature=temperature, max_tokens=tokens)

    def _temperature(self, number: int) -> float:
        return self._settings.samples.temperature if number else 0.0
