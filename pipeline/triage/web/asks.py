"""Models that are asked from a page of the viewer, one after another in a background thread, until the viewer ends.

Answers are stored, so asking again asks only for the rest. Writes what `triage.asking` writes. If two viewers share a
data directory, only one of them can ask a model about a repository; the other reports this.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

from pipeline.core.amounts import amount
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.progress import Progress
from pipeline.llm.models import load_models
from pipeline.triage.asking import Asking, Outcome

#: prices are shown per this number of tokens
MILLION = 1_000_000


class Selection(NamedTuple):
    """Which models to ask, and about which candidates of a repository; without numbers, about all."""

    repo: str = ""
    models: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


class Priced(NamedTuple):
    """A model with its prices in USD per million tokens, and the environment variables that it lacks."""

    name: str
    input: str
    output: str
    missing: Sequence[str]


def priced(models: Path, environ: Mapping[str, str]) -> Iterator[Priced]:
    """The chat models of a list; those that can be asked come first. Raises UserError for an invalid list."""
    listed = [model for model in load_models(models).models.values() if model.kind == "chat"]
    for model in sorted(listed, key=lambda model: bool(model.missing(environ))):
        prices = (model.price.input, model.price.output)
        for_input, for_output = (f"{(price * MILLION).normalize():f}" for price in prices)
        yield Priced(model.name, for_input, for_output, model.missing(environ))


def parse_selection(repo: str, models: Sequence[str], numbers: str) -> Selection:
    """The request in a form. Raises UserError for an invalid number."""
    words = [word.removeprefix("#") for word in re.split(r"[\s,;]+", numbers) if word]
    if invalid := [word for word in words if not re.fullmatch(r"[0-9]{1,16}", word)]:
        raise UserError(f"'{invalid[0]}' is not the number of a pull request", field="Pull requests")
    return Selection(repo, tuple(dict.fromkeys(models)), tuple(map(int, dict.fromkeys(words))))


def budget(text: str) -> Decimal:
    """An amount in USD, above 0. Raises UserError for anything else."""
    with suppress(ValueError):
        if found := amount(text.strip()):
            return found
    raise UserError(f"'{text}' is not an amount in USD above 0", field="Budget")


State = Literal["waiting", "asking", "done", "failed"]


class Job:
    """A model that is or was asked: its progress or its result."""

    def __init__(self, asking: Asking) -> None:
        self.asking, self.progress = asking, Progress("rating", asking.estimate().candidates)
        self.state: State = "waiting"
        self.outcome: Outcome | None = None
        self.error = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed")

    @property
    def name(self) -> tuple[str, str]:
        return str(self.asking.repo), self.asking.model

    def run(self, ask: Callable[[Asking, Progress], Outcome]) -> None:
        """Run the job. The page shows a failure; the next job is not affected."""
        self.state = "asking"
        try:
            self.outcome = ask(self.asking, self.progress)
            self.state = "done"
        except A11yBenchError as error:
            self.error, self.state = str(error), "failed"
        except Exception as error:
            self.error, self.state = f"{type(error).__name__}: {error}", "failed"


class Asks:
    """All jobs of this viewer, the newest first, shared between threads. `ask` does the asking and reports progress."""

    def __init__(self, ask: Callable[[Asking, Progress], Outcome] | None = None) -> None:
        self._ask = ask or (lambda asking, progress: asking.run(progress=progress))
        self._jobs: list[Job] = []
        self._turn, self._waiting = threading.Lock(), SimpleQueue[Job]()
        self._thread: threading.Thread | None = None

    def start(self, askings: Sequence[Asking]) -> list[Job]:
        """Queue jobs, all or none. Raises UserError if one of the models is being asked about the same repository."""
        jobs = [Job(asking) for asking in askings]
        with self._turn:
            busy = {known.name for known in self._jobs if not known.is_over}
            if taken := next((job.name for job in jobs if job.name in busy), None):
                raise UserError(f"{taken[1]} is already being asked about {taken[0]}", hint="wait until it is done")
            for job in jobs:
                self._jobs.insert(0, job)
                self._waiting.put(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="asks", daemon=True)
                self._thread.start()
        return jobs

    def jobs(self) -> list[Job]:
        with self._turn:
            return list(self._jobs)

    def _work(self) -> None:
        while True:
            self._waiting.get().run(self._ask)
