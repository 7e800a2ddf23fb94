"""Everything known of one repository: what its source said, what people decided, and the index and files of both.

`pages.jsonl.gz` and the decisions are authoritative. The database is brought up to date with them here, whatever was
deleted, edited or killed in between. The files that other stages read are written from the database (export.py).
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
from pipeline.core.store import Store, digest, read_json


class Collected:
    """What is collected of `repo`, for a block: one process at a time (UserError while another has it).

    What people changed in the files since they were written is a decision by the time the block begins. Raises
    UserError for pages, decisions or files that cannot be read; then nothing was written.
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
        """Take over the pages that the database does not hold; all of them, where it is not of this file."""
        if not self.pages.holds(self.database.place):
            self.database.clear()
        replay(self.pages, self.database)
        self.pages.cut(self.database.place.end)

    def take(self, sifted: Iterable[Sifted], **state: str) -> None:
        """Add a page and the state after it, all or nothing; left out is what the source said in the same words."""
        seen = [Seen.of(one) for one in sifted]
        known = self.database.digests([one.number for one in seen])
        new = [(one, line) for one, line in map(_with_line, seen) if known.get(one.number) != line_digest(line)]
        if new or any(self.database.get(key) != value for key, value in state.items()):
            place = self.pages.append((line for _, line in new), state)
            self.database.save(new, self.standings, place, **state, unfinished="yes")

    # -- the decisions -------------------------------------------------------------------------------------------------
    def _edits(self) -> list[Decision]:
        """What people changed in the files since they were written."""
        written = last_export(self.database)
        known = [written, last_export(self.database, before=True)] if self.database.get("unfinished") else [written]
        if all(one in [each.files.get(name) for each in known] for name, one in digests(self.folder).items()):
            return []
        with TemporaryDirectory() as folder, Database(Path(folder, "written.sqlite")) as database:
            replay(self.pages, database, written.at)
            database.settle(self.repo, fold(decided(self.store, self.repo)[: written.decisions]))
            found = edits(self.folder, self.repo, database)
        for one in found:
            say(f"changed by hand: {words(one)}")
        return found

    def decide(self, new: Iterable[Decision]) -> None:
        """Append decisions and let all of them count. Raises UserError for one that cannot; then none is appended."""
        new = list(new)
        standings = fold([*decided(self.store, self.repo), *new])
        for name in {one.instance_id for one in new}:
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
        """Write the files, unless they say already what is known."""
        path = self.folder / "funnel.json"
        if not self.database.get("unfinished") and len(digests(self.folder)) == len(FILES) and path.exists():
            return Funnel.model_validate(read_json(path))
        for name, standing in self.standings.items():
            for line in conflicts(self.database.said(parse_instance_id(name)[1]), standing):
                say(line)
        funnel = export(self.store, self.repo, self.database, self._note)
        self.database.set(unfinished="")
        return funnel

    def _note(self, files: dict[str, str]) -> None:
        """Say in the pages which files are about to be written, and from what."""
        state, written = {"files": files, "decisions": len(self.decisions)}, last_export(self.database)
        if (files, len(self.decisions)) != (written.files, written.decisions):
            place = self.pages.append([], {"exported": state})
            self.database.save([], {}, place, **_exported(self.database, state, place.end))


class Export(NamedTuple):
    """What was written last: the digests of the files, how many decisions counted, and the end of the pages."""

    files: dict[str, str] = {}
    decisions: int = 0
    at: int = 0


def last_export(database: Database, before: bool = False) -> Export:
    """The last one that a database knows of, or the one before it."""
    return Export(**json.loads(database.get("exported_before" if before else "exported") or "{}"))


def _exported(database: Database, state: dict[str, Any], end: int) -> dict[str, str]:
    return {"exported_before": database.get("exported"), "exported": json.dumps({**state, "at": end}, sort_keys=True)}


def replay(pages: Pages, database: Database, end: int | None = None) -> None:
    """Take over the pages after those that a database holds, up to a place; no decision counts in them yet."""
    for page in pages.each(database.place.end):
        if end is not None and page.end > end:
            return
        state = page.state
        if "exported" in state:
            state = _exported(database, state["exported"], page.end)
        place = pages.place(page.end)
        database.save(page.seen(), {}, place, **state, decisions="", unfinished="yes")


def _with_line(one: Seen) -> tuple[Seen, str]:
    return one, one.line()


def _version(decisions: Sequence[Decision]) -> str:
    return digest([one.id for one in decisions])
