"""Qualifying one candidate as a unit of work: `run`, `test` and `fix`, repeated, and what their transitions mean.

Reads the clone and works in a sandbox; writes nothing. The outcome is always a record: an Instance, or a Rejection with
a reason from the closed list; `not_evaluated` means that the machine failed.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, count, islice
from typing import Any, Literal, NamedTuple

from pipeline.build import gold, health, hypotheses, learned, observe, overrides, repair
from pipeline.build.environments import Fields, changes_manifests, environment_of, manifest_commit, safe_files, tree_of
from pipeline.build.helpers import split
from pipeline.build.hypotheses import Case, Hypothesis
from pipeline.build.infer import Tree, Unsupported
from pipeline.build.infer.place import given, tool_of
from pipeline.build.installed import as_installed
from pipeline.build.judge import RUNS, CounterResults, Ran, judge, require_health, require_trust
from pipeline.build.learned import Learned
from pipeline.build.proposals import with_evidence
from pipeline.build.reasons import Rejected
from pipeline.build.remedies import Situation
from pipeline.build.repair import Repair
from pipeline.core.cache import cache_root
from pipeline.core.errors import InfrastructureError
from pipeline.core.git import Clone, committed, list_files, opened_clone, require_commit, show
from pipeline.core.patches import select
from pipeline.core.records import Candidate, Health, Identity, Instance, Rejection
from pipeline.core.retry import PATIENT, Patience, patiently
from pipeline.core.store import digest
from pipeline.core.timing import Clock
from pipeline.core.trees import UNSAFE_PATH, UnsafeTree
from pipeline.core.work import Event, Tell, silent
from pipeline.ecosystems import parser
from pipeline.ecosystems.locks import Locked
from pipeline.ecosystems.protection import is_protected
from pipeline.ecosystems.registry import LookUp, Registry
from pipeline.execution import generated, images, reads, runs, scope
from pipeline.execution.applying import PatchFailed
from pipeline.execution.run import TestRun, pack
from pipeline.execution.runs import Plan
from pipeline.sandbox import node
from pipeline.sandbox.base import DEFAULT, InstallFailed, Limits, Sandbox
from pipeline.sandbox.handle import Handle, handle

Outcome = Instance | Rejection
#: kinds of outcomes in addition to the reasons of rejections; the second one is also a reason: nothing was decided
QUALIFIED, NOT_EVALUATED = "qualified", "not_evaluated"


#: hypotheses that are tried for one sick base, and how many of them may need another install
MOST_HYPOTHESES, MOST_INSTALLS = 10, 3
#: bytes of memory that tests always get, as if gold's had used that much
LEAST = 2**30


@dataclass(frozen=True)
class Settings:
    """How instances are qualified: where, with how many repeats, within which limits, and which tests are run."""

    sandbox: Sandbox
    repeats: int = 3
    limits: Limits = DEFAULT
    scope: Literal["touched", "full"] = "touched"


@dataclass(frozen=True)
class Qualify:
    """The request: one candidate, where its objects come from (`clone`), where and how it runs, and what was learned
    from neighbors. `environment` is the digest of the inferred one, which neighbors share; empty if there is none.
    `proposed` are its fields that the model `set_up_by` proposed. `moved` are files of the gold patch that only tests
    import and that count as tests; `needs` are such files that stay in gold, which fixes nothing without them. `flaky`
    are tests that are known to be flaky.
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
            work = _Qualification(self, tell)
            outcome = patiently(work.outcome, work.say, self.patience)
            if self.environment and not work.made and kind(outcome) != NOT_EVALUATED:
                tell(Event(self.name, data=Hopeless(outcome)))
            return Qualified(outcome, work.files, work.stored, clock.seconds)

    def failed(self, error: Exception) -> Qualified:
        cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
        return Qualified(self.rejected(NOT_EVALUATED, f"{cause}: {error}"))

    def rejected(self, reason: str, detail: str) -> Rejection:
        """The rejection of this candidate."""
        return Rejection(instance_id=self.name, stage="build", reason=reason, detail=detail)


@dataclass(frozen=True)
class Qualified:
    """The result: the outcome, logs and reports as files by name, what else is needed to judge them again (`stored`,
    empty if not all runs were made), and seconds by kind."""

    outcome: Outcome
    files: dict[str, bytes] = field(default_factory=dict)
    stored: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


class Layers(NamedTuple):
    """Event data when a candidate's layers are made: their digests, and what was learned while making them."""

    environment: str
    image: str
    learned: tuple[Learned, ...]


class Lessons(NamedTuple):
    """Event data when the tests ran properly: the remedies that were needed."""

    learned: tuple[Learned, ...]


class Hopeless(NamedTuple):
    """Event data when the environment cannot be made, which holds for all neighbors."""

    outcome: Outcome


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


def recipe(clone: Clone, candidate: Candidate, fixed: Fields | None = None) -> images.Recipe:
    """The image of a candidate, with `fixed` fields taken as they are. If the gold patch changes dependencies, all
    three runs use the fix's.

    Raises Unsupported, and UserError when the clone lacks a commit.
    """
    require_commit(clone, candidate.base.sha)
    environment = environment_of(clone, candidate, fixed)
    return images.recipe(clone, environment, candidate.base.sha, manifest_commit(candidate))


def selected(clone: Clone, candidate: Candidate, scope_name: str) -> tuple[str, ...]:
    """The test files that are run for a candidate; empty for the scope `full`. Raises Unsupported."""
    if scope_name == "full":
        return ()
    tree = safe_files(clone, candidate.base.sha)
    manifest = show(clone, candidate.base.sha, "package.json")
    return scope.files(scope_name, tree, candidate.fix_patch, candidate.test_patch, manifest)


def make_ahead(request: Qualify) -> images.Recipe:
    """Make the layers that a qualification will begin with. Raises what the qualification would raise."""
    return _Qualification(request, silent).make_ahead()


class _Qualification:
    """The attempts at one candidate, and the files and results of the last one."""

    def __init__(self, request: Qualify, tell: Tell) -> None:
        self.request, self.tell = request, tell
        self.candidate, self.clone = request.candidate, opened_clone(request.clone)
        self.sandbox = request.sandbox.sandbox()
        self.files: dict[str, bytes] = {}
        self.stored: dict[str, Any] = {}
        self.made = False
        self.health: Health | None = None
        self.sick: _Sick | None = None
        self.seen: set[str] = set()  # environments of hypotheses

    def say(self, text: str) -> None:
        self.tell(Event(self.request.name, text))

    def keep(self, name: str, log: bytes) -> None:
        self.files[f"{name}.log.gz"] = gzip.compress(log, mtime=0)

    def outcome(self) -> Outcome:
        """The candidate's outcome. Raises only InfrastructureError and UserError."""
        return self._ended().model_copy(update={"health": self.health})

    def _ended(self) -> Outcome:
        try:
            return self._qualified()
        except Rejected as end:
            if end.stage != "run":
                self.keep("install", end.log.encode())
            return self.request.rejected(end.reason, end.detail)
        except Unsupported as end:
            return self.request.rejected(end.reason, str(end))
        except PatchFailed as end:
            return self.request.rejected("patch_failed", str(end))
        except UnsafeTree as end:
            return self.request.rejected(UNSAFE_PATH, str(end))

    def make_ahead(self) -> images.Recipe:
        inferred, situation, start = self._starting_point()
        environment = repair.foreseen(start, situation).environment
        target = images.recipe(self.clone, environment, inferred.base, inferred.manifests)
        images.ensure(self.sandbox, self.clone, target, self.say)
        return target

    def _starting_point(self) -> tuple[images.Recipe, Situation, Repair]:
        """The inferred image, the situation for repair, and the environment after what was learned from neighbors."""
        inferred = recipe(self.clone, self.candidate, with_evidence(self.request.proposed, self.request.set_up_by))
        situation = self._situation(inferred)
        return inferred, situation, learned.recall(self.request.learned, inferred.environment, situation)

    def _situation(self, inferred: images.Recipe) -> Situation:
        """What repair looks at. Locked versions that the registry does not answer for are only reported."""

        def look_up(packages: Iterable[Locked]) -> LookUp:
            wanted = [package for package in packages if package.version[:1].isdigit()]
            looked = Registry(node.registry(), cache_root()).look_up(wanted) if wanted else LookUp()
            if looked.missing:
                self.say(f"gone from the registry: {', '.join(' '.join(pair) for pair in looked.missing)}")
            if looked.unknown:
                self.say(f"{looked.unknown} locked versions could not be looked up: {looked.reason or 'no answer'}")
            return looked

        files, base = images.manifests_of(self.clone, inferred.manifests), inferred.base
        manifest = show(self.clone, base, "package.json")
        tests = scope.touched(list_files(self.clone, base), self.candidate.test_patch, manifest)
        return Situation(files, node.releases, look_up, tuple(tests), committed(self.clone, inferred.manifests)[:10])

    def _qualified(self) -> Instance:
        """Try the inferred environment, then repaired ones, then other ones in which the base may be well."""
        if self.request.scope == "touched" and not selected(self.clone, self.candidate, "touched"):
            self.made = True  # this says nothing about its neighbors
            raise Rejected("no_tests_run", "there is no file that a runner runs")
        inferred, situation, start = self._starting_point()
        self.seen = set()
        attempt = partial(self._attempt, inferred)
        try:
            return self._repaired(start, inferred, situation, attempt)
        except Rejected as end:
            return self._doubted(end, situation, attempt)

    def _doubted(self, end: Rejected, situation: Situation, attempt: repair.Attempt) -> Instance:
        """Try other environments if this one may explain the rejection; else raise it."""
        hangs = end.reason == "timeout" and self.health and not self.health.loaded
        if self.sick is None or end.stage != "run":
            raise end
        is_sick = health.may_explain(self.health, end.reason) or self._may_lack_files(end)
        if not (hangs or is_sick or self._may_run_others(end)):
            raise end
        if not hangs and not (self.health and self.health.files):  # gold's log says what the base's cannot
            self.sick = self.sick._replace(log=end.log)
        return self._hypothesized(end, self._case(self.sick, situation), situation, attempt)

    def _repaired(
        self, start: Repair, inferred: images.Recipe, situation: Situation, attempt: repair.Attempt
    ) -> Instance:
        """Repair, first with what was learned from neighbors, then without it."""
        try:
            return repair.repaired(start, situation, attempt, self.keep)
        except Rejected as end:
            decided = end.stage == "run" and self.health and self.health.well
            if decided or not any(end.stage in (step.stage, "prepare") for step in start.steps):
                raise
        self.say("what other candidates taught does not help; starting again without it")
        return repair.repaired(Repair(inferred.environment), situation, attempt, self.keep)

    # -- sick bases ---------------------------------------------------------------------------------------------------
    def _case(self, sick: _Sick, situation: Situation) -> Case:
        """The case from which hypotheses follow."""
        tree, sha = tree_of(self.clone, self.candidate), manifest_commit(self.candidate)
        tests = self._tests(tree)
        return Case(
            tree=tree,
            date=committed(self.clone, sha),
            tests=tests,
            fixed=overrides.fixed(self.candidate) | with_evidence(self.request.proposed, self.request.set_up_by),
            environment=sick.state.environment,
            health=sick.health,
            log=sick.log,
            root=sick.root,
            situation=situation,
            observe=lambda: observe.observed(self.sandbox, sick.image, tree, tests),
            preparations=learned.preparations(self.request.learned, sick.state.environment),
        )

    def _tests(self, tree: Tree) -> list[str]:
        """The touched test files that are not another tool's."""
        touched = scope.touched(tree.paths, self.candidate.test_patch, tree.text("package.json"))
        return [file for file in touched if not tool_of(tree, file)]

    def _hypothesized(self, end: Rejected, case: Case, situation: Situation, attempt: repair.Attempt) -> Instance:
        """Try other environments until the base is well in one, so that the candidate decides. If it is better in one,
        but not whole, and the candidate does not qualify, continue from that one.

        Raises Rejected: with everything that was tried, if the base is better in none.
        """
        assert self.sick
        self.keep("sick", case.log.encode())
        before = self.sick, dict(self.files), self.stored
        further: Iterator[Hypothesis] = iter(())
        sick, tried = before[0], [f"as read: {case.health}; {_tail(case.log)}"]
        untried = self._hypotheses(case, end.reason)
        tries = sum(name.startswith("tried.") for name in self.files)
        for number in count(1):
            hypothesis = next(further, None) or next(untried, None)
            if hypothesis is None:
                break
            self.say(f"the base is sick ({case.health}); trying {hypothesis.name}: {hypothesis.description}"[:200])
            name, environment = hypothesis.name, hypothesis.environment
            step = learned.hypothesis_step(name, hypothesis.description, case.environment, environment)
            start = Repair(environment, (*sick.state.steps, step))
            self.health, self.sick = None, None
            try:
                return repair.repaired(start, situation, attempt, self.keep)
            except Rejected as rejection:
                if rejection.stage == "run" and self._is_better(case, rejection):
                    return self._doubted(rejection, situation, attempt)
                result = f"{self.health}; {_tail(rejection.log)}" if self.health else f"{rejection.detail[:300]}"
                tried.append(f"{name}, {hypothesis.description[:200]}: {result}")
                self.files = before[1] | {file: log for file, log in self.files.items() if file.startswith("tried.")}
                self.keep(f"tried.{tries + number}", rejection.log.encode())
                if rejection.stage != "run":
                    further = chain(hypotheses.with_programs(case, hypothesis, rejection.log), further)
                if self.sick and number < MOST_HYPOTHESES:
                    further = chain(hypotheses.further(name, case, self._case(self.sick, situation)), further)
        self.sick, self.stored, self.health = sick, before[2], case.health
        reason = "environment_failed" if end.reason == "no_report" else end.reason  # the runner starts in none
        raise Rejected(reason, "\n".join([end.detail, "tried:", *tried]), log=end.log)

    def _hypotheses(self, case: Case, reason: str) -> Iterator[Hypothesis]:
        """A bounded number of hypotheses about a base that was rejected for a reason: each environment once, and few or
        none with an install. For a run that reached its time limit, only hypotheses about missing files follow, since
        each other attempt could take as long. The same holds for a base of which every file loads; if the runner names
        no files, those that load may not be the candidate's."""
        seen, installed = self.seen, 0
        seen.add(digest(case.environment.decisive))
        following = hypotheses.following(case, installs=reason in ("environment_failed", "no_report"))
        if reason == "timeout" or (case.health.files and case.health.whole):
            following = islice(hypotheses.prepared(case), MOST_INSTALLS)
            if reason == "no_fix_transition" and not parser(case.environment.parser).names_files:
                following = chain(following, hypotheses.run_otherwise(case))
        for hypothesis in islice(following, 4 * MOST_HYPOTHESES):
            key = digest(hypothesis.environment.decisive)
            reinstalls = hypothesis.name in hypotheses.INSTALLING
            if key in seen or (reinstalls and installed >= MOST_INSTALLS) or len(seen) > MOST_HYPOTHESES:
                continue
            seen.add(key)
            installed += reinstalls
            yield hypothesis

    def _is_better(self, case: Case, rejection: Rejected) -> bool:
        """Whether the candidate's own result counts now: more of the base is well than before or, in a base without
        test files, tests ran."""
        now, before = self.health, case.health
        if now is None or rejection.reason in ("environment_failed", "no_report", "no_tests_run"):
            return False
        return before.files == 0 or (now.well and (now.loaded, now.passed) > (before.loaded, before.passed))

    def _attempt(self, inferred: images.Recipe, state: Repair) -> Instance:
        """Install and run in one environment; lessons are reported as soon as it is known to work."""
        lessons = partial(learned.lessons, inferred.environment)
        target = images.recipe(self.clone, state.environment, inferred.base, inferred.manifests)
        try:
            image = images.ensure(self.sandbox, self.clone, target, self.say)
        except InstallFailed as end:
            detail = f"{end}\n{end.log[-2000:]}"
            stage: Literal["install", "prepare"] = "prepare" if isinstance(end, images.NotPrepared) else "install"
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
        """The rejection of a base that is not well. Its log begins with what failed when the files for its tests were
        made, so that a known fault of the build can be repaired as well."""
        if not target.environment.prepare or (self.health and self.health.well):
            return end
        with self.sandbox.open(target.image, cache="none") as workspace:
            failures = generated.failures_in(workspace)
        return Rejected(end.reason, end.detail, log=f"{failures}\n{end.log}", stage=end.stage) if failures else end

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

    def _runs_by_name(self, ran: Ran, target: images.Recipe, state: Repair) -> dict[str, list[TestRun]]:
        """The repeated runs by name. `test` equals the evaluation of an empty patch: gold's configuration and tests."""
        plan = self._plan(ran, target)
        results: dict[str, list[TestRun]] = {}
        fields: dict[str, Any] = {}
        for name, steps in zip(RUNS, _steps(split(self.candidate, self.request.moved)), strict=True):
            results[name] = []
            for number in range(1, ran.repeats + 1):
                self.say(f"{name} {number} of {ran.repeats}")
                run = runs.run_gold(plan, steps, cache="use" if name == "fix" else "fill")
                fields[f"{name}.{number}"], files_of = pack(run, f"{name}.{number}")
                self.files |= files_of
                if name == "run" and number == 1:
                    self._examine(plan, run, state)
                require_trust(run, name)
                results[name].append(run)
        ran = ran.model_copy(update={"health": self.health, "memory": memory_of(results["fix"])})
        self.stored = {"ran": ran.model_dump(mode="json"), "runs": fields}
        return results

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
        if run.end not in ("ran", "no_report") and not (run.end == "timeout" and self._lacks_own(_log(run), run.root)):
            return  # a limit says nothing about the base, unless a bundler waits for missing files that its log names
        self.health = health.measured(run, self._expected)
        self.sick = _Sick(state, plan.image, self.health, _log(run), run.root)
        if run.end == "ran" and not run.doubts and self.health.files and not self.health.well:
            self.say(f"the base is sick ({self.health}): running gold")
            fix = runs.run_gold(plan, _steps(self.candidate)[-1], cache="use")
            try:
                require_health(self.health, fix)
            except Rejected as end:
                raise Rejected(end.reason, end.detail, log=self.sick.log) from None

    def _lacks_own(self, log: str, root: str) -> bool:
        """Whether the log of a run names files or packages of the repository itself that are missing, or a script that
        makes them."""
        tree = tree_of(self.clone, self.candidate)
        return hypotheses.missing(tree, self._tests(tree), log, root).can_be_made

    def _may_lack_files(self, end: Rejected) -> bool:
        """Whether files that the repository makes may explain why tests of the base fail although all files load: a
        browser runs tests whose bundle is missing."""
        base, sick = self.health, self.sick
        fails = base is not None and base.passed < base.tests and end.reason in health.PARTLY
        return fails and sick is not None and self._lacks_own(sick.log, sick.root)

    def _may_run_others(self, end: Rejected) -> bool:
        """Whether the tests that pass may belong to another project: the runner does not name their files, and the fix
        changes none of them."""
        named = self.sick is None or parser(self.sick.state.environment.parser).names_files
        return end.reason == "no_fix_transition" and not named


class _Sick(NamedTuple):
    """An installed environment, its image, and the health and log of the base in it."""

    state: Repair
    image: str
    health: Health
    log: str
    root: str


def memory_of(test_runs: Sequence[TestRun]) -> int:
    """The most memory that a run used, in bytes, rounded up to a power of two since it varies. At least LEAST; 0 if
    unknown."""
    most = max(run.memory for run in test_runs)
    return max(LEAST, 1 << (most - 1).bit_length()) if most else 0


def _log(run: TestRun) -> str:
    return run.log.decode(errors="replace")


def _tail(log: str) -> str:
    """The last lines of a log, joined into one."""
    return " | ".join(line.strip() for line in log.splitlines()[-12:] if line.strip())[-600:]


def _steps(candidate: Candidate) -> tuple[list[tuple[str, str]], ...]:
    """The patches of `run`, `test` and `fix`, by name and in their order."""
    configuration = select(candidate.fix_patch, is_protected)
    fix = select(candidate.fix_patch, lambda path: not is_protected(path))
    test = [("gold configuration", configuration), ("test", candidate.test_patch)]
    return [], test, [*test, ("fix", fix)]
