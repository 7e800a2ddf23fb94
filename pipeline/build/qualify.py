"""Qualifying one candidate as a unit of work: `run`, `test` and `fix`, repeated, and what their transitions mean.

Reads the clone and works in a sandbox; writes nothing. The outcome is always a record: an Instance, or a Rejection with
a reason from the closed list, of which `not_evaluated` means that the machine failed.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, count, islice
from typing import Any, Literal, NamedTuple

from pipeline.build import health, hypotheses, learned, observe, overrides, repair
from pipeline.build.environments import Fields, changes_manifests, environment_of, manifest_commit, safe_files, tree_of
from pipeline.build.helpers import split
from pipeline.build.hypotheses import Case, Hypothesis
from pipeline.build.infer import Unsupported
from pipeline.build.infer.place import tool_of
from pipeline.build.installed import as_installed
from pipeline.build.judge import RUNS, Against, Ran, judge, passes, require_health, require_trust
from pipeline.build.learned import Learned
from pipeline.build.proposals import given
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
from pipeline.ecosystems.locks import Locked
from pipeline.ecosystems.protection import is_protected
from pipeline.ecosystems.registry import LookUp, Registry
from pipeline.execution import counter, images, reads, runs, scope
from pipeline.execution.applying import PatchFailed
from pipeline.execution.run import TestRun, pack
from pipeline.execution.runs import Plan
from pipeline.sandbox import node
from pipeline.sandbox.base import DEFAULT, InstallFailed, Limits, Sandbox
from pipeline.sandbox.handle import Handle, handle

Outcome = Instance | Rejection
#: what outcomes count as beside the reasons of rejections, of which the second is one: nothing was decided
QUALIFIED, NOT_EVALUATED = "qualified", "not_evaluated"


#: hypotheses about one sick base that are tried, and how many of them may install anew
MOST_HYPOTHESES, MOST_INSTALLS = 10, 3
#: bytes of memory that tests are given in any case, as if gold's had held them
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
    from neighbours. `environment` is the digest of the inferred one, which neighbours share; empty for none.
    `proposed` are fields of it that the model `set_up_by` proposed. `moved` are files of the gold patch that only tests
    import, which are the tests' here; `needs` are such files that are not, since gold fixes nothing without them.
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

    @property
    def name(self) -> str:
        return self.candidate.instance_id

    @property
    def affinity(self) -> str:
        return self.environment

    def perform(self, tell: Tell) -> Qualified:
        """Where gold fixes nothing without the files that only tests import, they are gold's after all."""
        qualified = self._once(tell)
        if self.moved and kind(qualified.outcome) == "no_fix_transition":
            tell(Event(self.name, f"gold needs {', '.join(self.moved)}: once more with them"))
            other = replace(self, moved=(), needs=self.moved)._once(tell)
            return other if kind(other.outcome) == QUALIFIED else qualified
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
    """The result: the outcome, logs and reports as files by name, what `judge` needs beside them to judge anew (empty
    where not all runs were made), and seconds by kind."""

    outcome: Outcome
    files: dict[str, bytes] = field(default_factory=dict)
    stored: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


class Layers(NamedTuple):
    """Told when a candidate's layers are there: their digests, and what was learned while they were made."""

    environment: str
    image: str
    learned: tuple[Learned, ...]


class Lessons(NamedTuple):
    """Told when the tests ran as they should: what that took."""

    learned: tuple[Learned, ...]


class Hopeless(NamedTuple):
    """Told where the environment cannot be made: it is so for all neighbours."""

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


def recipe(clone: Clone, candidate: Candidate, more: Fields | None = None) -> images.Recipe:
    """The image of a candidate, with `more` fields given. Dependencies that the gold patch changes are those of the
    fix, in all three runs.

    Raises Unsupported, and UserError when the clone lacks a commit.
    """
    require_commit(clone, candidate.base.sha)
    environment = environment_of(clone, candidate, more)
    return images.recipe(clone, environment, candidate.base.sha, manifest_commit(candidate))


def selected(clone: Clone, candidate: Candidate, wanted: str) -> tuple[str, ...]:
    """The test files that are run for a candidate; none for the scope `full`. Raises Unsupported."""
    if wanted == "full":
        return ()
    tree = safe_files(clone, candidate.base.sha)
    manifest = show(clone, candidate.base.sha, "package.json")
    return scope.files(wanted, tree, candidate.fix_patch, candidate.test_patch, manifest)


def make_ahead(request: Qualify) -> images.Recipe:
    """Make the layers that a qualification will begin with. Raises what it would raise."""
    return _Qualification(request, silent).make_ahead()


class _Qualification:
    """One attempt after another at one candidate, and what is kept of the last."""

    def __init__(self, request: Qualify, tell: Tell) -> None:
        self.request, self.tell = request, tell
        self.candidate, self.clone = request.candidate, opened_clone(request.clone)
        self.sandbox = request.sandbox.sandbox()
        self.files: dict[str, bytes] = {}
        self.stored: dict[str, Any] = {}
        self.made = False
        self.health: Health | None = None
        self.sick: _Sick | None = None

    def say(self, text: str) -> None:
        self.tell(Event(self.request.name, text))

    def keep(self, name: str, log: bytes) -> None:
        self.files[f"{name}.log.gz"] = gzip.compress(log, mtime=0)

    def outcome(self) -> Outcome:
        """How the candidate ends. Raises InfrastructureError and UserError only."""
        return self._ended().model_copy(update={"health": self.health})

    def _ended(self) -> Outcome:
        try:
            return self._qualified()
        except Rejected as end:
            if end.stage == "install":
                self.keep("install", end.log.encode())
            return self.request.rejected(end.reason, end.detail)
        except Unsupported as end:
            return self.request.rejected(end.reason, str(end))
        except PatchFailed as end:
            return self.request.rejected("patch_failed", str(end))
        except UnsafeTree as end:
            return self.request.rejected(UNSAFE_PATH, str(end))

    def make_ahead(self) -> images.Recipe:
        inferred, there, known = self._known()
        made = images.recipe(self.clone, repair.foreseen(known, there).environment, inferred.base, inferred.manifests)
        images.ensure(self.sandbox, self.clone, made, self.say)
        return made

    def _known(self) -> tuple[images.Recipe, Situation, Repair]:
        """What is inferred, what repair can look at, and what was learned from neighbours."""
        inferred = recipe(self.clone, self.candidate, given(self.request.proposed, self.request.set_up_by))
        there = self._situation(inferred)
        return inferred, there, learned.recall(self.request.learned, inferred.environment, there)

    def _situation(self, inferred: images.Recipe) -> Situation:
        """What repair can look at. What the registry does not say of the locked versions is told, and no more."""

        def look_up(packages: Iterable[Locked]) -> LookUp:
            wanted = [one for one in packages if one.version[:1].isdigit()]
            looked = Registry(node.registry(), cache_root()).look_up(wanted) if wanted else LookUp()
            if looked.missing:
                self.say(f"gone from the registry: {', '.join(' '.join(one) for one in looked.missing)}")
            if looked.unknown:
                self.say(f"{looked.unknown} locked versions could not be looked up: {looked.reason or 'no answer'}")
            return looked

        files, base = images.manifests_of(self.clone, inferred.manifests), inferred.base
        manifest = show(self.clone, base, "package.json")
        tests = scope.touched(list_files(self.clone, base), self.candidate.test_patch, manifest)
        return Situation(files, node.releases, look_up, tuple(tests), committed(self.clone, inferred.manifests)[:10])

    def _qualified(self) -> Instance:
        """In the inferred environment, in what repair makes of it, or in another one in which the base is well."""
        if self.request.scope == "touched" and not selected(self.clone, self.candidate, "touched"):
            self.made = True  # it says nothing about its neighbours
            raise Rejected("no_tests_run", "there is no file that a runner runs")
        inferred, there, known = self._known()
        attempt = partial(self._attempt, inferred)
        try:
            return self._repaired(known, inferred, there, attempt)
        except Rejected as end:
            if self.sick is None or end.stage != "run" or not health.may_explain(self.health, end.reason):
                raise
            if not self.health or not self.health.files:  # gold's run tells what the base's cannot
                self.sick = self.sick._replace(log=end.log)
            return self._hypothesized(end, self._case(self.sick, there), there, attempt)

    def _repaired(self, known: Repair, inferred: images.Recipe, there: Situation, attempt: repair.Attempt) -> Instance:
        """What was learned from neighbours comes first."""
        try:
            return repair.repaired(known, there, attempt, self.keep)
        except Rejected as end:
            decided = end.stage == "run" and self.health and self.health.well
            if decided or not any(step.stage == end.stage for step in known.steps):
                raise
        self.say("what was learned from neighbours does not help; starting again without it")
        return repair.repaired(Repair(inferred.environment), there, attempt, self.keep)

    # -- a base that is not well --------------------------------------------------------------------------------------
    def _case(self, sick: _Sick, there: Situation) -> Case:
        """What hypotheses are made of."""
        tree, sha = tree_of(self.clone, self.candidate), manifest_commit(self.candidate)
        touched = scope.touched(tree.paths, self.candidate.test_patch, tree.text("package.json"))
        tests = [file for file in touched if not tool_of(file)]
        return Case(
            tree=tree,
            date=committed(self.clone, sha),
            tests=tests,
            fixed=overrides.fixed(self.candidate) | given(self.request.proposed, self.request.set_up_by),
            environment=sick.state.environment,
            health=sick.health,
            log=sick.log,
            root=sick.root,
            there=there,
            observe=lambda: observe.observed(self.sandbox, sick.image, tree, tests),
            known=learned.preparations(self.request.learned, sick.state.environment),
        )

    def _hypothesized(self, end: Rejected, case: Case, there: Situation, attempt: repair.Attempt) -> Instance:
        """In the first other environment in which the base is well: then the candidate decides.

        Raises Rejected: with all that was tried, where the base is well in none.
        """
        assert self.sick
        self.keep("sick", case.log.encode())
        before = self.sick, dict(self.files), self.stored
        further: Iterator[Hypothesis] = iter(())
        sick, tried = before[0], [f"as read: {case.health}; {_tail(case.log)}"]
        found = self._hypotheses(case, installs=end.reason in ("environment_failed", "no_report"))
        for number in count(1):
            hypothesis = next(further, None) or next(found, None)
            if hypothesis is None:
                break
            self.say(f"the base is sick ({case.health}); trying {hypothesis.name}: {hypothesis.tells}"[:200])
            step = learned.step(hypothesis.name, hypothesis.tells, case.environment, hypothesis.environment)
            start = Repair(hypothesis.environment, (*sick.state.steps, step))
            self.health, self.sick = None, None
            try:
                return repair.repaired(start, there, attempt, self.keep)
            except Rejected as other:
                if other.stage == "run" and self._is_better(case, other):
                    raise
                told = f"{self.health}; {_tail(other.log)}" if self.health else f"{other.detail[:300]}"
                tried.append(f"{hypothesis.name}, {hypothesis.tells[:200]}: {told}")
                self.files = before[1] | {name: log for name, log in self.files.items() if name.startswith("tried.")}
                self.keep(f"tried.{number}", other.log.encode())
                if self.sick and number < MOST_HYPOTHESES:
                    further = chain(hypotheses.further(hypothesis.name, case, self._case(self.sick, there)), further)
        self.sick, self.stored, self.health = sick, before[2], case.health
        raise Rejected(end.reason, "\n".join([end.detail, "tried:", *tried]), log=end.log)

    def _hypotheses(self, case: Case, *, installs: bool) -> Iterator[Hypothesis]:
        """A bounded number of them, no environment twice; a base that is well in part is not installed anew."""
        seen, installed = {digest(case.environment.decisive)}, 0
        for one in islice(hypotheses.following(case, installs=installs), 4 * MOST_HYPOTHESES):
            key = digest(one.environment.decisive)
            anew = one.name in hypotheses.INSTALLING
            if key in seen or (anew and installed >= MOST_INSTALLS) or len(seen) > MOST_HYPOTHESES:
                continue
            seen.add(key)
            installed += anew
            yield one

    def _is_better(self, case: Case, other: Rejected) -> bool:
        """Whether it is the candidate that decides now: more of the base is well than before; of one without test
        files, that tests ran and some passed."""
        now, before = self.health, case.health
        if now is None or other.reason in ("environment_failed", "no_report", "no_tests_run"):
            return False
        return before.files == 0 or (now.well and (now.loaded, now.passed) > (before.loaded, before.passed))

    def _attempt(self, inferred: images.Recipe, state: Repair) -> Instance:
        """Install and run in one environment; what it took is told as soon as it is known to work."""
        lessons = partial(learned.lessons, inferred.environment)
        made = images.recipe(self.clone, state.environment, inferred.base, inferred.manifests)
        try:
            image = images.ensure(self.sandbox, self.clone, made, self.say)
        except InstallFailed as end:
            detail = f"{end}\n{end.log[-2000:]}"
            raise Rejected(repair.reason_of(end.log), detail, log=end.log, stage="install") from end
        self.made = True
        made = made._replace(environment=as_installed(self.sandbox, made.image, made.environment))
        deviations = [*image.deviations, *state.deviations]
        told = lessons([step for step in state.steps if step.stage == "install"])
        layers = Layers(made.environment_digest, made.image, told)
        self.tell(Event(self.request.name, kind="ready", data=layers))
        if made.manifests != made.base:
            deviations.append("the gold patch changes dependencies: the environment is the fix's in all three runs")
        elif changes_manifests(self.candidate):
            deviations.append("the gold patch changes dependencies that no known commit has: the base's are used")
        ran = self._ran(made, image.ran, tuple(deviations))
        three = self._three(ran, made, state)
        if self.health and self.health.well:
            self.tell(Event(self.request.name, data=Lessons(lessons(learned.ways(state.steps)))))
        known = ran.model_copy(update={"health": self.health, "memory": memory_of(three["fix"])})
        instance = judge(self.candidate, known, three)
        known = self._asked(known, made)
        self.tell(Event(self.request.name, data=Lessons(lessons(state.steps))))
        return judge(self.candidate, known, three, self._against(self._plan(known, made), instance))

    def _against(self, plan: Plan, instance: Instance) -> Against:
        """Gold's counter-runs, kept. Those of which nothing could be told are not made."""
        gold = (instance.fix_patch, instance.test_patch)
        self.say("falsifying expectations")
        parts = counter.made(plan, *gold)
        false = {"falsified": parts.falsified, "first": parts.first}
        wanted = {**false, "former": parts.former, "disguised": True}
        ran: dict[str, TestRun] = {}
        fields: dict[str, Any] = {}
        moved = False
        for kind in (one for one in counter.KINDS if wanted[one]):
            self.say(f"gold against {kind} expectations" if kind != "disguised" else "gold disguised")
            words = (kind, plan, instance.fix_patch, *gold, instance.expected_files, false.get(kind, ""))
            try:
                moved = kind == "disguised" and self._moved(instance, ran, words)
                if not moved:
                    ran[kind] = counter.run(*words)
            except PatchFailed as failed:  # ours: the candidate is not to blame
                self.say(f"no such run: {failed}")
                continue
            fields[kind], files = pack(ran[kind], f"counter.{kind}")
            self.files |= files
        self.stored["counter"] = {"made": parts.model_dump(mode="json"), "runs": fields, "moved": moved}
        return Against(parts, ran, moved)

    def _moved(self, instance: Instance, ran: dict[str, TestRun], words: tuple[Any, ...]) -> bool:
        """Whether gold passes disguised in a folder of another name; that run is then among those that `ran`."""
        try:
            found = counter.run(*words, moved=True)
        except InfrastructureError as error:  # the machine's faults come again where the repository stays in its place
            self.say(f"no other folder: {error}")
            return False
        if passes(instance, found):
            ran["disguised"] = found
            return True
        self.say("gold disguised, in its own folder")
        return False

    def _ran(self, made: images.Recipe, ran: Identity, deviations: tuple[str, ...]) -> Ran:
        return Ran(
            environment=made.environment,
            environment_digest=made.environment_digest,
            manifests=made.manifests,
            image=made.image,
            sandbox=self.sandbox.name,
            scope=self.request.scope,
            files=selected(self.clone, self.candidate, self.request.scope),
            repeats=self.request.repeats,
            deviations=deviations,
            ran=ran.within(vars(self.request.limits)),
            set_up_by=self.request.set_up_by,
            moved=self.request.moved,
            needs=self.request.needs,
        )

    def _plan(self, ran: Ran, made: images.Recipe) -> Plan:
        files = None if ran.scope == "full" else ran.files
        return Plan(self.sandbox, made.image, made.environment, files, self.request.limits, ran.protected)

    @cached_property
    def _expected(self) -> frozenset[str]:
        """The test files of the scope that are in the base, and that a runner should find."""
        there = set(list_files(self.clone, self.candidate.base.sha))
        files = selected(self.clone, self.candidate, self.request.scope)
        return frozenset(file for file in files if file in there and scope.is_test(file) and not tool_of(file))

    def _three(self, ran: Ran, made: images.Recipe, state: Repair) -> dict[str, list[TestRun]]:
        """The runs by name. `test` is what evaluation makes of an empty patch: gold's configuration and tests."""
        plan = self._plan(ran, made)
        done: dict[str, list[TestRun]] = {}
        fields: dict[str, Any] = {}
        for name, steps in zip(RUNS, _steps(split(self.candidate, self.request.moved)), strict=True):
            done[name] = []
            for number in range(1, ran.repeats + 1):
                self.say(f"{name} {number} of {ran.repeats}")
                run = runs.run_gold(plan, steps, cache="use" if name == "fix" else "fill")
                fields[f"{name}.{number}"], files_of = pack(run, f"{name}.{number}")
                self.files |= files_of
                if name == "run" and number == 1:
                    self._examine(plan, run, state)
                require_trust(run, name)
                done[name].append(run)
        known = ran.model_copy(update={"health": self.health, "memory": memory_of(done["fix"])})
        self.stored = {"ran": known.model_dump(mode="json"), "runs": fields}
        return done

    def _asked(self, ran: Ran, made: images.Recipe) -> Ran:
        """The same with the files by which the runner decides, asked once it is known to work."""
        self.say("observing which files the runner reads")
        asked = reads.ask(self._plan(ran, made), _steps(self.candidate)[-1], self.candidate.fix_patch)
        silent = () if asked.answered else ("the runner did not say all that it reads: its command and texts do",)
        known = ran.model_copy(update={"protected": asked.files, "deviations": (*ran.deviations, *silent)})
        self.stored["ran"] = known.model_dump(mode="json")
        return known

    def _examine(self, plan: Plan, run: TestRun, state: Repair) -> None:
        """Measure the base. Raises Rejected where nothing of it passes, nor anything with the gold patch."""
        if run.end not in ("ran", "no_report"):
            return  # a limit says nothing about the base
        self.health = health.measured(run, self._expected)
        self.sick = _Sick(state, plan.image, self.health, run.log.decode(errors="replace"), run.root)
        if run.end == "ran" and not run.doubts and self.health.files and not self.health.well:
            self.say(f"the base is sick ({self.health}): asking gold")
            fix = runs.run_gold(plan, _steps(self.candidate)[-1], cache="use")
            try:
                require_health(self.health, fix)
            except Rejected as end:
                raise Rejected(end.reason, end.detail, log=self.sick.log) from None


class _Sick(NamedTuple):
    """An environment that was installed, its image, and what became of the base in it."""

    state: Repair
    image: str
    health: Health
    log: str
    root: str


def memory_of(several: Sequence[TestRun]) -> int:
    """The most memory that runs held, in bytes, rounded up to a power of two: it is not the same each time. At least
    LEAST; 0 where it is not known."""
    most = max(run.memory for run in several)
    return max(LEAST, 1 << (most - 1).bit_length()) if most else 0


def _tail(log: str) -> str:
    """The last lines of a log, in one line."""
    return " | ".join(line.strip() for line in log.splitlines()[-12:] if line.strip())[-600:]


def _steps(candidate: Candidate) -> tuple[list[tuple[str, str]], ...]:
    """The patches of `run`, `test` and `fix`, by name and in their order."""
    configuration = select(candidate.fix_patch, is_protected)
    fix = select(candidate.fix_patch, lambda path: not is_protected(path))
    test = [("gold configuration", configuration), ("test", candidate.test_patch)]
    return [], test, [*test, ("fix", fix)]
