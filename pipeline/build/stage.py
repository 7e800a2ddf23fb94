"""Building a repository's dataset: qualify every candidate that is not done, and put the records together.

A candidate is done when its unit's manifest names the same inputs. What is stale moves to the archive and is redone.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import git

from pipeline.build import environments, faults, scope
from pipeline.build.infer import Unsupported
from pipeline.build.learned import Memory
from pipeline.build.qualify import VERSION, Job, Settings, qualify, recipe
from pipeline.core import runs, verdict
from pipeline.core.console import Progress, log_file
from pipeline.core.engine import each
from pipeline.core.errors import InfrastructureError, UserError, unknown
from pipeline.core.git import require_commit
from pipeline.core.images import source
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Candidate, Instance, Rejection, Review
from pipeline.core.retry import PATIENT, Patience, patiently
from pipeline.core.store import Store, Unit, digest, read_records, write_bytes, write_records
from pipeline.core.trust import require_trust

log = logging.getLogger(__name__)
Outcome = Instance | Rejection


def build(
    store: Store,
    repo: Repo,
    settings: Settings,
    *,
    numbers: Sequence[int] = (),
    reviewed: bool = False,
    trust_local: bool = False,
    jobs: int = 2,
    repeats: dict[int, int] | None = None,
    patience: Patience = PATIENT,
) -> list[Outcome]:
    """Qualify the candidates of `repo`: all, some `numbers`, or the `reviewed` ones that somebody rated super.

    `repeats` overrides the settings' for single pull requests; what the machine fails at is tried again, with
    `patience`. Returns every outcome of the repository, old and new.
    Raises UserError before any work on bad input: a number that is no candidate, a commit that the clone lacks.
    """
    clone = source(store, repo)
    candidates = candidates_of(store, repo, numbers, reviewed)
    require_trust(settings.sandbox.name, trust_local, *(sha for c in candidates for sha in (c.base.sha, c.merge_sha)))
    for one in candidates:
        require_commit(clone, one.base.sha)
    with (
        store.lock("build", repo),
        log_file(store.qualification(repo) / "build.log"),
        Progress("qualifying", len(candidates)) as progress,
    ):
        work = _Work(store, repo, settings, clone, progress, repeats or {}, patience)
        outcomes = list(each(_by_environment(candidates), work, jobs=jobs))
        return _assemble(store, repo, clone, outcomes)


class _Work:
    """Qualifies one candidate, or takes what is there. The instance border: what breaks is recorded as data."""

    def __init__(
        self,
        store: Store,
        repo: Repo,
        settings: Settings,
        clone: git.Repo,
        progress: Progress,
        repeats: dict[int, int],
        patience: Patience,
    ) -> None:
        self.store, self.repo, self.settings, self.clone = store, repo, settings, clone
        self.progress, self.repeats, self.patience = progress, repeats, patience
        self.memory = Memory(store.qualification(repo) / "learned.jsonl")

    def __call__(self, candidate: Candidate) -> Outcome:
        name = candidate.instance_id
        try:
            outcome = self._outcome(candidate)
        except Exception as error:  # the instance border
            log.exception("%s", name)
            cause = error.cause if isinstance(error, InfrastructureError) else type(error).__name__
            detail = f"{cause}: {error}"
            outcome = Rejection(instance_id=name, stage="build", reason="not_evaluated", detail=detail)
        self.progress.finish(name, describe(outcome))
        return outcome

    def _outcome(self, candidate: Candidate) -> Outcome:
        unit = unit_of(self.store, self.repo, candidate)
        repeats = self.repeats.get(candidate.number, self.settings.repeats)
        settings = replace(self.settings, repeats=repeats)
        how = digest(settings.sandbox.name, settings.repeats, vars(settings.limits), settings.scope)
        inputs = {**decided_by(self.clone, candidate), "settings": how}
        repair = {"repair": faults.table_digest()}  # a rejection may be stale when more can be repaired
        if unit.inputs() in (inputs, inputs | repair):
            return _load(unit)
        self.store.archive(unit.folder)
        say, keep = self._say(candidate), self._keep(unit.folder)
        job = Job(settings, self.clone, candidate, self.memory, say, keep)
        outcome = patiently(lambda: qualify(job), say, self.patience)
        if isinstance(outcome, Rejection) and outcome.reason == "not_evaluated":
            return outcome
        unit.finish(outcome.model_dump(mode="json"), **inputs, **(repair if isinstance(outcome, Rejection) else {}))
        return _load(unit)

    def _say(self, candidate: Candidate) -> Any:
        return lambda text: self.progress.step(candidate.instance_id, text)

    @staticmethod
    def _keep(folder: Path) -> Any:
        return lambda name, data: write_bytes(folder / f"{name}.log.gz", gzip.compress(data, mtime=0))


def unit_of(store: Store, repo: Repo, candidate: Candidate) -> Unit:
    """The unit of work of one candidate; its folder holds the logs."""
    return Unit(store.qualification(repo) / "units" / candidate.instance_id)


def decided_by(clone: git.Repo, candidate: Candidate) -> dict[str, str]:
    """Digests of what decides a candidate's outcome, besides the settings that a person chose."""
    try:
        made = recipe(clone, candidate)
        environment = digest(made.image, made.environment.model_dump(mode="json", exclude={"evidence"}))
    except Unsupported as error:
        environment = digest(error.reason, str(error))
    rules = digest(runs.VERSION, VERSION, verdict.table_digest(), scope.VERSION)
    return {"candidate": digest(candidate), "environment": environment, "rules": rules}


def describe(outcome: Outcome) -> str:
    """One line on how a candidate ended."""
    if isinstance(outcome, Rejection):
        return f"rejected: {outcome.reason}"
    flaky = f", {len(outcome.quarantine)} quarantined" if outcome.quarantine else ""
    return f"qualified: {len(outcome.f2p_tests)} fail-to-pass, {len(outcome.p2p_tests)} pass-to-pass{flaky}"


def candidates_of(store: Store, repo: Repo, numbers: Sequence[int], reviewed: bool = False) -> list[Candidate]:
    """The candidates of a repository: all, some, or the reviewed ones. Raises UserError when there is none of them."""
    candidates = read_records(store.raw(repo) / "candidates.jsonl", Candidate)
    missing = sorted(set(numbers) - {one.number for one in candidates})
    if missing:
        raise unknown("candidate", f"#{missing[0]}", [f"#{one.number}" for one in candidates])
    if reviewed:
        rated = {one.instance_id for one in read_records(store.reviews(repo), Review) if one.status == "super"}
        candidates = [one for one in candidates if one.instance_id in rated]
    wanted = [one for one in candidates if not numbers or one.number in numbers]
    if not wanted:
        raise UserError(
            f"{repo} has no candidate to build", hint="collect with --pr N, or rate candidates (just triage-rate)"
        )
    return wanted


def _by_environment(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Neighbours in time share environments: work goes in the order of merging."""
    return sorted(candidates, key=lambda one: one.merged_at)


def _load(unit: Unit) -> Outcome:
    result = unit.result()
    return (Rejection if "reason" in result else Instance).model_validate(result)


def _assemble(store: Store, repo: Repo, clone: git.Repo, fresh: Sequence[Outcome]) -> list[Outcome]:
    """Write the dataset and the rejections: what was decided just now, and what was before and is not stale."""
    outcomes = {one.instance_id: one for one in fresh}
    for candidate in read_records(store.raw(repo) / "candidates.jsonl", Candidate):
        unit = unit_of(store, repo, candidate)
        if candidate.instance_id not in outcomes and decided_by(clone, candidate).items() <= unit.inputs().items():
            outcomes[candidate.instance_id] = _load(unit)
    ordered = sorted(outcomes.values(), key=lambda one: parse_instance_id(one.instance_id)[1])
    instances = [one for one in ordered if isinstance(one, Instance)]
    write_records(store.dataset(repo), instances)
    environments.write(store, repo, instances)
    folder = store.qualification(repo)
    write_records(folder / "rejections.jsonl", [one for one in ordered if isinstance(one, Rejection)])
    return ordered
