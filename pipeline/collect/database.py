"""`collect.sqlite`, one for each repository: what was looked at, and where the next run goes on.

A page of decisions and the cursor after it are one transaction, so that a run that was killed goes on after the last
whole page. The JSON Lines beside it are written from here (export.py); when they were changed by hand they count, and
the database is made anew from them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import sqlite_utils

from pipeline.collect.funnel import Decision
from pipeline.core.names import parse_instance_id
from pipeline.core.records import Candidate, Rejection

#: table -> its columns and its key; columns are text but for NUMBERS
TABLES: dict[str, tuple[str, str | tuple[str, ...] | None]] = {
    "pull_requests": (
        "number outcome title body author labels base merge_sha merged_at updated_at files record",
        "number",
    ),
    "issues": ("number title body state labels", "number"),
    "links": ("pull reference number origin state", ("pull", "reference", "origin")),
    "evidence": ("pull field pattern text place", None),
    "state": ("key value", "key"),
}
NUMBERS = ("number", "pull", "place")
SEARCHED = ("pull_requests", "issues")


class Database:
    """The database of one repository at `path`, made when it is not there. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite_utils.Database(path)
        self._db.enable_wal()
        if not self._db.table_names():
            self._make()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def _make(self) -> None:
        with self._db.atomic():
            for name, (columns, key) in TABLES.items():
                types = {column: int if column in NUMBERS else str for column in columns.split()}
                self._db[name].create(types, pk=key)
            self._db["evidence"].create_index(["pull"])
            self._db["pull_requests"].create_index(["outcome", "number"])
            for name in SEARCHED:
                self._db[name].enable_fts(["title", "body"], create_triggers=True)

    # -- what a run knows of itself ------------------------------------------------------------------------------------
    def get(self, key: str) -> str:
        """One value of the state, empty when it was never set."""
        rows = self._db.query("select value from state where key = ?", [key])
        return next((row["value"] for row in rows), "")

    def set(self, **values: str) -> None:
        """Set values of the state, all or none."""
        with self._db.atomic():
            self._db["state"].upsert_all(({"key": key, "value": value} for key, value in values.items()), pk="key")

    # -- decisions -----------------------------------------------------------------------------------------------------
    def save(self, decisions: Iterable[Decision], **state: str) -> None:
        """Write a page and the state after it, all or nothing, in place of what was decided before on these numbers."""
        rows = list(decisions)
        numbers = [one.merged.pull.number for one in rows]
        with self._db.atomic():
            self._forget(numbers)
            self._upsert("pull_requests", map(_pull_row, rows))
            self._upsert("issues", (_issue_row(issue) for one in rows for issue in one.issues if issue.number))
            self._upsert("links", ({"pull": n, **link._asdict()} for n, one in _of(rows) for link in one.links))
            found = [{"pull": n, **each.model_dump()} for n, one in _of(rows) for each in one.evidence]
            if found:
                self._db["evidence"].insert_all(found)
            self.set(**state)

    def _upsert(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        if rows := list(rows):
            self._db[table].upsert_all(rows, pk=TABLES[table][1])

    def _forget(self, numbers: list[int]) -> None:
        """Take away what hangs on pull requests, before it is written anew."""
        marks = ",".join("?" * len(numbers))
        for table in ("links", "evidence"):
            self._db.execute(f"delete from {table} where pull in ({marks})", numbers)

    def replace(self, records: Iterable[Candidate | Rejection]) -> None:
        """Make the database anew from these records; the next run reads its source from the start."""
        with self._db.atomic():
            for table in TABLES:
                self._db.execute(f"delete from {table}")
            self._upsert("pull_requests", map(_record_row, records))

    # -- reading -------------------------------------------------------------------------------------------------------
    def records(self, *, rejected: bool) -> Iterator[str]:
        """The candidates or the rejections as JSON, by number."""
        comparison = "<>" if rejected else "="
        where = f"where outcome {comparison} 'candidate' order by number"
        return (row["record"] for row in self._db.query(f"select record from pull_requests {where}"))

    def reasons(self) -> list[tuple[str, int]]:
        """How many were rejected for which reason, the most frequent first."""
        rows = self._db.query(
            "select outcome, count(*) as number from pull_requests where outcome <> 'candidate'"
            " group by outcome order by number desc, outcome"
        )
        return [(row["outcome"], row["number"]) for row in rows]

    def chosen(self) -> set[int]:
        """What was chosen by hand stays so when everything is collected again."""
        where = "outcome = 'candidate' and json_extract(record, '$.chosen_by_hand')"
        return {row["number"] for row in self._db.query(f"select number from pull_requests where {where}")}


def _of(rows: Iterable[Decision]) -> Iterator[tuple[int, Decision]]:
    return ((one.merged.pull.number, one) for one in rows)


def _record_row(record: Candidate | Rejection) -> dict[str, Any]:
    outcome = record.reason if isinstance(record, Rejection) else "candidate"
    number = parse_instance_id(record.instance_id)[1]
    return {"number": number, "outcome": outcome, "record": record.model_dump_json()}


def _pull_row(one: Decision) -> dict[str, Any]:
    pull, files = one.merged.pull, list(one.merged.files)
    texts = pull.model_dump(include={"title", "body", "author", "merge_sha", "merged_at"})
    more = {"base": pull.base.sha, "labels": json.dumps(pull.labels), "files": json.dumps(files)}
    return _record_row(one.outcome) | texts | more | {"updated_at": one.merged.updated_at}


def _issue_row(issue: Any) -> dict[str, Any]:
    return issue.model_dump() | {"labels": json.dumps(issue.labels)}
