"""The search for an environment in which a candidate qualifies: the inferred one, repaired ones, and hypotheses about a
sick base.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, count, islice

from pipeline.build import health, history_lock, hypotheses, learned, observe, overrides, repair
from pipeline.build.case import Case
from pipeline.build.environments import manifest_commit, recipe, selected, tree_of
from pipeline.build.hypotheses import Hypothesis
from pipeline.build.infer import Unsupported
from pipeline.build.proposals import with_evidence
from pipeline.build.reasons import Rejected
from pipeline.build.repair import Attempts, Repair
from pipeline.build.situation import Situation
from pipeline.build.trial import Sick, Trial, Wanted
from pipeline.core.cache import cache_root
from pipeline.core.git import committed, list_files, show
from pipeline.core.records import Instance, Rejection
from pipeline.core.store import digest
from pipeline.core.trees import UNSAFE_PATH, UnsafeTree
from pipeline.core.work import Tell
from pipeline.ecosystems import parser
from pipeline.ecosystems.locks import Locked
from pipeline.ecosystems.registry import LookUp, Registry
from pipeline.execution import images, scope
from pipeline.execution.applying import PatchFailed
from pipeline.sandbox import node

#: hypotheses that are tried for one sick base, and how many of them may need another install
MOST_HYPOTHESES, MOST_INSTALLS = 10, 3


class Search:
    """The search for one candidate; `trial` has what the last trial left."""

    def __init__(self, request: Wanted, tell: Tell) -> None:
        self.request, self.trial = request, Trial(request, tell)
        self.candidate, self.clone = self.trial.candidate, self.trial.clone
        self.seen: set[str] = set()  # environments of hypotheses

    def outcome(self) -> Instance | Rejection:
        """The candidate's outcome. Raises only InfrastructureError and UserError."""
        return self._ended().model_copy(update={"health": self.trial.health})

    def _ended(self) -> Instance | Rejection:
        try:
            return self._qualified()
        except Rejected as end:
            if end.stage != "run":
                self.trial.keep("install", end.log.encode())
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
        images.ensure(self.trial.sandbox, self.clone, target, self.trial.say)
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
                self.trial.say(f"gone from the registry: {', '.join(' '.join(pair) for pair in looked.missing)}")
            if looked.unknown:
                self.trial.say(
                    f"{looked.unknown} locked versions could not be looked up: {looked.reason or 'no answer'}"
                )
            return looked

        files, base = images.manifests_of(self.clone, inferred.manifests), inferred.base
        manifest = show(self.clone, base, "package.json")
        tests = scope.touched(list_files(self.clone, base), self.candidate.test_patch, manifest)
        return Situation(files, node.releases, look_up, tuple(tests), committed(self.clone, inferred.manifests)[:10])

    def _qualified(self) -> Instance:
        """Try the inferred environment, then repaired ones, then other ones in which the base may be well."""
        if self.request.scope == "touched" and not selected(self.clone, self.candidate, "touched"):
            self.trial.made = True  # this says nothing about its neighbors
            raise Rejected("no_tests_run", "there is no file that a runner runs")
        inferred, situation, start = self._starting_point()
        self.seen = set()
        attempt = partial(self.trial.make, inferred)
        try:
            return self._repaired(start, inferred, situation, attempt)
        except Rejected as end:
            return self._doubted(end, situation, attempt)

    def _doubted(self, end: Rejected, situation: Situation, attempt: repair.Attempt) -> Instance:
        """Try other environments if this one may explain the rejection; else raise it."""
        hangs = end.reason == "timeout" and self.trial.health and not self.trial.health.loaded
        if self.trial.sick is None or end.stage != "run":
            raise end
        case = self._case(self.trial.sick, situation)
        is_sick = health.may_explain(self.trial.health, end.reason) or self._may_lack_files(end, case)
        if not (hangs or is_sick or self._may_run_others(end) or _may_lack_patches(end, case)):
            raise end
        if not hangs and not (self.trial.health and self.trial.health.files):  # gold's log says what the base's cannot
            self.trial.sick = self.trial.sick._replace(log=end.log)
            case = replace(case, log=end.log)
        return self._hypothesized(end, case, situation, attempt)

    def _repaired(
        self, start: Repair, inferred: images.Recipe, situation: Situation, attempt: repair.Attempt
    ) -> Instance:
        """Repair, first with what was learned from neighbors, then without it."""
        attempts = Attempts(attempt, self.trial.keep)
        try:
            return repair.repaired(start, situation, attempts, attempts.keep)
        except Rejected as end:
            decided = end.stage == "run" and self.trial.health and self.trial.health.well
            if decided or not any(end.stage in (step.stage, "prepare") for step in start.steps):
                raise
        self.trial.say("what other candidates taught does not help; starting again without it")
        return repair.repaired(Repair(inferred.environment), situation, attempts, attempts.keep)

    def _case(self, sick: Sick, situation: Situation) -> Case:
        """The case from which hypotheses follow."""
        tree, sha = tree_of(self.clone, self.candidate), manifest_commit(self.candidate)
        tests, day = self.trial.tests(tree), committed(self.clone, sha)
        return Case(
            tree=tree,
            date=day,
            tests=tests,
            fixed=overrides.fixed(self.candidate) | with_evidence(self.request.proposed, self.request.set_up_by),
            environment=sick.state.environment,
            health=sick.health,
            log=sick.log,
            root=sick.root,
            situation=situation,
            observe=lambda: observe.observed(self.trial.sandbox, sick.image, tree, tests),
            preparations=learned.preparations(self.request.learned, sick.state.environment),
            history_lock=lambda: history_lock.nearest(self.clone, day),
        )

    def _hypothesized(self, end: Rejected, case: Case, situation: Situation, attempt: repair.Attempt) -> Instance:
        """Try other environments until the base is well in one, so that the candidate decides. If it is better in one,
        but not whole, and the candidate does not qualify, continue from that one.

        Raises Rejected: with everything that was tried, if the base is better in none.
        """
        trial, sick = self.trial, self.trial.sick
        assert sick
        trial.keep("sick", case.log.encode())
        files, stored = dict(trial.files), trial.stored
        further: Iterator[Hypothesis] = iter(())
        untried, tried = self._hypotheses(case, end.reason), [f"as read: {case.health}; {_tail(case.log)}"]
        tries = sum(name.startswith("tried.") for name in files)
        for number in count(1):
            hypothesis = next(further, None) or next(untried, None)
            if hypothesis is None:
                break
            name, text, environment = hypothesis.name, hypothesis.description, hypothesis.environment
            trial.say(f"the base is sick ({case.health}); trying {name}: {text}"[:200])
            step = learned.hypothesis_step(name, text, case.environment, environment)
            trial.health, trial.sick = None, None
            try:
                return repair.repaired(Repair(environment, (*sick.state.steps, step)), situation, attempt, trial.keep)
            except Rejected as rejection:
                if rejection.stage == "run" and self._is_better(case, rejection):
                    return self._doubted(rejection, situation, attempt)
                result = f"{trial.health}; {_tail(rejection.log)}" if trial.health else rejection.detail[:300]
                tried.append(f"{name}, {text[:200]}: {result}")
                trial.files = files | {file: log for file, log in trial.files.items() if file.startswith("tried.")}
                trial.keep(f"tried.{tries + number}", rejection.log.encode())
                if rejection.stage != "run":
                    further = chain(hypotheses.with_programs(case, hypothesis, rejection.log), further)
                if trial.sick and number < MOST_HYPOTHESES:
                    further = chain(hypotheses.further(name, case, self._case(trial.sick, situation)), further)
        trial.sick, trial.stored, trial.health = sick, stored, case.health
        reason = "environment_failed" if end.reason == "no_report" else end.reason  # the runner starts in none
        raise Rejected(reason, "\n".join([end.detail, "tried:", *tried]), log=end.log)

    def _hypotheses(self, case: Case, reason: str) -> Iterator[Hypothesis]:
        """A bounded number of hypotheses about a base that was rejected for a reason: each environment once, and few or
        none with an install. For a run that reached its time limit, only hypotheses about missing files follow, since
        each other attempt could take as long. The same holds for a base of which every file loads, except that packages
        may have to be patched, and that, if the runner names no files, those that load may not be the candidate's."""
        seen, installed = self.seen, 0
        seen.add(digest(case.environment.decisive))
        following = hypotheses.following(case, installs=reason in ("environment_failed", "no_report"))
        if reason == "timeout" or (case.health.files and case.health.whole):
            patched = hypotheses.patched(case) if reason in health.PARTLY else ()
            following = chain(islice(hypotheses.prepared(case), MOST_INSTALLS), patched)
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
        now, before = self.trial.health, case.health
        if now is None or rejection.reason in ("environment_failed", "no_report", "no_tests_run"):
            return False
        return before.files == 0 or (now.well and (now.loaded, now.passed) > (before.loaded, before.passed))

    def _may_lack_files(self, end: Rejected, case: Case) -> bool:
        """Whether files that the repository makes may explain why tests of the base fail although all files load: a
        browser runs tests whose bundle is missing, or gets pages without their scripts from a server."""
        base = self.trial.health
        if base is None or base.passed == base.tests or end.reason not in health.PARTLY:
            return False
        return self.trial.lacks_own(case.log, case.root) or case.is_served

    def _may_run_others(self, end: Rejected) -> bool:
        """Whether the tests that pass may belong to another project: the runner does not name their files, and the fix
        changes none of them."""
        named = self.trial.sick is None or parser(self.trial.sick.state.environment.parser).names_files
        return end.reason == "no_fix_transition" and not named


def _may_lack_patches(end: Rejected, case: Case) -> bool:
    """Whether the repository's patches of packages, which no install applies, may explain why the fix fixes nothing
    although the base is well."""
    return end.reason in health.PARTLY and any(hypotheses.patched(case))


def _tail(log: str) -> str:
    """The last lines of a log, joined into one."""
    return " | ".join(line.strip() for line in log.splitlines()[-12:] if line.strip())[-600:]
