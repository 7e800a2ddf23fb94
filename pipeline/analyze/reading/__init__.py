"""Read the results of all stages, reject contradictions, and note what is missing.

    rows        what reading collects: rows of frames, texts for the report, notes
    collected   01_raw: funnels, candidates, rejections
    rated       00_viewer: ratings, assigned WCAG criteria
    built       02_dataset: instances and their transitions
    audited     02_dataset: audits of our verdicts
    answered    03_predictions: the newest run of each agent and model
    described   what the runs' own `run.json` says
    metadata, replied   what the agents' own files say, and the result of each reply that they record
    judged      04_evaluation: verdicts on those patches
    assessed    04_evaluation: accessibility assessments of those patches
    spent       costs.csv and the ledger, of the repair track
    rechecked   ratings of patches by hand
    sampled     verdicts on all attempts, here and in other data directories, for pass@k
    repeated    attempts that are in several of them, and verdicts on older patches
    attempts    one row per agent, model and instance, from all of these
    provenance  versions, settings and prices of the runs that are shown
    checks      contradictions between records

Files are read record by record, and only the rows stay in memory. Does not read logs or manifests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pipeline.analyze.reading import (
    answered,
    assessed,
    attempts,
    audited,
    built,
    collected,
    judged,
    provenance,
    rated,
    rechecked,
    sampled,
    spent,
)
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import REPAIR
from pipeline.core.store import Store


class Wanted(NamedTuple):
    """What to read. `cutoffs` are dates (2024-10-31) by model, `samples` further data directories for pass@k.
    `issues_only`: costs are those of answers to instances with a linked issue."""

    only: Repo | None = None
    cutoffs: Mapping[str, str] = {}
    samples: Sequence[Store] = ()
    issues_only: bool = False


def read(store: Store, wanted: Wanted) -> Rows:
    """Read all stages, of one repository or of all.

    Raises UserError for broken, duplicate or contradictory records (with the file), for an unknown repository or model,
    and if there is nothing to read.
    """
    rows = Rows(_repositories(store, wanted.only))
    runs: dict[tuple[Who, Repo], Run] = {}
    verdicts: judged.Verdicts = {}
    assessments: assessed.Assessments = {}
    for repo in rows.repos:
        _missing(rows, store, repo)
        collected.read(rows, store, repo)
        ratings, strength = rated.read(rows, store, repo), audited.read(rows, store, repo)
        known = built.read(rows, store, repo, ratings, strength)
        answers = answered.read(rows, store, repo, known)
        runs |= {(who, repo): run for who, run in answers.items()}
        verdicts |= judged.read(rows, store, repo, answers, known)
        assessments |= assessed.read(store, repo, answers, verdicts, known)
    _require_models(wanted.cutoffs, {who[1] for who, _ in runs} | {model for _, model, _ in verdicts})
    spending = spent.read(rows, store, runs, rows.without_issue if wanted.issues_only else frozenset())
    findings = attempts.Findings(verdicts, assessments, spending, rechecked.read(rows, store))
    attempts.add(rows, runs, findings, wanted.cutoffs)
    provenance.read(rows, runs, verdicts)
    sampled.read(rows, store, runs, verdicts, wanted.samples, spending)
    return rows


def _repositories(store: Store, only: Repo | None) -> tuple[Repo, ...]:
    stages = ("00_viewer", "01_raw", "02_dataset")
    agents = [path.relative_to(store.root).as_posix() for path in sorted(store.root.glob(f"03_predictions/{REPAIR}/*"))]
    repos = {repo for stage in (*stages, *agents) for repo in store.repositories(stage)}
    if not repos:
        raise UserError("nothing to analyze", path=store.root, hint="collect first, or name another folder with --data")
    if only and only not in repos:
        raise unknown("repository", str(only), [str(repo) for repo in repos])
    return (only,) if only else tuple(sorted(repos))


def _require_models(named: Iterable[str], known: Collection[str]) -> None:
    """Raise UserError for a date of a model without answers and verdicts."""
    for name in named:
        if name not in known:
            raise unknown("model of --cutoff", name, [*known])


def _missing(rows: Rows, store: Store, repo: Repo) -> None:
    paths = {"01 collect": store.raw(repo), "00 triage": store.reviews(repo), "02 build": store.dataset(repo)}
    for stage, path in paths.items():
        if not path.exists():
            rows.note(f"{stage}: nothing yet for {repo}.")
