"""`collect.sqlite`, one per repository: an index of all pull requests and their outcomes, with full-text search.

It is derived from `pages.jsonl.gz` and people's decisions (collected.py), and may be deleted at any time. A page and
its end are written in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlite_utils

from pipeline.collect.pages import Place, Seen
from pipeline.collect.settle import Outcome, settle
from pipeline.core.databases import readable
from pipeline.core.decisions import Standing
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.record import SCHEMA_VERSION
from pipeline.core.records import Candidate, Rejection

#: increased whenever the tables change; a database with another layout, or with other records, is made again
LAYOUT = 2 * 1000 + SCHEMA_VERSION
#: table -> its columns and its key; columns are text except NUMBERS. `said` is the record by the source alone, `record`
#: the one after decisions, `digest` the digest of the line in the pages
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
    """The database at `path`; one that cannot be read, or has another layout, is replaced by an empty one. Raises
    InfrastructureError for one that another program has locked, and for a full disk."""
    database = None
    with suppress(UserError), readable(path, "the index", ""):
        database = Database(path)
        if database.layout == LAYOUT and database.is_whole:
            return database
    if database:
        database.close()
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()
    return Database(path)


class Database:
    """The database of one repository at `path`, made if it does not exist. Use it as a context manager."""

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

    @property
    def is_whole(self) -> bool:
        """Whether every page of the file can be read."""
        return self._db.execute("pragma quick_check(1)").fetchone()[0] == "ok"

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
        """Delete all rows."""
        with self._db.atomic():
            for table in TABLES:
                self._db.execute(f"delete from {table}")

    # -- its state -----------------------------------------------------------------------------------------------------
    def get(self, key: str) -> str:
        """One value of the state; empty if it was never set."""
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
            pulls = [pull for pull, _ in pairs]
            self._forget([pull.number for pull in pulls])
            self._upsert("pull_requests", (_row(pull, line, standings) for pull, line in pairs))
            self._upsert("issues", (_issue_row(issue) for pull in pulls for issue in pull.issues))
            self._upsert("links", ({"pull": pull.number, **link._asdict()} for pull in pulls for link in pull.links))
            matches = [{"pull": pull.number, **match.model_dump()} for pull in pulls for match in pull.evidence]
            if matches:
                self._db.table("evidence").insert_all(matches)
            self.set(place=json.dumps(place), **state)

    def settle(self, repo: Repo, standings: Standings, **state: str) -> None:
        """Apply these decisions and set the state, all or nothing. Raises UserError for one that does not fit."""
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
        return settle(self.source_record(number), self._files(number), standing)

    def _upsert(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        if rows := list(rows):
            self._db.table(table).upsert_all(rows, pk=TABLES[table][1])

    def _forget(self, numbers: list[int]) -> None:
        """Delete the links and evidence of pull requests before they are rewritten."""
        marks = ",".join("?" * len(numbers))
        for table in ("links", "evidence"):
            self._db.execute(f"delete from {table} where pull in ({marks})", numbers)

    # -- reading -------------------------------------------------------------------------------------------------------
    def records(self, kind: type[Candidate] | type[Rejection]) -> Iterator[str]:
        """The candidates or the rejections as JSON, by number."""
        condition = f"where {_of_kind(kind)} order by number"
        return (row["record"] for row in self._db.query(f"select record from pull_requests {condition}"))

    def numbers(self, kinds: Collection[type[Candidate] | type[Rejection]]) -> list[int]:
        """The numbers of these kinds, in order."""
        condition = f"where {' or '.join(map(_of_kind, kinds)) or 'false'}"
        return [
            row["number"] for row in self._db.query(f"select number from pull_requests {condition} order by number")
        ]

    def of_host(self, numbers: Sequence[int]) -> frozenset[int]:
        """Those of these pull requests that a host gave: only a host says when one was changed."""
        marks = ",".join("?" * len(numbers))
        condition = f"number in ({marks}) and updated_at <> ''"
        rows = self._db.query(f"select number from pull_requests where {condition}", list(numbers))
        return frozenset(row["number"] for row in rows)

    def rejected(self, reasons: Collection[str]) -> list[int]:
        """The pull requests of a host that are rejected for one of these reasons, in order."""
        marks = ",".join("?" * len(reasons))
        condition = f"outcome in ({marks}) and updated_at <> ''"
        rows = self._db.query(f"select number from pull_requests where {condition} order by number", list(reasons))
        return [row["number"] for row in rows]

    def digests(self, numbers: Sequence[int]) -> dict[int, str]:
        """The digests of the lines of these pull requests, as far as they are stored."""
        marks = ",".join("?" * len(numbers))
        rows = self._db.query(f"select number, digest from pull_requests where number in ({marks})", list(numbers))
        return {row["number"]: row["digest"] for row in rows}

    def record(self, number: int) -> Outcome | None:
        """The outcome of a pull request; None if it is unknown."""
        return self._parsed(number, "record")

    def source_record(self, number: int) -> Outcome | None:
        """The outcome by the source alone, without decisions; None if no source gave the pull request."""
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
        """The number of rejections by reason, the most frequent first."""
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


def _row(pull: Seen, line: str, standings: Standings) -> dict[str, Any]:
    source_record = pull.outcome
    standing = standings.get(source_record.instance_id)
    outcome = settle(source_record, pull.files, standing) if standing else source_record
    assert outcome
    counts = _counts(outcome)
    return {
        "number": pull.number,
        **{name: getattr(pull, name) for name in _SAME},
        "labels": json.dumps(pull.labels),
        "files": json.dumps(pull.files),
        **counts,
        "said": counts["record"] if outcome is source_record else source_record.model_dump_json(),
        "digest": line_digest(line),
    }


def _issue_row(issue: Any) -> dict[str, Any]:
    return issue.model_dump() | {"labels": json.dumps(issue.labels)}
