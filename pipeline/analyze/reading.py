"""Read what the stages left, and refuse what contradicts itself.

Reads `00_viewer`, `01_raw`, `02_dataset`, the newest run of each `03_predictions` and `04_evaluation`; what was spent
through `spending`. What is missing is a note, not a zero. Does not read logs or manifests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from pipeline.analyze import checks, matching, spending
from pipeline.core.errors import UserError, unknown
from pipeline.core.llm.ledger import Request
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, CostRow, Funnel, Instance, Prediction, Record, Rejection, Review, Verdict
from pipeline.core.store import Store, read_json, read_records

R = TypeVar("R", bound=Record)

#: some of the fields of `Sources`, and what a part of the data adds to each
Part = dict[str, list[Any]]


@dataclass(frozen=True)
class Sources:
    """The records of all stages, checked. `notes` says in words what there is not."""

    repos: tuple[Repo, ...]
    funnels: tuple[Funnel, ...]
    candidates: tuple[Candidate, ...]
    rejections: tuple[Rejection, ...]
    reviews: tuple[Review, ...]
    instances: tuple[Instance, ...]
    predictions: tuple[Prediction, ...]
    verdicts: tuple[Verdict, ...]
    costs: tuple[CostRow, ...]
    requests: tuple[Request, ...]
    notes: tuple[str, ...] = ()

    def with_issue(self) -> Sources:
        """Without the instances whose statement is the pull request's own text, which can give the solution away."""
        left_out = {r.instance_id for r in (*self.candidates, *self.instances) if r.statement_source != "issue"}
        kept = {
            field: tuple(r for r in getattr(self, field) if r.instance_id not in left_out)
            for field in ("candidates", "rejections", "reviews", "instances", "predictions", "verdicts")
        }
        note = f"Left out: {len(left_out)} without a linked issue. Funnel and costs are of all."
        return replace(self, **kept, notes=(*self.notes, note))


def read(store: Store, only: Repo | None = None) -> Sources:
    """Read all stages, of one repository or of all.

    Raises UserError for broken, duplicated or contradictory records (with the file), for a repository that is not
    there, and when there is nothing at all.
    """
    repos = _repositories(store, only)
    parts = [part for repo in repos for part in _parts(store, repo)]
    parts.append(spending.read(store, repos))
    names = [field.name for field in fields(Sources) if field.name != "repos"]
    merged = {name: tuple(record for part in parts for record in part.get(name, ())) for name in names}
    return Sources(repos=repos, **merged)


def _repositories(store: Store, only: Repo | None) -> tuple[Repo, ...]:
    stages = ("00_viewer", "01_raw", "02_dataset")
    agents = [path.relative_to(store.root).as_posix() for path in sorted(store.root.glob("03_predictions/*"))]
    repos = {repo for stage in (*stages, *agents) for repo in store.repositories(stage)}
    if not repos:
        raise UserError("nothing to analyse", path=store.root, hint="collect first, or name another folder with --data")
    if only and only not in repos:
        raise unknown("repository", str(only), [str(repo) for repo in repos])
    return (only,) if only else tuple(sorted(repos))


def _parts(store: Store, repo: Repo) -> list[Part]:
    """What each stage has of one repository."""
    built = _built(store, repo)
    judged = _judged(store, repo, {instance.instance_id for instance in built["instances"]})
    there = {"01 collect": store.raw(repo), "00 triage": store.reviews(repo), "02 build": store.dataset(repo)}
    missing = [f"{stage}: nothing yet for {repo}." for stage, path in there.items() if not path.exists()]
    return [{"notes": missing}, _collected(store, repo), _reviewed(store.reviews(repo)), built, judged]


def _collected(store: Store, repo: Repo) -> Part:
    folder = store.raw(repo)
    candidates = _unique(folder / "candidates.jsonl", Candidate)
    rejections = _unique(folder / "rejections.jsonl", Rejection)
    checks.disjoint(candidates, rejections, folder / "rejections.jsonl")
    funnel = folder / "funnel.json"
    funnels = [checks.valid(Funnel, read_json(funnel), funnel)] if funnel.exists() else []
    return {"funnels": funnels, "candidates": candidates, "rejections": rejections}


def _built(store: Store, repo: Repo) -> Part:
    path = store.qualification(repo) / "rejections.jsonl"
    instances = _unique(store.dataset(repo), Instance)
    rejections = _unique(path, Rejection)
    checks.belong(instances, repo, store.dataset(repo))
    checks.disjoint(instances, rejections, path)
    return {"instances": instances, "rejections": rejections}


def _judged(store: Store, repo: Repo, known: set[str]) -> Part:
    predictions = [record for path in _newest_runs(store, repo) for record in _predictions(path, known)]
    verdicts = [record for path in _evaluations(store, repo) for record in _verdicts(path, known)]
    current, stale = matching.current(verdicts, predictions)
    notes = matching.notes(repo, predictions, current, stale)
    return {"predictions": predictions, "verdicts": current, "notes": notes}


def _unique(path: Path, kind: type[R], *key: str) -> list[R]:
    records = read_records(path, kind)
    checks.unique(records, path, key or ("instance_id",))
    return records


def _reviewed(path: Path) -> Part:
    reviews = _unique(path, Review, "instance_id", "rater")
    return {"reviews": reviews}


def _newest_runs(store: Store, repo: Repo) -> Iterator[Path]:
    for model in sorted(store.root.glob(f"03_predictions/*/{repo.slug}/*/")):
        yield from sorted(model.glob("*/predictions.jsonl"))[-1:]


def _evaluations(store: Store, repo: Repo) -> list[Path]:
    return sorted(store.root.glob(f"04_evaluation/*/{repo.slug}/*/verdicts.jsonl"))


def _predictions(path: Path, known: set[str]) -> list[Prediction]:
    records = _unique(path, Prediction)
    checks.known(records, known, path)
    checks.one_model([(r.agent, r.model_name_or_path) for r in records], path.parent.parent, path)
    return records


def _verdicts(path: Path, known: set[str]) -> list[Verdict]:
    records = _unique(path, Verdict)
    checks.known(records, known, path)
    checks.one_model([(r.agent, r.model) for r in records], path.parent, path)
    checks.consistent(records, path)
    return records
