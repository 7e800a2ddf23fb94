"""Trying environments for one candidate: each is installed, and `run`, `test` and `fix` are run in it.

Reads the clone and works in a sandbox; writes nothing. Which environments are tried is decided by `search`.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

from pipeline.build import case, gold, health, learned, repair
from pipeline.build.environments import changes_manifests, selected, tree_of
from pipeline.build.helpers import split
from pipeline.build.infer import Tree
from pipeline.build.infer.foreign import given, tool_of
from pipeline.build.installed import as_installed, requirements
from pipeline.build.judge import RUNS, CounterResults, Ran, judge, require_health, require_trust
from pipeline.build.learned import Learned
from pipeline.build.reasons import Rejected
from pipeline.build.repair import Repair
from pipeline.core.git import list_files, opened_clone
from pipeline.core.patches import select
from pipeline.core.records import Candidate, Environment, Health, Identity, Instance, Rejection
from pipeline.core.retry import PATIENT, Patience
from pipeline.core.work import Event, Tell
from pipeline.ecosystems.protection import is_protected
from pipeline.execution import generated, images, reads, runs, scope
from pipeline.execution.run import TestRun, pack
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import InstallFailed, Limits
from pipeline.sandbox.handle import Handle

#: how the names of files begin that are not of the last environment's runs
_OF_ATTEMPTS = ("repaired.", "tried.", "sick.", "install.")
#: bytes of memory that tests always get, as if gold's had used that much
LEAST = 2**30
#: reasons of rejections that the first repeat of the runs decides: further ones can only quarantine tests
_SETTLED = ("environment_failed", "no_tests_run", "no_fix_transition")


@dataclass(frozen=True)
class Wanted:
    """What is to be qualified: one candidate, where its objects come from (`clone`), where and how it runs, and what
    was learned from neighbors.

    `environment` is the digest of the inferred one, which neighbors share; empty if there is none. `proposed` are its
    fields that the model `set_up_by` proposed. `moved` are files of the gold patch that only tests import and that
    count as tests; `needs` are such files that stay in gold, which fixes nothing without them. `flaky` are tests that
    are known to be flaky.
    """

    candidate: Candidate
    clone: str
    sandbox: Handle
    repeats: int
    limits: Limits
    scope: Literal["touched", "full"]
    environment: str = ""
    learned: tuple[Learned, ...] = ()
    patience: Patience = PATIENT
    proposed: Mapping[str, Any] = field(default_factory=dict)
    set_up_by: str = ""
    moved: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.candidate.instance_id

    def rejected(self, reason: str, detail: str) -> Rejection:
        """The rejection of this candidate."""
        return Rejection(instance_id=self.name, stage="build", reason=reason, detail=detail)


class Layers(NamedTuple):
    """Event data when a candidate's layers are made: their digests, and what was learned while making them."""

    environment: str
    image: str
    learned: tuple[Learned, ...]


class Lessons(NamedTuple):
    """Event data when the tests ran properly: the remedies that were needed."""

    learned: tuple[Learned, ...]


class Sick(NamedTuple):
    """An installed environment, its image, and the health and log of the base in it."""

    state: Repair
    image: str
    health: Health
    log: str
    root: str


class Trial:
    """A candidate in one environment after the other, and what the last one left: files and results (`stored`) to keep,
    the health of the base, and the environment in `sick`, whose base may not be well. `made` tells whether any
    environment was installed, with its prepared files; `unprepared` whether making these failed."""

    def __init__(self, request: Wanted, tell: Tell) -> None:
        self.request, self.tell = request, tell
        self.candidate, self.clone = request.candidate, opened_clone(request.clone)
        self.sandbox = request.sandbox.sandbox()
        self.files: dict[str, bytes] = {}
        self.stored: dict[str, Any] = {}
        self.made, self.unprepared = False, False
        self.health: Health | None = None
        self.sick: Sick | None = None

    def say(self, text: str) -> None:
        self.tell(Event(self.request.name, text))

    def keep(self, name: str, log: bytes) -> None:
        self.files[f"{name}.log.gz"] = gzip.compress(log, mtime=0)

    def make(self, inferred: images.Recipe, state: Repair) -> Instance:
        """Install and run in one environment; lessons are reported as soon as it is known to work."""
        lessons = partial(learned.lessons, inferred.environment)
        target = images.recipe(self.clone, state.environment, inferred.base, inferred.manifests)
        try:
            image = images.ensure(self.sandbox, self.clone, target, self.say)
        except InstallFailed as end:
            detail = f"{end}\n{end.log[-2000:]}"
            stage: Literal["install", "prepare"] = "prepare" if isinstance(end, images.NotPrepared) else "install"
            self.unprepared = self.unprepared or stage == "prepare"
            raise Rejected(repair.reason_of(end.log), detail, log=end.log, stage=stage) from end
        self.made = True
        target = target._replace(environment=as_installed(self.sandbox, target.image, target.environment))
        deviations = [*image.deviations, *state.deviations]
        install_lessons = lessons([step for step in state.steps if step.stage == "install"])
        layers = Layers(target.environment_digest, target.image, install_lessons)
        self.tell(Event(self.request.name, kind="ready", data=layers))
        if target.manifests != target.base:
            deviations.append("the gold patch changes dependencies: the environment is the fix's in all three runs")
        elif changes_manifests(self.candidate):
            deviations.append("the gold patch changes dependencies that no known commit has: the base's are used")
        ran = self._ran(target, image.ran, tuple(deviations))
        try:
            runs_by_name = self._runs_by_name(ran, target, state)
            if self.health and self.health.well:
                self.tell(Event(self.request.name, data=Lessons(lessons(learned.of_sick_base(state.steps)))))
            ran = ran.model_copy(update={"health": self.health, "memory": memory_of(runs_by_name["fix"])})
            instance = judge(self.candidate, ran, runs_by_name, flaky=self.request.flaky)
        except Rejected as end:
            raise self._with_failures(end, target) from None
        ran = self._with_protected(ran, target)
        self.tell(Event(self.request.name, data=Lessons(lessons(state.steps))))
        counter_results = self._counter_results(self._plan(ran, target), instance)
        return judge(self.candidate, ran, runs_by_name, counter_results, self.request.flaky)

    def _with_failures(self, end: Rejected, target: images.Recipe) -> Rejected:
        """The rejection of a base that is not well. Its log begins with what the image tells of the reasons, so that a
        known fault can be repaired: what failed when the files for the tests were made, and the versions of Node that
        packages require."""
        if self.health and self.health.well:
            return end
        with self.sandbox.open(target.image, cache="none") as workspace:
            failures = generated.failures_in(workspace) if target.environment.prepare else ""
            told = [failures, *requirements(workspace, target.environment, end.log), end.log]
        return Rejected(end.reason, end.detail, log="\n".join(filter(None, told)), stage=end.stage)

    def _counter_results(self, plan: Plan, instance: Instance) -> CounterResults:
        """Gold's counter-runs, which are stored."""
        gold.warm(plan, instance, self.say)
        results = gold.make(plan, instance, self.say)
        self.stored["counter"], files = gold.packed(results)
        self.files |= files
        return results

    def _ran(self, target: images.Recipe, ran: Identity, deviations: tuple[str, ...]) -> Ran:
        chosen = selected(self.clone, self.candidate, self.request.scope)
        files = given(tree_of(self.clone, self.candidate), target.environment.runner, chosen)
        others = ", ".join(file for file in chosen if file not in files)
        note = (f"tests of another tool, left out: {others}",) if others else ()
        return Ran(
            environment=target.environment,
            environment_digest=target.environment_digest,
            manifests=target.manifests,
            image=target.image,
            sandbox=self.sandbox.name,
            scope=self.request.scope,
            files=tuple(files),
            repeats=self.request.repeats,
            deviations=(*deviations, *note),
            ran=ran.within(vars(self.request.limits)),
            set_up_by=self.request.set_up_by,
            moved=self.request.moved,
            needs=self.request.needs,
        )

    def _plan(self, ran: Ran, target: images.Recipe) -> Plan:
        files = None if ran.scope == "full" else ran.files
        return Plan(self.sandbox, target.image, target.environment, files, self.request.limits, ran.protected)

    @cached_property
    def _expected(self) -> frozenset[str]:
        """The test files of the scope that are in the base and that a runner should find."""
        in_base = set(list_files(self.clone, self.candidate.base.sha))
        tree = tree_of(self.clone, self.candidate)
        files = selected(self.clone, self.candidate, self.request.scope)
        return frozenset(file for file in files if file in in_base and scope.is_test(file) and not tool_of(tree, file))

    def _run_by(self, environment: Environment) -> frozenset[str]:
        """The test files that a command should find: the expected ones, or those that it names in their place."""
        if "{files}" in environment.selection:
            return self._expected
        in_base = list_files(self.clone, self.candidate.base.sha)
        return frozenset(environment.selection).intersection(in_base) or self._expected

    def _runs_by_name(self, ran: Ran, target: images.Recipe, state: Repair) -> dict[str, list[TestRun]]:
        """The repeated runs by name. `test` equals the evaluation of an empty patch: gold's configuration and tests.
        The repeats end with the first one if it decides that the candidate is rejected."""
        self._forget_runs()
        plan = self._plan(ran, target)
        steps = dict(zip(RUNS, _steps(split(self.candidate, self.request.moved)), strict=True))
        results: dict[str, list[TestRun]] = {name: [] for name in RUNS}
        fields: dict[str, Any] = {}
        for number in range(1, ran.repeats + 1):
            for name in RUNS:
                self.say(f"{name} {number} of {ran.repeats}")
                run = runs.run_gold(plan, steps[name], cache="use" if name == "fix" else "fill")
                fields[f"{name}.{number}"], files_of = pack(run, f"{name}.{number}")
                self.files |= files_of
                if name == "run" and number == 1:
                    self._examine(plan, run, state)
                require_trust(run, name)
                results[name].append(run)
            ran = ran.model_copy(update={"health": self.health, "memory": memory_of(results["fix"])})
            if number == 1 < ran.repeats and self._is_settled(ran, results):
                ran = ran.model_copy(update={"repeats": number})
                break
        self.stored = {"ran": ran.model_dump(mode="json"), "runs": fields}
        return results

    def _is_settled(self, ran: Ran, results: Mapping[str, Sequence[TestRun]]) -> bool:
        """Whether no further repeats can save the candidate from being rejected."""
        try:
            judge(self.candidate, ran, results, flaky=self.request.flaky)
        except Rejected as end:
            return end.reason in _SETTLED
        return False

    def _forget_runs(self) -> None:
        """Leave out what was stored of the runs in an earlier environment; the logs of its attempts stay."""
        self.stored = {}
        self.files = {name: data for name, data in self.files.items() if name.startswith(_OF_ATTEMPTS)}

    def _with_protected(self, ran: Ran, target: images.Recipe) -> Ran:
        """Add the protected files, which the runner reads to decide; observed once the environment is known to work."""
        self.say("observing which files the runner reads")
        observed = reads.ask(self._plan(ran, target), _steps(self.candidate)[-1], self.candidate.fix_patch)
        note = () if observed.answered else ("the runner did not say all that it reads: its command and texts do",)
        ran = ran.model_copy(update={"protected": observed.files, "deviations": (*ran.deviations, *note)})
        self.stored["ran"] = ran.model_dump(mode="json")
        return ran

    def _examine(self, plan: Plan, run: TestRun, state: Repair) -> None:
        """Measure the base. Raises Rejected if nothing passes in it, nor with the gold patch."""
        if run.end not in ("ran", "no_report") and not (run.end == "timeout" and self.lacks_own(_log(run), run.root)):
            return  # a limit says nothing about the base, unless a bundler waits for missing files that its log names
        self.health = health.measured(run, self._run_by(plan.environment))
        self.sick = Sick(state, plan.image, self.health, _log(run), run.root)
        if run.end == "ran" and not run.doubts and self.health.files and not self.health.well:
            self.say(f"the base is sick ({self.health}): running gold")
            fix = runs.run_gold(plan, _steps(self.candidate)[-1], cache="use")
            try:
                require_health(self.health, fix)
            except Rejected as end:
                raise Rejected(end.reason, end.detail, log=self.sick.log) from None

    def tests(self, tree: Tree) -> list[str]:
        """The touched test files that are not another tool's."""
        touched = scope.touched(tree.paths, self.candidate.test_patch, tree.text("package.json"))
        return [file for file in touched if not tool_of(tree, file)]

    def lacks_own(self, log: str, root: str) -> bool:
        """Whether the log of a run names files or packages of the repository itself that are missing, or a script that
        makes them."""
        tree = tree_of(self.clone, self.candidate)
        return case.missing(tree, self.tests(tree), log, root).can_be_made


def memory_of(test_runs: Sequence[TestRun]) -> int:
    """The most memory that a run used, in bytes, rounded up to a power of two since it varies. At least LEAST; 0 if
    unknown."""
    most = max(run.memory for run in test_runs)
    return max(LEAST, 1 << (most - 1).bit_length()) if most else 0


def _log(run: TestRun) -> str:
    return run.log.decode(errors="replace")


def _steps(candidate: Candidate) -> tuple[list[tuple[str, str]], ...]:
    """The patches of `run`, `test` and `fix`, by name and in their order."""
    configuration = select(candidate.fix_patch, is_protected)
    fix = select(candidate.fix_patch, lambda path: not is_protected(path))
    test = [("gold configuration", configuration), ("test", candidate.test_patch)]
    return [], test, [*test, ("fix", fix)]
