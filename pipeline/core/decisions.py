"""People's decisions on pull requests, and what follows from all of them.

Reads and appends to `00_viewer/decisions/<repo>.jsonl`. Reads A11Y_BENCH_AUTHOR. Stage 01 applies the decisions to
candidates.
"""

from __future__ import annotations

import getpass
import os
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pipeline.core import journal
from pipeline.core.names import Repo
from pipeline.core.records import Decision
from pipeline.core.store import Store, now


class Standing(NamedTuple):
    """What is decided on one instance: whether it is `chosen` by hand, where it stands (`choose`, `include` or
    `exclude`, the last of them), and the values of fields."""

    chosen: bool = False
    place: Decision | None = None
    fields: dict[str, Decision] = {}


def author() -> str:
    """A11Y_BENCH_AUTHOR, else the user's name on this system."""
    try:
        return os.environ.get("A11Y_BENCH_AUTHOR") or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def make(instance_id: str, kind: str, **what: Any) -> Decision:
    """A new decision of this user, of now."""
    given = {"id": uuid.uuid4().hex[:12], "time": now(), "author": author()}
    return Decision.model_validate({**given, "instance_id": instance_id, "kind": kind, **what})


def decided(store: Store, repo: Repo) -> list[Decision]:
    """All decisions on a repository, the oldest first. Raises UserError with file, line and field."""
    return journal.read(store.decisions(repo), Decision)


def decide(store: Store, repo: Repo, decisions: Iterable[Decision]) -> None:
    """Append decisions; several processes may at once."""
    journal.append(store.decisions(repo), decisions)


def in_force(decisions: Sequence[Decision]) -> list[Decision]:
    """Those that none takes back; an `undo` that is taken back takes nothing back."""
    void: set[str] = set()
    for one in reversed(decisions):
        if one.kind == "undo" and one.id not in void:
            void.add(one.undoes)
    return [one for one in decisions if one.kind != "undo" and one.id not in void]


def fold(decisions: Sequence[Decision]) -> dict[str, Standing]:
    """What all of them come to, by instance; one whose decisions were all taken back stands there, too."""
    standings = {one.instance_id: Standing(fields={}) for one in decisions}
    for one in in_force(decisions):
        standings[one.instance_id] = _after(standings[one.instance_id], one)
    return standings


def words(one: Decision) -> str:
    """A decision in one line, for people."""
    value = repr(one.value)
    said = {
        "set": f"{one.field} = {value[:57]}..." if len(value) > 60 else f"{one.field} = {value}",
        "undo": f"takes {one.undoes} back",
    }
    return ": ".join(filter(None, (one.instance_id, one.kind, said.get(one.kind, ""), one.reason)))


def _after(standing: Standing, one: Decision) -> Standing:
    if one.kind == "set":
        return standing._replace(fields=standing.fields | {one.field: one})
    if one.kind == "comment":
        return standing
    fields = {} if one.record else standing.fields  # a whole record says what its fields are
    return Standing(standing.chosen or one.kind == "choose", one, fields)
