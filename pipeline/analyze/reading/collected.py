"""Stage 01: the funnel, the candidates and the rejections."""

from __future__ import annotations

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.rows import Rows
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Funnel, Rejection
from pipeline.core.store import Store, each_record, read_object, unique


def read(rows: Rows, store: Store, repo: Repo) -> None:
    """Add `funnel`, `candidates` and `rejections` of a repository."""
    folder = store.raw(repo)
    if (path := folder / "funnel.json").exists():
        rows.add("funnel", Funnel=checks.valid(Funnel, read_object(path) | {"repo": str(repo)}, path))
    path = folder / "candidates.jsonl"
    candidates = set()
    for candidate in unique(each_record(path, Candidate), path):
        rows.add("candidates", Candidate=candidate)
        rows.mark(candidate)
        candidates.add(candidate.instance_id)
    rejected = folder / "rejections.jsonl"
    for rejection in unique(each_record(rejected, Rejection), rejected):
        checks.not_kept(rejection, candidates, rejected, path)
        rows.add("rejections", Rejection=rejection, Context={"repo": repo})
