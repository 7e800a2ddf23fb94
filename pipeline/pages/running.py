"""Running pages through their cases as units of work, and deciding who is to blame for a doubtful end.

Reads only the requests and writes nothing; the coordinator stores results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.work import Event, Tell, each
from pipeline.pages.cases import Case
from pipeline.pages.engine import Code, Job, Limits, Looked, look
from pipeline.pages.others import wait_for_quiet
from pipeline.pages.records import Observed
from pipeline.pages.verdict import Doubt, is_hindered

#: the maximum size of a page, in bytes
LARGEST = 8 * 2**20
#: how often a page is run if the machine fails, or may have ended the run because it was stalled or out of memory
TRIES = 2
MAY_BE_THE_MACHINE = ("ended", "crash", "hung", "time", "load", "audit")
#: seconds to wait for other programs before the pages that they may have hindered are run again
PATIENCE = 60
#: an empty, correct page: for a case without good examples, it shows whether the test ends at all
BLANK = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Nothing</title>
<body><main><h1>Nothing</h1></main>"""


def code_of(case: Case) -> Code:
    """The parts of a case that the engine needs."""
    return Code(case.digest, case.code, case.names_axe, case.gate)


@dataclass(frozen=True)
class RunPage:
    """The request: a page and the test of its case. `key` is returned unchanged."""

    name: str
    html: str
    code: Code
    key: tuple[str, ...] = ()
    screenshot: bool = False
    limits: Limits = field(default_factory=Limits)

    @property
    def affinity(self) -> str:
        return ""

    def perform(self, tell: Tell) -> Looked:
        if len(self.html.encode("utf-8", "replace")) > LARGEST:
            return Looked(Observed(ended="size", detail=f"it is larger than {LARGEST} bytes"))
        tell(Event(self.name, "running"))
        for _ in range(TRIES):
            looked = look(Job(self.html, self.code, self.screenshot, self.limits))
            seen = looked.observed
            if is_hindered(seen) or not (seen.machine or seen.ended in MAY_BE_THE_MACHINE):
                break
        return looked

    def failed(self, error: Exception) -> Looked:
        if isinstance(error, UserError):
            raise error
        cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
        return Looked(Observed(machine=f"{cause}: {error}"))


def run_pages(
    requests: Sequence[RunPage],
    *,
    jobs: int,
    again: Callable[[RunPage, Observed], bool] = lambda _, seen: is_hindered(seen),
    **options: Any,
) -> Iterator[tuple[RunPage, Looked]]:
    """Run pages, `jobs` at a time, and yield each with its result; `options` are those of `each`.

    When all have ended, those that other programs may have hindered, other pages among them, are run once more, one at
    a time. If the time is up again on a busy machine, the machine is to blame. Whatever else fails twice has failed.
    """
    hindered = []
    for request, looked in each(requests, jobs=jobs, **options):
        if again(request, looked.observed):
            hindered.append(request)
        else:
            yield request, looked
    if hindered:
        wait_for_quiet(PATIENCE)
        for request, looked in each(hindered, jobs=1, **options):
            seen = looked.observed
            is_late = bool(seen.ended) and is_hindered(seen)
            yield request, Looked(Observed(machine=seen.busy, ran=seen.ran)) if is_late else looked


class Doubts:
    """Who is to blame for doubtful ends, determined once per case. If the case ends well on its own good example, the
    page is to blame. Without a good example, an empty page shows whether the case ends at all, and errors that the case
    throws are its own fault. A case may use up the time on an empty page, since each assertion waits for what is not
    there; if it was still deciding assertions, the page is to blame. If the machine fails with that page, or other
    programs may have hindered it, nothing is determined."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[tuple[str, str], Doubt] = {}

    def settle(self, case: Case, seen: Observed) -> Doubt:
        if not seen.is_doubtful:
            return "page"
        if seen.threw and not case.control:
            return "case"
        key = case.digest, case.control
        if key not in self._known:
            control = self._run(case)
            if control.machine or is_hindered(control):
                return "machine"
            ended = control.ended and (bool(case.control) or not self._is_deciding(control))
            failed = control.fault or ended or (case.control and control.threw)
            self._known[key] = "case" if failed else "page"
        return self._known[key]

    def _is_deciding(self, seen: Observed) -> bool:
        """Whether a case decided assertions, each within its limit, until the time was up."""
        return seen.ended == "time" and seen.seconds.get("undecided", math.inf) <= self._limits.assertion

    def _run(self, case: Case) -> Observed:
        asked = RunPage(f"{case.name}: control", case.control or BLANK, code_of(case), limits=self._limits)
        try:
            return asked.perform(lambda event: None).observed
        except Exception as error:  # the border of a unit
            return asked.failed(error).observed
