"""Everything known about one repository: its source's answers, people's decisions, and the index and files of both.

`pages.jsonl.gz` and the decisions are authoritative. This module updates the database from them, even after files were
deleted or edited or a process was killed. The files that other stages read are written from the database (export.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pipeline.collect.adopt import adopt
from pipeline.collect.database import Database, line_digest, open_index
from pipeline.collect.edits import edits
from pipeline.collect.export import FILES, digests, export, remove_strays
from pipeline.collect.funnel import Sifted
from pipeline.collect.pages import Pages, Seen
from pipeline.collect.settle import conflicts
from pipeline.core.console import say
from pipeline.core.decisions import decide, decided, fold, words
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Decision, Funnel
from pipeline.core.store import Store, digest, read_record


class Collected:
    """A context manager for what is collected from `repo`. Raises UserError while another process has it open.

    On entry, what people changed in the files since they were written becomes decisions. Raises UserError for pages,
    decisions or files that cannot be read, before anything is written.
    """

    def __init__(self, store: Store, repo: Repo) -> None:
        self.store, self.repo, self.folder = store, repo, store.raw(repo)
        self.pages = Pages(self.folder / "pages.jsonl.gz")
        self._held = ExitStack()

    def __enter__(self) -> Collected:
        with ExitStack() as held:
            held.enter_context(self.store.lock("collect", self.repo))
            remove_strays(self.folder)
            index = self.folder / "collect.sqlite"
            adopt(self.store, self.repo, self.pages.path, index)
            self.database = held.enter_context(open_index(index))
            self._catch_up()
            self.decide(self._edits())
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    # -- the pages -----------------------------------------------------------------------------------------------------
    def _catch_up(self) -> None:
        """Add the pages that the database lacks; all of them if it was made from another file."""
        if not self.pages.holds(self.database.place):
            self.database.clear()
        replay(self.pages, self.database)
        self.pages.cut(self.database.place.end)

    def take(self, sifted: Iterable[Sifted], **state: str) -> None:
        """Add a page and the state after it, all or nothing. Unchanged pull requests are not added again."""
        seen = [Seen.of(pull) for pull in sifted]
        stored = self.database.digests([pull.number for pull in seen])
        new = [(pull, line) for pull, line in map(_with_line, seen) if stored.get(pull.number) != line_digest(line)]
        if new or any(self.database.get(key) != value for key, value in state.items()):
            place = self.pages.append((line for _, line in new), state)
            self.database.save(new, self.standings, place, **state, unfinished="yes")

    # -- the decisions -------------------------------------------------------------------------------------------------
    def _edits(self) -> list[Decision]:
        """What people changed in the files since they were written, as decisions."""
        written = last_export(self.database)
        states = [written, last_export(self.database, before=True)] if self.database.get("unfinished") else [written]
        if all(sha256 in [state.files.get(name) for state in states] for name, sha256 in digests(self.folder).items()):
            return []
        with TemporaryDirectory() as folder, Database(Path(folder, "written.sqlite")) as database:
            replay(self.pages, database, written.at)
            database.settle(self.repo, fold(written.counted(decided(self.store, self.repo))))
            decisions = edits(self.folder, self.repo, database)
        for decision in decisions:
            say(f"changed by hand: {words(decision)}")
        return decisions

    def decide(self, new: Iterable[Decision]) -> None:
        """Append decisions and apply all of them. Raises UserError if one cannot be applied; then none is appended."""
        new = list(new)
        standings = fold([*decided(self.store, self.repo), *new])
        for name in {decision.instance_id for decision in new}:
            self.database.settled(parse_instance_id(name)[1], standings[name])
        decide(self.store, self.repo, new)
        self.decisions = decided(self.store, self.repo)  # others may have decided meanwhile
        self.standings = fold(self.decisions)
        if self.database.get("decisions") != _version(self.decisions):
            self.database.settle(self.repo, self.standings, decisions=_version(self.decisions), unfinished="yes")

    @property
    def chosen(self) -> set[int]:
        """The numbers that are taken whatever the filters say."""
        return {parse_instance_id(name)[1] for name, standing in self.standings.items() if standing.chosen}

    # -- the files -----------------------------------------------------------------------------------------------------
    def export(self) -> Funnel:
        """Write the files, unless they are up to date."""
        path = self.folder / "funnel.json"
        if not self.database.get("unfinished") and len(digests(self.folder)) == len(FILES) and path.exists():
            return read_record(path, Funnel)
        for name, standing in self.standings.items():
            for line in conflicts(self.database.source_record(parse_instance_id(name)[1]), standing):
                say(line)
        funnel = export(self.store, self.repo, self.database, self._note)
        self.database.set(unfinished="")
        return funnel

    def _note(self, files: dict[str, str]) -> None:
        """Record in the pages which files are about to be written, and from which decisions."""
        ids = [decision.id for decision in self.decisions]
        state, written = {"files": files, "decisions": ids}, last_export(self.database)
        if (files, ids) != (written.files, written.decisions):
            place = self.pages.append([], {"exported": state})
            self.database.save([], {}, place, **_exported(self.database, state, place.end))


class Export(NamedTuple):
    """What was written last: the digests of the files, the ids of the decisions that counted (older pages have their
    number), and the end of the pages."""

    files: dict[str, str] = {}
    decisions: list[str] | int = 0
    at: int = 0

    def counted(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Those of all decisions that counted. A merge sorts those of other people in between."""
        if isinstance(self.decisions, int):
            return list(decisions[: self.decisions])
        ids = set(self.decisions)
        return [decision for decision in decisions if decision.id in ids]


def last_export(database: Database, before: bool = False) -> Export:
    """The last export that a database knows of, or the one before it."""
    return Export(**json.loads(database.get("exported_before" if before else "exported") or "{}"))


def _exported(database: Database, state: dict[str, Any], end: int) -> dict[str, str]:
    return {"exported_before": database.get("exported"), "exported": json.dumps({**state, "at": end}, sort_keys=True)}


def replay(pages: Pages, database: Database, end: int | None = None) -> None:
    """Add the pages after those that a database holds, up to `end`. Decisions are not applied to them yet."""
    for page in pages.read(database.place.end):
        if end is not None and page.end > end:
            return
        state = page.state
        if "exported" in state:
            state = _exported(database, state["exported"], page.end)
        place = pages.place(page.end)
        database.save(page.seen(), {}, place, **state, decisions="", unfinished="yes")


def _with_line(pull: Seen) -> tuple[Seen, str]:
    return pull, pull.line()


def _version(decisions: Sequence[Decision]) -> str:
    return digest([decision.id for decision in decisions])
