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
    """All decisions on one instance: whether it is `chosen` by hand, the last `choose`, `include` or `exclude`
    (`place`), and the values of fields."""

    chosen: bool = False
    place: Decision | None = None
    fields: dict[str, Decision] = {}


def author() -> str:
    """A11Y_BENCH_AUTHOR, else the user's name on this system."""
    try:
        return os.environ.get("A11Y_BENCH_AUTHOR") or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def make(instance_id: str, kind: str, **fields: Any) -> Decision:
    """A new decision by this user at this time."""
    defaults = {"id": uuid.uuid4().hex[:12], "time": now(), "author": author()}
    return Decision.model_validate({**defaults, "instance_id": instance_id, "kind": kind, **fields})


def decided(store: Store, repo: Repo) -> list[Decision]:
    """All decisions on a repository, the oldest first. Raises UserError with file, line and field."""
    return journal.read(store.decisions(repo), Decision)


def decide(store: Store, repo: Repo, decisions: Iterable[Decision]) -> None:
    """Append decisions. Several processes may do so at once."""
    journal.append(store.decisions(repo), decisions)


def in_force(decisions: Sequence[Decision]) -> list[Decision]:
    """The decisions that are not undone. An `undo` that is undone itself has no effect."""
    undone: set[str] = set()
    for decision in reversed(decisions):
        if decision.kind == "undo" and decision.id not in undone:
            undone.add(decision.undoes)
    return [decision for decision in decisions if decision.kind != "undo" and decision.id not in undone]


def fold(decisions: Sequence[Decision]) -> dict[str, Standing]:
    """The result of all decisions, by instance; instances whose decisions were all undone are included."""
    standings = {decision.instance_id: Standing(fields={}) for decision in decisions}
    for decision in in_force(decisions):
        standings[decision.instance_id] = _after(standings[decision.instance_id], decision)
    return standings


def words(decision: Decision) -> str:
    """A decision in one line, for people."""
    value = repr(decision.value)
    details = {
        "set": f"{decision.field} = {value[:57]}..." if len(value) > 60 else f"{decision.field} = {value}",
        "undo": f"takes {decision.undoes} back",
    }
    parts = (decision.instance_id, decision.kind, details.get(decision.kind, ""), decision.reason)
    return ": ".join(filter(None, parts))


def _after(standing: Standing, decision: Decision) -> Standing:
    if decision.kind == "set":
        return standing._replace(fields=standing.fields | {decision.field: decision})
    if decision.kind == "comment":
        return standing
    fields = {} if decision.record else standing.fields  # a whole record has its own fields
    return Standing(standing.chosen or decision.kind == "choose", decision, fields)
