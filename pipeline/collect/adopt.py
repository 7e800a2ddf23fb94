"""Making the pages of a repository that has none: it was collected before there were pages, or they were lost.

Reads `collect.sqlite`, or only the files if it does not exist. What was chosen by hand becomes a decision. A person's
other changes from that time cannot be distinguished from what the source said.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from pipeline.collect.export import FILES, digests
from pipeline.collect.links import Link
from pipeline.collect.pages import Seen, member, write_pages
from pipeline.collect.settle import Outcome, parsed
from pipeline.core.decisions import decide, decided, fold, make
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Candidate, Evidence, Issue
from pipeline.core.store import Store, each_record

_SIZE = 500
_EVIDENCE = ", ".join(Evidence.model_fields)
_LINK = ", ".join(Link._fields)
_TEXTS = ("title", "body", "author", "base", "merge_sha", "merged_at", "updated_at")


def adopt(store: Store, repo: Repo, pages: Path, index: Path) -> None:
    """Make the pages of a repository that has none. Raises UserError for a file that cannot be read."""
    folder = store.raw(repo)
    if pages.exists() or not (index.exists() or digests(folder)):
        return
    try:
        with closing(sqlite3.connect(index)) as database:
            database.row_factory = sqlite3.Row
            seen, state = list(_rows(database)), dict(database.execute("select key, value from state").fetchall())
    except sqlite3.DatabaseError:
        seen, state = [], {}
    if not seen:
        seen = [_of_record(record) for name, kind in FILES.items() for record in each_record(folder / name, kind)]
    if not seen and not digests(folder):
        return
    _keep_choices(store, repo, [row.outcome for row in seen])
    write_pages(pages, _members(seen, state, _exported(state, digests(folder))))


def _exported(state: dict[str, str], files: dict[str, str]) -> dict[str, Any]:
    """What was written last, so that changes since then are noticed. After a killed run, this is not known."""
    if exported := json.loads(state.get("exported", "{}")):
        return {key: exported[key] for key in ("files", "decisions")}
    recorded = {name: state[name] for name in files if state.get(name)}
    return {"files": files if state.get("unfinished") else files | recorded, "decisions": 0}


def _members(rows: list[Seen], state: dict[str, str], exported: dict[str, Any]) -> Iterator[bytes]:
    remaining = iter(rows)
    while page := list(islice(remaining, _SIZE)):
        yield member([row.line() for row in page], {})
    yield member([], {key: state[key] for key in ("cursor", "settings") if key in state})
    yield member([], {"exported": exported})


def _rows(database: sqlite3.Connection) -> Iterator[Seen]:
    """Every pull request of a database without pages."""
    texts = {row["number"]: row for row in database.execute("select * from issues")}
    for row in database.execute("select * from pull_requests order by number"):
        if "said" in row.keys() and not row["said"]:  # noqa: SIM118 - no mapping
            continue  # a person added it: a decision
        number = (row["number"],)
        links = [Link(*fields) for fields in database.execute(f"select {_LINK} from links where pull = ?", number)]
        matches = database.execute(
            "select field, pattern, text, place from evidence where pull = ? order by rowid", number
        )
        yield Seen(
            number=row["number"],
            **{name: row[name] or "" for name in _TEXTS},
            labels=json.loads(row["labels"] or "[]"),
            files=json.loads(row["files"] or "[]"),
            links=tuple(links),
            issues=tuple(_issue(texts[n]) for n in dict.fromkeys(link.number for link in links) if n in texts),
            evidence=tuple(Evidence(**dict(match)) for match in matches),
            outcome=_outcome(row),
        )


def _issue(row: sqlite3.Row) -> Issue:
    return Issue.model_validate({**row, "labels": json.loads(row["labels"])})


def _outcome(row: sqlite3.Row) -> Outcome:
    record = json.loads(row["said" if "said" in row.keys() else "record"])  # noqa: SIM118 - no mapping
    del record["schema_version"]
    return parsed(record)


def _of_record(outcome: Outcome) -> Seen:
    return Seen(number=parse_instance_id(outcome.instance_id)[1], outcome=outcome)


def _keep_choices(store: Store, repo: Repo, outcomes: list[Outcome]) -> None:
    standings = fold(decided(store, repo))
    chosen = [outcome.instance_id for outcome in outcomes if isinstance(outcome, Candidate) and outcome.chosen_by_hand]
    names = [name for name in chosen if name not in standings or not standings[name].chosen]
    decide(
        store,
        repo,
        (make(name, "choose", author="unknown", reason="chosen before decisions were kept") for name in names),
    )
