"""Collecting from a source into `01_raw/<repo>/`. Collecting only adds records."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline.collect.collected import Collected
from pipeline.collect.database import Database
from pipeline.collect.funnel import PASSING, sift
from pipeline.collect.patterns import Patterns, shipped
from pipeline.collect.sources import Merged, Options, Page, Source, open_source
from pipeline.core.clones import adopt_clone_path, describe, remember
from pipeline.core.console import say
from pipeline.core.decisions import Standing, make
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Decision, Funnel
from pipeline.core.store import Store, digest, read_object, write_bytes, write_json

log = logging.getLogger(__name__)

Watch = Callable[[Iterator[Page]], Iterator[Page]]
#: the most pull requests that are asked for by number at once
_BATCH = 100


def collect(store: Store, repo: Repo, path: Path, issues: Path | None = None, numbers: Sequence[int] = ()) -> Funnel:
    """Collect all merged pull requests of the clone at `path`, or only those with the given numbers.

    `issues` is a JSON Lines file of issue texts, which a clone does not have. Returns the funnel.
    Raises UserError, before anything is written, for a folder that is not a clone or a number that it does not have.
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

    `watch` gets the pages and yields them again. After an interruption, the next call continues after the last complete
    page. Numbers that the source does not have and records that it cannot read are added to `problems`, and everything
    else is collected; without such a list, UserError is raised before anything is written. Raises UserError, too, for
    records changed by hand that cannot be read.
    """
    try:
        unread = source.problems
        if unread and problems is None:
            raise unread[0]
        if problems is not None:
            problems += unread
        named_pages = _named(source, repo, numbers, problems) if numbers else None
        with Collected(store, repo) as collected:
            chosen = [merged.pull.number for page in named_pages or () for merged in page.pulls]
            collected.decide(_choices(collected, chosen))
            _take(collected, source, patterns or shipped(), named_pages, watch)
            _note_source(store, repo, source)
            funnel = collected.export()
    finally:
        source.close()
    log.info("%s: %d candidates of %d", repo, funnel.sample + funnel.without_issue, funnel.total)
    return funnel


def _named(source: Source, repo: Repo, numbers: Sequence[int], problems: list[UserError] | None) -> list[Page]:
    """The pull requests with these numbers, as one page. Missing ones are added to `problems`. Raises UserError without
    such a list, and if all are missing."""
    pulls = source.named(numbers)
    missing = sorted(set(numbers) - {merged.pull.number for merged in pulls})
    if missing:
        text = ", ".join(f"#{number}" for number in missing)
        error = UserError(
            f"no merged pull request {text} of {repo}", hint="check that it is merged and the source is up to date"
        )
        if problems is None or not pulls:
            raise error
        problems.append(error)
    return [Page(pulls, "", len(pulls))]


def _choices(collected: Collected, numbers: Sequence[int]) -> list[Decision]:
    """Decisions to choose these pull requests, except for those that are chosen already and not excluded."""
    names = (collected.repo.instance_id(number) for number in dict.fromkeys(numbers))
    standings = {name: collected.standings.get(name, Standing()) for name in names}
    return [
        make(name, "choose") for name, standing in standings.items() if not standing.chosen or _is_excluded(standing)
    ]


def _is_excluded(standing: Standing) -> bool:
    return standing.place is not None and standing.place.kind == "exclude"


def _take(
    collected: Collected, source: Source, patterns: Patterns, named_pages: Sequence[Page] | None, watch: Watch
) -> None:
    """Decide page by page. A cursor is valid only for the source and the patterns that it was made with."""
    settings = digest(source.describe()["kind"], patterns.expressions)
    known = 0
    for page in watch(_pages(collected.database, source, settings) if named_pages is None else iter(named_pages)):
        pulls = _unknown(collected.database, source, page.pulls, is_named=named_pages is not None)
        known += len(page.pulls) - len(pulls)
        for merged in pulls:
            _keep(collected, merged.assets)
        state = {"cursor": page.cursor, "settings": settings} if page.cursor else {}
        collected.take(sift(source, pulls, patterns, collected.chosen), **state)
    if known:
        say(f"{known} pull requests stay as GitHub gave them: a clone has no labels and no issue texts")


def _pages(database: Database, source: Source, settings: str) -> Iterator[Page]:
    """What the source has after the last run's cursor. With a clone, then also what was not available before."""
    after = database.get("cursor") if database.get("settings") == settings else ""
    unavailable = database.rejected(PASSING) if after and source.clone else []
    yield from (page for page in source.pages(after) if page.pulls)
    for start in range(0, len(unavailable), _BATCH):
        if pulls := source.named(unavailable[start : start + _BATCH]):
            yield Page(pulls, "", 0)


def _unknown(database: Database, source: Source, pulls: Sequence[Merged], *, is_named: bool) -> Sequence[Merged]:
    """The pull requests without those of which a host gave more than a clone has. A named one replaces a rejection,
    which has no patches."""
    if source.describe()["kind"] != "git":
        return pulls
    known = database.of_host([merged.pull.number for merged in pulls])
    if is_named:
        known = frozenset(number for number in known if isinstance(database.source_record(number), Candidate))
    return [merged for merged in pulls if merged.pull.number not in known]


def _keep(collected: Collected, pictures: Sequence[bytes]) -> None:
    """Write pictures that are not stored yet, by their digest."""
    for data in pictures:
        path = collected.store.picture(collected.repo, hashlib.sha256(data).hexdigest())
        if not path.exists():
            write_bytes(path, data)


def _note_source(store: Store, repo: Repo, source: Source) -> None:
    """Record in `source.json` what was collected from. If this source has no clone, that of an earlier run is kept. A
    clone of what GitHub gave does not replace GitHub."""
    path = store.raw(repo) / "source.json"
    adopt_clone_path(store, repo)
    before = read_object(path) if path.exists() else {}
    clone: dict[str, str] = {key: before[key] for key in ("remote", "commit") if key in before}
    if source.clone:
        remember(repo, source.clone.place)
        clone = describe(source.clone)
    about = source.describe()
    if about["kind"] == "git" and before.get("kind") == "github":
        about = {key: before[key] for key in before.keys() - {"remote", "commit"}}
    description = clone | about
    if description != before:
        write_json(path, description)
