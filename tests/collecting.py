"""Collected data in a comparable form, and short waits for tests that use GitHub's double."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sqlite_utils
from factories import REPO

from pipeline.collect.github.limits import Patience
from pipeline.collect.pages import Pages
from pipeline.core.records import Candidate, Rejection
from pipeline.core.store import Store, read_records

#: waits are short in tests, but their order is the same
PATIENCE = Patience(tries=4, first=0.02, secondary=0.05)
TOKEN = "ghp_not-to-be-seen"
FILES = ["src/Menu.tsx", "src/Menu.test.tsx"]
#: what the database stores about the pages' sizes
PLACES = ("place", "exported", "exported_before")
TABLES = ("pull_requests", "issues", "links", "evidence", "state")


def files(store: Store) -> dict[str, bytes]:
    """Every collected file except the database; of pages, all lines, whatever the size of the pages was."""
    paths = sorted((store.root / "01_raw").rglob("*.*"))
    return {str(path.relative_to(store.root)): _content(path) for path in paths if "sqlite" not in path.name}


def _content(path: Path) -> bytes:
    if path.name != "pages.jsonl.gz":
        return path.read_bytes()
    return b"\n".join(sorted(line for page in Pages(path).read() for line in page.lines))


def tables(store: Store) -> dict[str, list[str]]:
    """Every row of the database, in an order that does not depend on when it was written, without places in pages."""
    with sqlite_utils.Database(store.raw(REPO) / "collect.sqlite") as database:
        rows = {name: sorted(map(json.dumps, database[name].rows)) for name in TABLES}
    return rows | {"state": [row for row in rows["state"] if not any(f'"{key}"' in row for key in PLACES)]}


def outcomes(store: Store) -> dict[int, Candidate | Rejection]:
    """The result for every pull request, by number."""
    folder = store.raw(REPO)
    candidates = read_records(folder / "candidates.jsonl", Candidate)
    rejections = read_records(folder / "rejections.jsonl", Rejection)
    found: dict[int, Any] = {candidate.number: candidate for candidate in candidates}
    return found | {int(rejection.instance_id.rpartition("-")[2]): rejection for rejection in rejections}


def reasons(store: Store) -> dict[int, str]:
    """Number -> `candidate`, `by hand` or the reason of its rejection."""
    return {number: _word(outcome) for number, outcome in outcomes(store).items()}


def _word(one: Candidate | Rejection) -> str:
    if isinstance(one, Rejection):
        return one.reason
    return "by hand" if one.chosen_by_hand else "candidate"
