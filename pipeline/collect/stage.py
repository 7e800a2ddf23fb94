"""Collecting from a source into `01_raw/<repo>/`. Collecting only adds records."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline.collect.collected import Collected
from pipeline.collect.funnel import sift
from pipeline.collect.patterns import Patterns, shipped
from pipeline.collect.sources import Options, Page, Source, open_source
from pipeline.core.clones import adopt_clone_path, describe, remember
from pipeline.core.decisions import Standing, make
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Decision, Funnel
from pipeline.core.store import Store, digest, read_json, write_bytes, write_json

log = logging.getLogger(__name__)

Watch = Callable[[Iterator[Page]], Iterator[Page]]


def collect(store: Store, repo: Repo, path: Path, issues: Path | None = None, numbers: Sequence[int] = ()) -> Funnel:
    """Collect all merged pull requests of the clone at `path`, or only those with the given numbers.

    `issues` is a JSON Lines file of issue texts, which a clone does not have. Returns the funnel.
    Raises UserError, before anything is written, for a folder that is no clone or a number that it does not have.
    """
    return collect_from(store, repo, open_source("git", repo, Options(path, issues)), numbers)


def collect_from(
    store: Store,
    repo: Repo,
    source: Source,
    numbers: Sequence[int] = (),
    patterns: Patterns | None = None,
    watch: Watch = iter,
    problems: list[UserError] | None = None,
) -> Funnel:
    """Collect what a source has after the last run's cursor, or the given numbers; closes the source.

    `watch` sees every page go by. Interrupted at any moment, the next call goes on after the last whole page. What can
    not be had (a number that the source does not have, a record that it cannot read) is added to `problems`, and all
    the rest is taken; without such a list it is raised, before anything is written. Raises UserError, too, for records
    changed by hand that cannot be read.
    """
    try:
        unread = source.problems
        if unread and problems is None:
            raise unread[0]
        if problems is not None:
            problems += unread
        named = _named(source, repo, numbers, problems) if numbers else None
        with Collected(store, repo) as collected:
            collected.decide(_choices(collected, [one.pull.number for page in named or () for one in page.pulls]))
            _take(collected, source, patterns or shipped(), named, watch)
            _note_source(store, repo, source)
            funnel = collected.export()
    finally:
        source.close()
    log.info("%s: %d candidates of %d", repo, funnel.sample + funnel.without_issue, funnel.total)
    return funnel


def _named(source: Source, repo: Repo, numbers: Sequence[int], problems: list[UserError] | None) -> list[Page]:
    """The pull requests that are named, as one page. Raises UserError for missing ones, unless others are there and
    `problems` can be told."""
    found = source.named(numbers)
    missing = sorted(set(numbers) - {one.pull.number for one in found})
    if missing:
        text = ", ".join(f"#{number}" for number in missing)
        error = UserError(
            f"no merged pull request {text} of {repo}", hint="check that it is merged and the source is up to date"
        )
        if problems is None or not found:
            raise error
        problems.append(error)
    return [Page(found, "", len(found))]


def _choices(collected: Collected, numbers: Sequence[int]) -> list[Decision]:
    """What is chosen by hand now and was not before, or was excluded since."""
    names = (collected.repo.instance_id(number) for number in dict.fromkeys(numbers))
    standings = {name: collected.standings.get(name, Standing()) for name in names}
    return [make(name, "choose") for name, one in standings.items() if not one.chosen or _is_excluded(one)]


def _is_excluded(standing: Standing) -> bool:
    return standing.place is not None and standing.place.kind == "exclude"


def _take(collected: Collected, source: Source, patterns: Patterns, named: Sequence[Page] | None, watch: Watch) -> None:
    """Decide page by page. A cursor counts for the source and the patterns that it was made with."""
    database = collected.database
    settings = digest(source.describe()["kind"], patterns.expressions)
    after = database.get("cursor") if database.get("settings") == settings else ""
    pages = iter(named) if named is not None else (page for page in source.pages(after) if page.pulls)
    for page in watch(pages):
        state = {"cursor": page.cursor or after, "settings": settings} if named is None else {}
        for one in page.pulls:
            _keep(collected, one.assets)
        collected.take(sift(source, page.pulls, patterns, collected.chosen), **state)


def _keep(collected: Collected, pictures: Sequence[bytes]) -> None:
    """Write pictures that are not there yet, by their digest."""
    for data in pictures:
        path = collected.store.picture(collected.repo, hashlib.sha256(data).hexdigest())
        if not path.exists():
            write_bytes(path, data)


def _note_source(store: Store, repo: Repo, source: Source) -> None:
    """What it was collected from; the clone of an earlier run stays, where this source has none."""
    path = store.raw(repo) / "source.json"
    adopt_clone_path(store, repo)
    before = read_json(path) if path.exists() else {}
    clone = {key: before[key] for key in ("remote", "commit") if key in before}
    if source.clone:
        remember(repo, source.clone.place)
        clone = describe(source.clone)
    about = clone | source.describe()
    if about != before:
        write_json(path, about)
