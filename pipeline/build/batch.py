"""Qualifying candidates side by side: what is done already, what waits for what, and where a failure becomes data.

A candidate is done when its unit's manifest names the same inputs. What is stale moves to the archive and is redone.
Those of one environment are a group: what the first finds out about it holds for the others. Writes a unit's logs, its
timings and, last, its manifest.
"""

from __future__ import annotations

import gzip
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import git

from pipeline.build import faults
from pipeline.build.budget import Budget
from pipeline.build.infer import Unsupported
from pipeline.build.learned import Memory
from pipeline.build.qualify import VERSION, Job, Settings, make_ahead, qualify, recipe
from pipeline.core import verdict
from pipeline.core.aside import Aside
from pipeline.core.errors import InfrastructureError
from pipeline.core.progress import Progress
from pipeline.core.records import Candidate, Instance, Rejection
from pipeline.core.retry import Patience, patiently
from pipeline.core.store import Store, Unit, digest, write_bytes, write_json
from pipeline.core.timing import Clock
from pipeline.core.work import Interrupts, Prepared, in_groups
from pipeline.execution import runs, scope
from pipeline.execution.images import Recipe

log = logging.getLogger(__name__)
Outcome = Instance | Rejection

#: what outcomes count as besides the reasons of rejections, of which the second is one: nothing was decided
QUALIFIED, NOT_EVALUATED = "qualified", "not_evaluated"
#: the file of a unit that says where its time went
TIMINGS = "timings.json"


@dataclass(frozen=True)
class Task:
    """One candidate: `decided_by` are the digests of all that decides its outcome besides the settings.

    `environment` is the digest of the inferred one, empty where none follows from the files.
    """

    candidate: Candidate
    settings: Settings
    unit: Unit
    environment: str
    decided_by: dict[str, str]

    @property
    def name(self) -> str:
        return self.candidate.instance_id

    @property
    def inputs(self) -> dict[str, str]:
        """All that decides the outcome of an instance."""
        how = self.settings
        return {**self.decided_by, "settings": digest(how.sandbox.name, how.repeats, vars(how.limits), how.scope)}

    @property
    def is_done(self) -> bool:
        return self.unit.inputs() in (self.inputs, self.inputs | repair())

    def finish(self, outcome: Outcome) -> None:
        """Keep the outcome: the last write of the unit."""
        more = repair() if isinstance(outcome, Rejection) else {}
        self.unit.finish(outcome.model_dump(mode="json"), **self.inputs, **more)

    @property
    def is_current(self) -> bool:
        """Whether there is an outcome of this candidate, environment and rules, by whatever settings."""
        return self.decided_by.items() <= self.unit.inputs().items()

    def outcome(self) -> Outcome:
        """What was decided."""
        result = self.unit.result()
        return (Rejection if "reason" in result else Instance).model_validate(result)


def repair() -> dict[str, str]:
    """What decides a rejection besides its task's inputs: it may be stale when more can be repaired."""
    return {"repair": faults.table_digest()}


def unit_of(store: Store, candidate: Candidate) -> Unit:
    """The unit of work of one candidate; its folder holds the logs."""
    return Unit(store.qualification(candidate.repository) / "units" / candidate.instance_id)


def task(store: Store, clone: git.Repo, settings: Settings, repeats: Mapping[int, int], candidate: Candidate) -> Task:
    """What there is to do for a candidate. Raises UserError when the clone lacks a commit."""
    own = replace(settings, repeats=repeats.get(candidate.number, settings.repeats))
    try:
        made = recipe(clone, candidate)
        about = made.environment.model_dump(mode="json", exclude={"evidence"})
        inferred, environment = made.environment_digest, digest(made.image, about)
    except Unsupported as error:
        inferred, environment = "", digest(error.reason, str(error))
    rules = digest(runs.VERSION, VERSION, verdict.table_digest(), scope.VERSION)
    decided_by = {"candidate": digest(candidate), "environment": environment, "rules": rules}
    return Task(candidate, own, unit_of(store, candidate), inferred, decided_by)


def in_order(tasks: Iterable[Task]) -> list[list[Task]]:
    """Those of one environment together, and all in the order of merging: neighbours in time share environments."""
    groups = defaultdict[str, list[Task]](list)
    for one in sorted(tasks, key=lambda one: one.candidate.merged_at):
        groups[one.environment or one.name].append(one)
    return list(groups.values())


class Batch:
    """Works on tasks. The instance border: nothing is raised for a task, what breaks is recorded as data."""

    def __init__(
        self, store: Store, clone: git.Repo, memory: Memory, budget: Budget, progress: Progress, patience: Patience
    ) -> None:
        self.store, self.clone, self.memory = store, clone, memory
        self.budget, self.progress, self.patience = budget, progress, patience
        self.groups: dict[str, list[Task]] = {}
        self.begun: set[str] = set()
        self.hopeless: dict[str, Rejection] = {}

    def run(self, tasks: Iterable[Task], jobs: int) -> Iterator[Outcome]:
        """How the tasks ended, as they end. While tests run, the next environment and the next sources are made."""
        groups = in_order(tasks)
        for group in groups:
            self.groups[group[0].environment] = group
            for one in group:
                self.budget.hold(one.name, one.environment)
        interrupts = Interrupts(self.progress.stopping, self.budget.sandbox.abort)
        self._keep_disk()
        with Aside() as self.aside:
            yield from in_groups(groups, self._work, jobs=jobs, ahead=1, interrupts=interrupts)

    def _work(self, one: Task, prepared: Prepared) -> Outcome:
        """How a candidate ended; `prepared` is called when its environment is there."""
        self.begun.add(one.name)
        self._aside(self._keep_disk)
        try:
            outcome = self._outcome(one, prepared)
        except Exception as error:
            log.exception("%s", one.name)
            cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
            detail = f"{cause}: {error}"
            outcome = Rejection(instance_id=one.name, stage="build", reason=NOT_EVALUATED, detail=detail)
        self.budget.release(one.name)
        self.progress.finish(one.name, describe(outcome), kind(outcome))
        return outcome

    def _outcome(self, one: Task, prepared: Prepared) -> Outcome:
        self.store.archive(one.unit.folder)
        with Clock() as clock:
            outcome = self._qualified(one, prepared)
            write_json(one.unit.folder / TIMINGS, clock.seconds)
        if kind(outcome) == NOT_EVALUATED:
            return outcome
        one.finish(outcome)
        return one.outcome()

    def _qualified(self, one: Task, prepared: Prepared) -> Outcome:
        """Qualify a candidate, unless a neighbour found that their environment cannot be made."""
        if hopeless := self.hopeless.get(one.environment):
            return hopeless.model_copy(update={"instance_id": one.name})
        made = False

        def ready(recipe: Recipe) -> None:
            nonlocal made
            made = True
            self.budget.add([near.name for near in self.groups[one.environment]], recipe.environment_digest)
            self.budget.add([one.name], recipe.image)
            prepared()
            self._aside(lambda: self._make_ahead(one.environment))

        say, keep = self._say(one), self._keep(one.unit.folder)
        job = Job(one.settings, self.clone, one.candidate, self.memory, say, keep, ready)
        outcome = patiently(lambda: qualify(job), say, self.patience)
        if one.environment and not made and kind(outcome) != NOT_EVALUATED:
            self.hopeless[one.environment] = outcome
        return outcome

    def _aside(self, work: Callable[[], None]) -> None:
        """Do what no unit waits for. What fails here is met again by the units that need it."""

        def attempt() -> None:
            try:
                work()
            except Exception:
                log.info("failed, for now", exc_info=True)

        self.aside.submit(attempt)

    def _keep_disk(self) -> None:
        self.progress.note("disk", self.budget.keep())

    def _make_ahead(self, environment: str) -> None:
        """The layers of the next of a group: sources, on the environment that is there."""
        if one := next((one for one in self.groups[environment] if one.name not in self.begun), None):
            job = Job(one.settings, self.clone, one.candidate, self.memory)
            self.budget.add([one.name], make_ahead(job).image)

    def _say(self, one: Task) -> Callable[[str], None]:
        return lambda text: self.progress.step(one.name, text)

    @staticmethod
    def _keep(folder: Path) -> Callable[[str, bytes], None]:
        return lambda name, data: write_bytes(folder / f"{name}.log.gz", gzip.compress(data, mtime=0))


def kind(outcome: Outcome) -> str:
    """What an outcome counts as: `qualified`, or the reason."""
    return outcome.reason if isinstance(outcome, Rejection) else QUALIFIED


def describe(outcome: Outcome) -> str:
    """One line on how a candidate ended."""
    if isinstance(outcome, Rejection):
        return f"rejected: {outcome.reason}"
    flaky = f", {len(outcome.quarantine)} quarantined" if outcome.quarantine else ""
    return f"qualified: {len(outcome.f2p_tests)} fail-to-pass, {len(outcome.p2p_tests)} pass-to-pass{flaky}"
