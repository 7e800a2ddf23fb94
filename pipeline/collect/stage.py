"""Collecting from a source into `01_raw/<repo>/`. What is collected adds to what is there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline.collect.database import Database
from pipeline.collect.evidence import Patterns, shipped
from pipeline.collect.export import export, remove_strays, restore
from pipeline.collect.funnel import sift
from pipeline.collect.sources import Options, Page, Source, open_source
from pipeline.core.names import Repo
from pipeline.core.records import Funnel
from pipeline.core.store import Store, digest, read_json, write_json

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
) -> Funnel:
    """Collect what a source has after the last run's cursor, or the given numbers; closes the source.

    `watch` sees every page go by. Interrupted at any moment, the next call goes on after the last whole page. Raises
    UserError for a number that the source does not have, and for records changed by hand that can not be read.
    """
    try:
        named = [Page(source.named(numbers), "", len(numbers))] if numbers else None
        with store.lock("collect", repo), Database(store.raw(repo) / "collect.sqlite") as database:
            remove_strays(store.raw(repo))
            complete = restore(store.raw(repo), database)
            _take(database, source, patterns or shipped(), named, numbers, watch)
            _note_source(store.raw(repo) / "source.json", source)
            return _finish(store, repo, database, complete)
    finally:
        source.close()


def _take(
    database: Database,
    source: Source,
    patterns: Patterns,
    named: Sequence[Page] | None,
    numbers: Sequence[int],
    watch: Watch,
) -> None:
    """Decide page by page. A cursor counts for the source and the patterns that it was made with."""
    settings = digest(source.describe()["kind"], patterns.expressions)
    after = database.get("cursor") if database.get("settings") == settings else ""
    chosen = {*numbers, *database.chosen()}
    pages = iter(named) if named is not None else (page for page in source.pages(after) if page.pulls)
    for page in watch(pages):
        state = {"cursor": page.cursor or after, "settings": settings} if named is None else {}
        database.save(sift(source, page.pulls, patterns, chosen), unfinished="yes", **state)


def _note_source(path: Path, source: Source) -> None:
    """Where it was collected from; the clone of an earlier run stays, where this source has none."""
    before = {"path": read_json(path)["path"]} if path.exists() and "path" in read_json(path) else {}
    write_json(path, before | source.describe())


def _finish(store: Store, repo: Repo, database: Database, complete: bool) -> Funnel:
    """Write the files, unless they were complete and nothing came in."""
    if complete and not database.get("unfinished"):
        return Funnel.model_validate(read_json(store.raw(repo) / "funnel.json"))
    funnel = export(store, repo, database)
    log.info("%s: %d candidates of %d", repo, funnel.sample + funnel.without_issue, funnel.total)
    return funnel
