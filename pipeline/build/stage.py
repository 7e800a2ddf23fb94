"""Building a repository's dataset: qualify every candidate that is not done, and collect the records.

Reads `01_raw/<repo>/` and the clone; writes `02_dataset/<repo>.jsonl`, and beside it units, rejections and a summary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from pipeline.build import overrides
from pipeline.build.batch import Batch, describe, save
from pipeline.build.budget import Budget
from pipeline.build.dataset import Dataset
from pipeline.build.learned import Memory
from pipeline.build.plan import Listed, Planned, Unselected, planned, unit_of
from pipeline.build.qualify import Outcome, Settings, kind
from pipeline.build.summary import SUMMARY, summarize
from pipeline.core import console
from pipeline.core.console import log_file
from pipeline.core.dataset import read_candidates
from pipeline.core.errors import UserError, unknown
from pipeline.core.git import Clone, require_commit
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Candidate, Rejection
from pipeline.core.retry import PATIENT, Patience
from pipeline.core.reviews import restated, standings
from pipeline.core.store import Store, write_json
from pipeline.core.trust import require_trust
from pipeline.core.work import REMOTE
from pipeline.execution.images import source
from pipeline.sandbox.images import Directory

if TYPE_CHECKING:  # only builds with a setup agent import its dependencies
    from pipeline.build.setup_agent import Setup


def build(
    store: Store,
    repo: Repo,
    settings: Settings,
    *,
    numbers: Sequence[int] = (),
    reviewed: bool = False,
    trust_local: bool = False,
    jobs: int | None = None,
    disk: int | None = None,
    listed: Mapping[int, Listed] | None = None,
    patience: Patience = PATIENT,
    engine: str = "threads",
    setup: Setup | None = None,
) -> list[Outcome]:
    """Qualify the candidates of `repo`: all, some `numbers`, or the `reviewed` ones, whose resolved rating is good.

    `jobs` candidates run in parallel, by default as many as the machine has processors and memory for, in threads or in
    processes, or on workers (`engine`, a row of `core.work`). Layers on this machine take at most `disk` bytes (see
    Budget); those on workers have no limit. `listed` has what a published list says of single pull requests. Failures
    of the machine are retried with `patience`. `setup` names a model that may propose environments for rejected
    candidates (setup_agent). Returns every outcome of the repository, old and new. Raises UserError before any work on
    bad input: a number that is not a candidate, a commit that the clone lacks, a `disk` limit for workers. Raises
    InfrastructureError when the machine does not answer at all.
    """
    if disk is not None and engine == REMOTE:
        hint = f"leave it out with --engine {REMOTE}; to free space on a worker's machine, run there: just build-gc"
        raise UserError("it limits this machine's layers, and workers make their own", field="--disk", hint=hint)
    clone, candidates = source(store, repo), candidates_of(store, repo, numbers, reviewed)
    overrides.read(repo)
    shas = [sha for candidate in candidates for sha in (candidate.base.sha, candidate.merge_sha)]
    require_trust(settings.sandbox.name, trust_local, *shas)
    for candidate in candidates:
        require_commit(clone, candidate.base.sha)
    machine = settings.sandbox.images.machine()
    jobs = jobs or max(1, min(machine.processors, machine.memory // settings.limits.memory))
    with store.lock("build", repo), log_file(store.qualification(repo) / "build.log"):
        settings.sandbox.images.serve(Directory.here(store.root))
        plan = partial(planned, store, clone, settings, listed or {}, patience)
        with ThreadPoolExecutor(jobs) as pool:
            units = list(pool.map(plan, candidates))
        dataset = Dataset(store, repo, units, partial(_unselected, store, repo, clone, settings, patience, candidates))
        ended = [kind(dataset.decided[unit.name]) for unit in units if unit.is_done]
        memory = Memory(store.qualification(repo) / "learned.jsonl")
        budget = Budget(settings.sandbox, disk, machine.free)
        try:
            with Progress("qualifying", len(units), ended) as progress:
                batch = Batch(store, memory, budget, progress, engine)
                for outcome in batch.run([unit for unit in units if not unit.is_done], jobs):
                    dataset.decide(outcome)
                if setup:
                    _set_up(store, repo, clone, setup, units, dataset, plan, progress)
        finally:
            dataset.write()
            figures = summarize(units, dataset.decided, budget)
            write_json(store.qualification(repo) / SUMMARY, figures)
    return dataset.outcomes()


def _set_up(
    store: Store,
    repo: Repo,
    clone: Clone,
    setup: Setup,
    units: Sequence[Planned],
    dataset: Dataset,
    plan: Callable[[Candidate], Planned],
    progress: Progress,
) -> None:
    """Ask the model about rejections that the environment may explain; candidates that now qualify replace them."""
    from pipeline.build.setup_agent import AGENT, SetupAgent, set_up
    from pipeline.llm.costs import write_costs
    from pipeline.llm.opening import open_gateway

    agent = SetupAgent(store, repo, clone, setup, progress)
    decided = [(unit, dataset.decided.get(unit.name)) for unit in units]
    rejections = [(unit, outcome) for unit, outcome in decided if isinstance(outcome, Rejection)]
    rejected = [(unit, outcome) for unit, outcome in rejections if agent.wants(outcome)]
    say = partial(progress.step, AGENT)
    log = store.qualification(repo) / "gateway.log"
    opened = partial(open_gateway, setup.settings.models, store.ledger, say=say, log=log, environ=agent.panel.environ)
    try:
        for unit, result in set_up(agent, opened, rejected):
            save(store, plan(unit.request.candidate), result)
            dataset.decide(result.outcome)
            console.say(f"{unit.name}: {describe(result.outcome)}, set up by {setup.settings.model}")
    finally:
        write_costs(store)


def candidates_of(store: Store, repo: Repo, numbers: Sequence[int], reviewed: bool = False) -> list[Candidate]:
    """The candidates of a repository: all, some, or the reviewed ones. Raises UserError if there are none."""
    candidates = _collected(store, repo)
    missing = sorted(set(numbers) - {candidate.number for candidate in candidates})
    if missing:
        raise unknown("candidate", f"#{missing[0]}", [f"#{candidate.number}" for candidate in candidates])
    if reviewed:
        good = {name for name, standing in standings(store, repo).items() if standing.is_built}
        candidates = [candidate for candidate in candidates if candidate.instance_id in good]
    wanted = [candidate for candidate in candidates if not numbers or candidate.number in numbers]
    if not wanted:
        hint = "no candidate is rated super or reworked: rate some (just triage), or leave out --reviewed"
        if not reviewed:
            hint = f"collect some: just collect-run {repo} --path CLONE"
        raise UserError(f"{repo} has no candidate to build", hint=hint)
    return wanted


def _collected(store: Store, repo: Repo) -> list[Candidate]:
    """All candidates, with the statements that reviewers rewrote."""
    rated = standings(store, repo)
    found = read_candidates(store, repo)
    return [restated(candidate, rated.get(candidate.instance_id)) for candidate in found]


def _unselected(
    store: Store, repo: Repo, clone: Clone, settings: Settings, patience: Patience, candidates: Sequence[Candidate]
) -> list[Planned]:
    """The units of earlier builds that this build does not select."""
    selected = {candidate.number for candidate in candidates}
    plans = Unselected(store, clone, settings, patience)
    unselected = (candidate for candidate in _collected(store, repo) if candidate.number not in selected)
    return [plans.planned(candidate) for candidate in unselected if unit_of(store, candidate).path.exists()]
