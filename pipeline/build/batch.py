"""Qualifying candidates in parallel: the coordinator, the only writer.

Requests with the same environment share what the first of them learns about it. Writes each unit when it ends: logs,
reports, timings and, last, the manifest. What a unit replaces is archived first. Does not cover the layers and disks of
workers on other machines.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pipeline.build.budget import Budget
from pipeline.build.learned import Memory
from pipeline.build.plan import STORED, Planned, in_order
from pipeline.build.qualify import (
    NOT_EVALUATED,
    Hopeless,
    Outcome,
    Packages,
    Qualified,
    Qualify,
    kind,
    make_ahead,
    packages_of,
)
from pipeline.build.trial import Layers, Lessons
from pipeline.core.background import Background
from pipeline.core.console import say
from pipeline.core.progress import Progress
from pipeline.core.records import Rejection
from pipeline.core.store import Store
from pipeline.core.work import REMOTE, Event, Interrupts, Settled, each
from pipeline.sandbox.watch import Watch

log = logging.getLogger(__name__)

#: the file of a unit with its seconds by kind
TIMINGS = "timings.json"


class Batch:
    """Works on planned units. Never raises for a candidate: its failure is recorded as data."""

    def __init__(self, store: Store, memory: Memory, budget: Budget, progress: Progress, engine: str) -> None:
        self.store, self.memory, self.budget, self.progress = store, memory, budget, progress
        self.engine, self.watch = engine, Watch(budget.sandbox)
        self.units: dict[str, Planned] = {}
        self.groups = defaultdict[str, list[Planned]](list)
        self.begun: set[str] = set()
        self.hopeless = defaultdict[str, dict[Packages, Rejection]](dict)
        self.unmeasured = False

    def run(self, units: Iterable[Planned], jobs: int) -> Iterator[Outcome]:
        """Yield each candidate's outcome as it ends. While tests run, the next environment and sources are made."""
        ordered = in_order(units)
        self.units = {unit.name: unit for unit in ordered}
        for unit in ordered:
            self.groups[unit.request.environment].append(unit)
            self.budget.hold(unit.name, unit.request.environment)
        with Background() as self.background:
            self._in_background(self._keep_disk)
            yield from self._outcomes([unit.request for unit in ordered], jobs)

    def _outcomes(self, requests: list[Qualify], jobs: int) -> Iterator[Outcome]:
        options: dict[str, Any] = {"engine": self.engine, "hear": self._hear, "admit": self._admit}
        interrupts = Interrupts(self.progress.stopping, self.budget.sandbox.abort)
        for request, result in each(requests, jobs=jobs, ahead=1, interrupts=interrupts, **options):
            outcome = self._save(self.units[request.name], result)
            self.budget.release(request.name)
            self.progress.finish(request.name, describe(outcome), kind(outcome))
            yield outcome

    def _admit(self, request: Qualify) -> Qualify | Settled:
        """The request with the lessons so far; settled at once if a neighbor found the environment hopeless whose tests
        are in the same packages."""
        self.begun.add(request.name)
        self._in_background(self._keep_disk)
        known = self.hopeless.get(request.environment)
        if known and (hopeless := known.get(packages_of(request))):
            return Settled(Qualified(hopeless.model_copy(update={"instance_id": request.name})))
        return self.watch.admit(replace(request, learned=self.memory.rows))

    def _hear(self, event: Event) -> None:
        if event.text:
            self.progress.step(event.unit, event.text)
        request = self.units[event.unit].request
        match event.data:
            case Layers(environment, image, learned):
                self.memory.learn(learned)
                self.budget.add([unit.name for unit in self.groups[request.environment]], environment)
                self.budget.add([event.unit], image)
                self._in_background(lambda: self._make_ahead(request.environment))
            case Lessons(learned):
                self.memory.learn(learned)
            case Hopeless(Rejection() as outcome):
                self.hopeless[request.environment][packages_of(request)] = outcome

    def _save(self, unit: Planned, result: Qualified) -> Outcome:
        """Write the unit and read it back. A failure of the machine is not kept: the next build tries again."""
        if isinstance(result.outcome, Rejection) and result.outcome.reason == NOT_EVALUATED:
            self.watch.heed(result.outcome.detail)
            return result.outcome
        save(self.store, unit, result)
        return unit.outcome() or result.outcome

    def _in_background(self, work: Callable[[], None]) -> None:
        """Run work on this machine's layers that no unit waits for. If it fails, the units that need it run into the
        same error. Units on workers use layers elsewhere."""
        if self.engine == REMOTE:
            return

        def attempt() -> None:
            try:
                work()
            except Exception:
                log.info("work in the background failed", exc_info=True)

        self.background.submit(attempt)

    def _keep_disk(self) -> None:
        """Keep the disk within its limit. The first failure is reported, since later ones have the same cause."""
        try:
            self.progress.note("disk", self.budget.keep())
        except Exception as error:
            if not self.unmeasured:
                say(f"the disk space of the layers is not limited: {error}")
            self.unmeasured = True
            raise

    def _make_ahead(self, environment: str) -> None:
        """Make the layers of the group's next unit: its sources, on top of the finished environment."""
        if unit := next((unit for unit in self.groups[environment] if unit.name not in self.begun), None):
            self.budget.add([unit.name], make_ahead(replace(unit.request, learned=self.memory.rows)).image)


def save(store: Store, unit: Planned, result: Qualified) -> None:
    """Write a unit's files and its manifest; the files that they replace are archived."""
    files = dict(result.files)
    if result.stored:
        files[STORED] = _json(result.stored)
    if result.seconds:
        files[TIMINGS] = _json(result.seconds)
    store.archive(unit.unit.folder)
    unit.unit.keep(files, result.outcome.model_dump(mode="json"), **unit.finished(result.outcome))


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def describe(outcome: Outcome) -> str:
    """One line on how a candidate ended."""
    if isinstance(outcome, Rejection):
        return f"rejected: {outcome.reason}"
    flaky = f", {len(outcome.quarantine)} quarantined" if outcome.quarantine else ""
    return f"qualified: {len(outcome.f2p_tests)} fail-to-pass, {len(outcome.p2p_tests)} pass-to-pass{flaky}"
