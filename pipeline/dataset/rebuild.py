"""`dataset rebuild`: rebuild the dataset of a list by stages 01 and 02, and report where it differs.

Reads the list and a clone, or GitHub; writes `01_raw/` and `02_dataset/`. Instances that were built before and are not
stale are not built again. A list contains no texts: issues come from GitHub or a file, statements that reviewers
rewrote from a file of ratings. The records are marked *chosen by hand*.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import git

from pipeline.build.plan import Listed
from pipeline.build.qualify import Settings
from pipeline.build.stage import Outcome, build
from pipeline.collect.sources import Options, Source, open_source, require_fitting
from pipeline.collect.stage import collect_from
from pipeline.core.cache import lock as locked
from pipeline.core.cache import once
from pipeline.core.console import say
from pipeline.core.dataset import read_candidates
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.git import has_commit, open_clone
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Instance, Rejection, Review
from pipeline.core.reviews import restated, standings
from pipeline.core.store import Store, each_record, read_records, unique
from pipeline.dataset.lock import Lock, facts, lock, statement_of
from pipeline.dataset.set_up import restore
from pipeline.triage.stage import add

#: the value of a fact that one side does not have
ABSENT = "-"
#: facts that change with the way in which environments are inferred, even if every test ends as before
DIGESTS = frozenset({"environment", "image"})


class Difference(NamedTuple):
    """A fact that differs from the list."""

    instance: str
    fact: str
    listed: str
    rebuilt: str

    @property
    def is_telling(self) -> bool:
        """Whether results on the rebuilt instance may be others than on the listed one."""
        return self.fact not in DIGESTS


def read_list(path: Path) -> tuple[Repo, list[Lock]]:
    """A published list and its repository. Raises UserError with file, line and field."""
    entries = list(unique(each_record(path, Lock), path))
    repos = sorted({parse_instance_id(entry.instance_id)[0] for entry in entries})
    if not repos:
        raise UserError("the list is missing or empty", path=path, hint="write one: just dataset-lock REPO")
    if len(repos) > 1:
        raise UserError(f"the list has {len(repos)} repositories", path=path, hint="use one file per repository")
    return repos[0], entries


def clone_of(store: Store, repo: Repo, entries: Iterable[Lock] = ()) -> Path:
    """A bare clone from GitHub (GITHUB_SERVER_URL), made once, and fetched again if it lacks a commit of these entries.
    Raises InfrastructureError."""
    folder, server = store.raw(repo) / "clone", os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    url, quiet, path = f"{server}/{repo}", {"GIT_TERMINAL_PROMPT": "0"}, folder / "bare.git"

    def make(folder: Path) -> None:
        with _reported(f"{repo} cannot be cloned"):
            git.Repo.clone_from(url, folder / "bare.git", bare=True, env=quiet)

    once(folder, make)
    if commits := {sha for entry in entries for sha in (entry.base, entry.merge, entry.manifests) if sha}:
        with locked(folder.with_name(f"{folder.name}.lock")), _reported(f"{repo} cannot be fetched"):
            clone = open_clone(path)
            if not all(has_commit(clone, commit) for commit in commits):
                git.Repo(path).git.fetch(url, "+refs/heads/*:refs/heads/*", "--tags", env=quiet)
    return path


@contextmanager
def _reported(what: str) -> Iterator[None]:
    """Raise InfrastructureError, with this text, if git fails."""
    try:
        yield
    except git.GitCommandError as error:
        raise InfrastructureError(f"{what}: {error.stderr.strip()}", cause="github") from None


def source_of(
    store: Store,
    repo: Repo,
    entries: Sequence[Lock],
    clone: Path | None,
    issues: Path | None,
    dataset: Path | None,
    *,
    github: bool,
) -> Source:
    """The source that the list's pull requests are collected from. With `github` and no clone, one is made, after all
    else was checked. Raises UserError if the list was made from another benchmark's records and that is not given, and
    as the sources do."""
    origins = sorted({entry.origin for entry in entries} - {""})
    if origins and dataset is None:
        hint = "name their file or folder with --dataset"
        raise UserError(f"the list was made from records of {', '.join(origins)}", field="--dataset", hint=hint)
    name = "dataset" if dataset else "github" if github else "git"
    options = Options(dataset, clone=clone) if dataset else Options(clone, issues)
    require_fitting(name, options)
    if github and clone is None:
        made = clone_of(store, repo, entries)
        options = options._replace(clone=made) if dataset else options._replace(path=made)
    return open_source(name, repo, options)


def rate(store: Store, repo: Repo, entries: Sequence[Lock], ratings: Sequence[Review]) -> None:
    """Add the ratings of listed candidates, and report statements that still differ from the list's."""
    records = read_candidates(store, repo)
    candidates = {candidate.instance_id: candidate for candidate in records}
    statements = {entry.instance_id: entry.statement for entry in entries if entry.instance_id in candidates}
    add(store, repo, [rating for rating in ratings if rating.instance_id in statements])
    rated = standings(store, repo)
    current = {name: restated(candidates[name], rated.get(name)) for name in statements}
    if differing := [name for name, digest in statements.items() if digest and digest != statement_of(current[name])]:
        remedy = "the ratings have another" if ratings else "name the file of ratings with --ratings"
        say(f"{', '.join(differing)}: reviewers rewrote the statement, which no list contains: {remedy}")


def rebuild(
    store: Store,
    source: Source,
    repo: Repo,
    entries: Sequence[Lock],
    settings: Settings,
    *,
    ratings: Sequence[Review] = (),
    **options: Any,
) -> list[Difference]:
    """Rebuild the listed instances, with the rewritten statements of ratings. `options` go to the build. A pull request
    that the source lacks is a difference. Raises UserError if it lacks all of them, and for proposals that set what no
    model may set."""
    listed = {parse_instance_id(entry.instance_id)[1]: entry for entry in entries}
    runs = {number: Listed(entry.repeats, entry.quarantine) for number, entry in listed.items()}
    problems: list[UserError] = []
    collect_from(store, repo, source, sorted(listed), problems=problems)
    for problem in problems:
        say(f"left out: {problem}")
    rate(store, repo, entries, ratings)
    restore(store, repo, entries)
    outcomes: list[Outcome] = read_records(store.raw(repo) / "rejections.jsonl", Rejection)
    candidates = {candidate.number for candidate in read_candidates(store, repo)}
    for scope, memory in sorted({(entry.scope, entry.memory) for entry in entries}):
        like = {number for number, entry in listed.items() if (entry.scope, entry.memory) == (scope, memory)}
        limits = replace(settings.limits, memory=memory or settings.limits.memory)
        same = replace(settings, scope=scope, limits=limits)
        if numbers := sorted(candidates & like):
            outcomes += build(store, repo, same, numbers=numbers, listed=runs, **options)
    by_id = {outcome.instance_id: outcome for outcome in outcomes}
    return [difference for entry in entries for difference in differences(entry, by_id.get(entry.instance_id))]


def differences(entry: Lock, outcome: Outcome | None) -> Iterator[Difference]:
    """The facts that differ, or why there is no instance. There is no outcome for what the source lacks."""
    if outcome is None:
        yield Difference(entry.instance_id, "outcome", "qualified", "not collected")
        return
    if not isinstance(outcome, Instance):
        yield Difference(entry.instance_id, "outcome", "qualified", f"rejected: {outcome.reason}")
        return
    listed, rebuilt = facts(entry), facts(lock(outcome))
    for fact in sorted(listed | rebuilt):
        in_list, in_build = listed.get(fact, ABSENT), rebuilt.get(fact, ABSENT)
        if in_list != in_build:
            yield Difference(entry.instance_id, fact, in_list, in_build)
