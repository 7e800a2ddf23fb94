"""`collect.sqlite`, one per repository: an index of what was looked at and decided, with full-text search.

It is derived from `pages.jsonl.gz` and people's decisions (collected.py), and may be deleted at any time. A page and
its end are written in one transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlite_utils

from pipeline.collect.pages import Place, Seen
from pipeline.collect.settle import Outcome, settle
from pipeline.core.decisions import Standing
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.record import SCHEMA_VERSION
from pipeline.core.records import Candidate, Rejection

#: raised whenever the tables change; a database of another layout, or of other records, is made again
LAYOUT = 2 * 1000 + SCHEMA_VERSION
#: table -> its columns and its key; columns are text but for NUMBERS. `said` is the source's record, `record` the one
#: that counts, `digest` that of the line in the pages
TABLES: dict[str, tuple[str, str | tuple[str, ...] | None]] = {
    "pull_requests": (
        "number outcome title body author labels base merge_sha merged_at updated_at files record said digest",
        "number",
    ),
    "issues": ("number title body state labels", "number"),
    "links": ("pull reference number origin state", ("pull", "reference", "origin")),
    "evidence": ("pull field pattern text place", None),
    "state": ("key value", "key"),
}
NUMBERS = ("number", "pull", "place")
SEARCHED = ("pull_requests", "issues")
_SAME = ("title", "body", "author", "base", "merge_sha", "merged_at", "updated_at")

Standings = Mapping[str, Standing]


def open_index(path: Path) -> Database:
    """The database at `path`; one that cannot be read, or has another layout, gives way to an empty one."""
    try:
        database = Database(path)
        if database.layout == LAYOUT:
            return database
        database.close()
    except sqlite3.DatabaseError:
        pass
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()
    return Database(path)


class Database:
    """The database of one repository at `path`, made when it is not there. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite_utils.Database(path)
        self._db.enable_wal()
        self._db.execute("pragma synchronous = normal")  # the pages are on disk before it
        if not self._db.table_names():
            self._make()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @property
    def layout(self) -> int:
        return self._db.execute("pragma user_version").fetchone()[0]

    def _make(self) -> None:
        with self._db.atomic():
            for name, (columns, key) in TABLES.items():
                types = {column: int if column in NUMBERS else str for column in columns.split()}
                self._db.table(name).create(types, pk=key)
            self._db.table("evidence").create_index(["pull"])
            self._db.table("pull_requests").create_index(["outcome", "number"])
            for name in SEARCHED:
                self._db.table(name).enable_fts(["title", "body"], create_triggers=True)
            self._db.execute(f"pragma user_version = {LAYOUT}")

    def clear(self) -> None:
        """Forget everything."""
        with self._db.atomic():
            for table in TABLES:
                self._db.execute(f"delete from {table}")

    # -- what it knows of itself ---------------------------------------------------------------------------------------
    def get(self, key: str) -> str:
        """One value of the state, empty when it was never set."""
        rows = self._db.query("select value from state where key = ?", [key])
        return next((row["value"] for row in rows), "")

    def set(self, **values: str) -> None:
        """Set values of the state, all or none."""
        with self._db.atomic():
            self._db.table("state").upsert_all(
                ({"key": key, "value": value} for key, value in values.items()), pk="key"
            )

    @property
    def place(self) -> Place:
        """The end of the last page that it holds."""
        return Place(*json.loads(self.get("place") or '[0, ""]'))

    # -- writing -------------------------------------------------------------------------------------------------------
    def save(self, seen: Iterable[tuple[Seen, str]], standings: Standings, place: Place, **state: str) -> None:
        """Write a page (with its lines), the state after it and its place, all or nothing."""
        with self._db.atomic():
            pairs = list(seen)
            rows = [one for one, _ in pairs]
            self._forget([one.number for one in rows])
            self._upsert("pull_requests", (_row(one, line, standings) for one, line in pairs))
            self._upsert("issues", (_issue_row(issue) for one in rows for issue in one.issues))
            self._upsert("links", ({"pull": one.number, **link._asdict()} for one in rows for link in one.links))
            found = [{"pull": one.number, **each.model_dump()} for one in rows for each in one.evidence]
            if found:
                self._db.table("evidence").insert_all(found)
            self.set(place=json.dumps(place), **state)

    def settle(self, repo: Repo, standings: Standings, **state: str) -> None:
        """Let these decisions count, and the state after them, all or nothing. Raises UserError for a bad one."""
        with self._db.atomic():
            for name, standing in standings.items():
                number = parse_instance_id(name)[1]
                outcome = self.settled(number, standing)
                if outcome is None:
                    self._db.execute("delete from pull_requests where number = ?", [number])
                elif outcome != self.record(number):
                    self._upsert("pull_requests", [{"number": number, **_counts(outcome)}])
            self.set(**state)

    def settled(self, number: int, standing: Standing) -> Outcome | None:
        """What becomes of a pull request with these decisions. Raises UserError."""
        return settle(self.said(number), self._files(number), standing)

    def _upsert(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        if rows := list(rows):
            self._db.table(table).upsert_all(rows, pk=TABLES[table][1])

    def _forget(self, numbers: list[int]) -> None:
        """Take away what hangs on pull requests, before it is rewritten."""
        marks = ",".join("?" * len(numbers))
        for table in ("links", "evidence"):
            self._db.execute(f"delete from {table} where pull in ({marks})", numbers)

    # -- reading -------------------------------------------------------------------------------------------------------
    def records(self, kind: type[Candidate] | type[Rejection]) -> Iterator[str]:
        """The candidates or the rejections as JSON, by number."""
        where = f"where {_of_kind(kind)} order by number"
        return (row["record"] for row in self._db.query(f"select record from pull_requests {where}"))

    def numbers(self, kinds: Collection[type[Candidate] | type[Rejection]]) -> list[int]:
        """The numbers of these kinds, in order."""
        where = " or ".join(map(_of_kind, kinds)) or "false"
        return [
            row["number"] for row in self._db.query(f"select number from pull_requests where {where} order by number")
        ]

    def digests(self, numbers: Sequence[int]) -> dict[int, str]:
        """The digests of the lines of these pull requests, where there are any."""
        marks = ",".join("?" * len(numbers))
        rows = self._db.query(f"select number, digest from pull_requests where number in ({marks})", list(numbers))
        return {row["number"]: row["digest"] for row in rows}

    def record(self, number: int) -> Outcome | None:
        """What became of a pull request, None for one that is unknown."""
        return self._parsed(number, "record")

    def said(self, number: int) -> Outcome | None:
        """What became of it by its source alone, None for one that no source gave."""
        return self._parsed(number, "said")

    def _parsed(self, number: int, column: str) -> Outcome | None:
        row = next(self._db.query(f"select {column} as text from pull_requests where number = ?", [number]), None)
        if row is None or not row["text"]:
            return None
        return (Candidate if '"fix_patch":' in row["text"] else Rejection).model_validate_json(row["text"])

    def _files(self, number: int) -> list[str]:
        row = next(self._db.query("select files from pull_requests where number = ?", [number]), None)
        return json.loads(row["files"]) if row and row["files"] else []

    def reasons(self) -> list[tuple[str, int]]:
        """How many were rejected for which reason, the most frequent first."""
        rows = self._db.query(
            f"select outcome, count(*) as number from pull_requests where {_of_kind(Rejection)}"
            " group by outcome order by number desc, outcome"
        )
        return [(row["outcome"], row["number"]) for row in rows]


def line_digest(line: str) -> str:
    return sha256(line.encode()).hexdigest()[:32]


def _of_kind(kind: type[Candidate] | type[Rejection]) -> str:
    return f"outcome {'=' if kind is Candidate else '<>'} 'candidate'"


def _counts(outcome: Outcome) -> dict[str, str]:
    reason = outcome.reason if isinstance(outcome, Rejection) else "candidate"
    return {"outcome": reason, "record": outcome.model_dump_json()}


def _row(one: Seen, line: str, standings: Standings) -> dict[str, Any]:
    said = one.outcome
    standing = standings.get(said.instance_id)
    outcome = settle(said, one.files, standing) if standing else said
    assert outcome
    counts = _counts(outcome)
    return {
        "number": one.number,
        **{name: getattr(one, name) for name in _SAME},
        "labels": json.dumps(one.labels),
        "files": json.dumps(one.files),
        **counts,
        "said": counts["record"] if outcome is said else said.model_dump_json(),
        "digest": line_digest(line),
    }


def _issue_row(issue: Any) -> dict[str, Any]:
    return issue.model_dump() | {"labels": json.dumps(issue.labels)}
