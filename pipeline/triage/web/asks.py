"""Models that are asked from a page of the viewer: one after the other, in a thread of its own, until the viewer ends.

What was answered by then is kept, and asking again asks for the rest. Writes what `triage.asking` writes. Of two
viewers over one data directory a lock lets one ask a model about a repository, and the other says so.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.progress import Progress
from pipeline.llm.models import load_models
from pipeline.triage.asking import Asking, Outcome

#: tokens that prices are shown for
MILLION = 1_000_000


class Wanted(NamedTuple):
    """Who is to be asked about what; no numbers stand for all candidates."""

    repo: str = ""
    models: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


class Priced(NamedTuple):
    """A model that can be asked, with its prices in USD for a million tokens, and the variables that it lacks."""

    name: str
    input: str
    output: str
    missing: Sequence[str]


def priced(models: Path, given: Mapping[str, str]) -> Iterator[Priced]:
    """The chat models of a list, those that can be asked first. Raises UserError for a list that is wrong."""
    listed = [one for one in load_models(models).models.values() if one.kind == "chat"]
    for one in sorted(listed, key=lambda one: bool(one.missing(given))):
        asked, answered = (f"{(price * MILLION).normalize():f}" for price in (one.price.input, one.price.output))
        yield Priced(one.name, asked, answered, one.missing(given))


def wanted(repo: str, models: Sequence[str], numbers: str) -> Wanted:
    """What a form says. Raises UserError for what is no number."""
    words = [one.removeprefix("#") for one in re.split(r"[\s,;]+", numbers) if one]
    if wrong := [one for one in words if not re.fullmatch(r"[0-9]{1,9}", one)]:
        raise UserError(f"'{wrong[0]}' is no number of a pull request", field="Pull requests")
    return Wanted(repo, tuple(dict.fromkeys(models)), tuple(map(int, dict.fromkeys(words))))


def budget(text: str) -> Decimal:
    """An amount of USD. Raises UserError for what is none, or nothing."""
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount <= 0:
        raise UserError(f"'{text}' is not an amount in USD above 0", field="Budget")
    return amount


State = Literal["waiting", "asking", "done", "failed"]


class Job:
    """A model that is asked, or was: how far it is, or what came of it."""

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
        """What fails is said on the page; the next job is not touched."""
        self.state = "asking"
        try:
            self.outcome = ask(self.asking, self.progress)
            self.state = "done"
        except A11yBenchError as error:
            self.error, self.state = str(error), "failed"
        except Exception as error:
            self.error, self.state = f"{type(error).__name__}: {error}", "failed"


class Asks:
    """All jobs of this viewer, the newest first. Threads may share it; `ask` asks, and tells its progress."""

    def __init__(self, ask: Callable[[Asking, Progress], Outcome] | None = None) -> None:
        self._ask = ask or (lambda asking, progress: asking.run(progress=progress))
        self._jobs: list[Job] = []
        self._turn, self._waiting = threading.Lock(), SimpleQueue[Job]()
        self._thread: threading.Thread | None = None

    def start(self, asking: Asking) -> Job:
        """Ask when its turn comes. Raises UserError where the same model is asked about the same repository."""
        job = Job(asking)
        with self._turn:
            if any(one.name == job.name for one in self._jobs if not one.is_over):
                raise UserError(f"{job.name[1]} is asked about {job.name[0]} already", hint="wait until it is done")
            self._jobs.insert(0, job)
            self._waiting.put(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="asks", daemon=True)
                self._thread.start()
        return job

    def jobs(self) -> list[Job]:
        with self._turn:
            return list(self._jobs)

    def _work(self) -> None:
        while True:
            self._waiting.get().run(self._ask)
