"""Collecting from a local clone into `01_raw/<repo>/`. What is collected adds to what is there."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import git

from pipeline.collect.funnel import counts, sift
from pipeline.collect.history import Merged, pull_requests
from pipeline.core.errors import UserError
from pipeline.core.git import open_clone
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Candidate, Funnel, Issue, Rejection
from pipeline.core.store import Store, now, read_records, write_json, write_records

log = logging.getLogger(__name__)


def collect(store: Store, repo: Repo, path: Path, issues: Path | None = None, numbers: Sequence[int] = ()) -> Funnel:
    """Collect all merged pull requests of the clone at `path`, or only those with the given numbers.

    `issues` is a JSON Lines file of issue texts, which a clone does not have. Returns the funnel.
    Raises UserError, before anything is written, for a folder that is no clone or a number that it does not have.
    """
    clone = open_clone(path)
    texts = {issue.number: issue for issue in _issues(issues)}
    merged = _wanted(pull_requests(clone, repo), repo, numbers)
    with store.lock("collect", repo):
        chosen = {*numbers, *_chosen_before(store, repo)}
        found = [sift(clone, one, texts, chosen=one.pull.number in chosen) for one in merged]
        return _save(store, repo, clone, found)


def _issues(path: Path | None) -> list[Issue]:
    if path is None:
        return []
    if not path.exists():
        raise UserError("no such file", path=path, hint="--issues takes a JSON Lines file of issues")
    return read_records(path, Issue)


def _wanted(merged: Iterable[Merged], repo: Repo, numbers: Sequence[int]) -> list[Merged]:
    wanted = [one for one in merged if not numbers or one.pull.number in numbers]
    missing = sorted(set(numbers) - {one.pull.number for one in wanted})
    if missing:
        text = ", ".join(f"#{number}" for number in missing)
        raise UserError(
            f"the clone has no merged pull request {text} of {repo}", hint="is its branch's HEAD up to date?"
        )
    return wanted


def _chosen_before(store: Store, repo: Repo) -> list[int]:
    """What was chosen by hand stays so when everything is collected again."""
    candidates = read_records(store.raw(repo) / "candidates.jsonl", Candidate)
    return [one.number for one in candidates if one.chosen_by_hand]


def _save(store: Store, repo: Repo, clone: git.Repo, found: Sequence[Candidate | Rejection]) -> Funnel:
    folder = store.raw(repo)
    kept: dict[int, Candidate | Rejection] = {}
    kept |= {_number(one): one for one in read_records(folder / "rejections.jsonl", Rejection)}
    kept |= {_number(one): one for one in read_records(folder / "candidates.jsonl", Candidate)}
    kept |= {_number(one): one for one in found}
    ordered = [kept[number] for number in sorted(kept)]
    candidates = [one for one in ordered if isinstance(one, Candidate)]
    rejections = [one for one in ordered if isinstance(one, Rejection)]
    funnel = counts(str(repo), candidates, rejections)
    write_records(folder / "candidates.jsonl", candidates)
    write_records(folder / "rejections.jsonl", rejections)
    write_json(folder / "source.json", {"kind": "git", "path": str(Path(clone.git_dir).absolute()), "collected": now()})
    write_json(folder / "funnel.json", funnel.model_dump())
    log.info("%s: %d candidates, %d rejections", repo, len(candidates), len(rejections))
    return funnel


def _number(one: Candidate | Rejection) -> int:
    return parse_instance_id(one.instance_id)[1]
