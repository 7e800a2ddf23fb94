"""Qualifying one candidate as a unit of work: the request, its result, and the events on the way.

The outcome is always a record: an Instance, or a Rejection with a reason from the closed list; `not_evaluated` means
that the machine failed.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from pipeline.build.infer.tree import above
from pipeline.build.search import Search
from pipeline.build.trial import Layers, Lessons, Wanted
from pipeline.core.errors import InfrastructureError
from pipeline.core.git import Clone, list_files, opened_clone, show
from pipeline.core.records import Candidate, Instance, Rejection
from pipeline.core.retry import PATIENT, Patience, patiently
from pipeline.core.timing import Clock
from pipeline.core.work import Event, Tell, silent
from pipeline.execution import images, scope
from pipeline.sandbox.base import DEFAULT, Limits, Sandbox
from pipeline.sandbox.handle import handle

Outcome = Instance | Rejection
#: kinds of outcomes in addition to the reasons of rejections; the second one is also a reason: nothing was decided
QUALIFIED, NOT_EVALUATED = "qualified", "not_evaluated"


@dataclass(frozen=True)
class Settings:
    """How instances are qualified: where, with how many repeats, within which limits, and which tests are run."""

    sandbox: Sandbox
    repeats: int = 3
    limits: Limits = DEFAULT
    scope: Literal["touched", "full"] = "touched"


@dataclass(frozen=True)
class Qualify(Wanted):
    """The request to qualify one candidate; neighbors with the same environment share it."""

    @property
    def affinity(self) -> str:
        return self.environment

    def perform(self, tell: Tell) -> Qualified:
        """Qualify; if gold fixes nothing without the files that only tests import, again with them in gold, and with
        what the first attempt taught."""
        taught = list(self.learned)

        def heard(event: Event) -> None:
            if isinstance(event.data, Layers | Lessons):
                taught.extend(row for row in event.data.learned if row not in taught)
            tell(event)

        qualified = self._once(heard)
        if self.moved and kind(qualified.outcome) == "no_fix_transition":
            tell(Event(self.name, f"gold needs {', '.join(self.moved)}: once more with them"))
            retried = replace(self, moved=(), needs=self.moved, learned=tuple(taught))._once(tell)
            return retried if kind(retried.outcome) == QUALIFIED else qualified
        return qualified

    def _once(self, tell: Tell) -> Qualified:
        with Clock() as clock:
            search = Search(self, tell)
            outcome, trial = patiently(search.outcome, search.trial.say, self.patience), search.trial
            if self.environment and not (trial.made or trial.unprepared) and kind(outcome) != NOT_EVALUATED:
                tell(Event(self.name, data=Hopeless(outcome)))
            return Qualified(outcome, trial.files, trial.stored, clock.seconds)

    def failed(self, error: Exception) -> Qualified:
        cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
        return Qualified(self.rejected(NOT_EVALUATED, f"{cause}: {error}"))


@dataclass(frozen=True)
class Qualified:
    """The result: the outcome, logs and reports as files by name, what else is needed to judge them again (`stored`,
    empty if not all runs were made), and seconds by kind."""

    outcome: Outcome
    files: dict[str, bytes] = field(default_factory=dict)
    stored: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


class Hopeless(NamedTuple):
    """Event data when the environment cannot be made. That holds for all neighbors whose tests are in the same
    packages, on which it depends what can be left out."""

    outcome: Outcome


#: for each test file, the folders above it that have a package.json
Packages = frozenset[tuple[str, ...]]


def packages_of(request: Qualify) -> Packages:
    """The packages of the touched tests. Reads the clone."""
    clone, candidate = opened_clone(request.clone), request.candidate
    paths = set(list_files(clone, candidate.base.sha))
    tests = scope.touched(paths, candidate.test_patch, show(clone, candidate.base.sha, "package.json"))
    return frozenset(
        tuple(folder for folder in above(test) if posixpath.join(folder, "package.json") in paths) for test in tests
    )


def kind(outcome: Outcome) -> str:
    """What an outcome counts as: QUALIFIED, or the reason of the rejection."""
    return outcome.reason if isinstance(outcome, Rejection) else QUALIFIED


def request(
    settings: Settings,
    clone: Clone,
    candidate: Candidate,
    environment: str = "",
    patience: Patience = PATIENT,
) -> Qualify:
    """The request for one candidate of an open clone."""
    return Qualify(
        candidate,
        str(clone.place),
        handle(settings.sandbox),
        repeats=settings.repeats,
        limits=settings.limits,
        scope=settings.scope,
        environment=environment,
        patience=patience,
    )


def make_ahead(request: Qualify) -> images.Recipe:
    """Make the layers that a qualification will begin with. Raises what the qualification would raise."""
    return Search(request, silent).make_ahead()
