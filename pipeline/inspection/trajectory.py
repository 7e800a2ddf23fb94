"""The conversation of agent and model that is stored with an answer.

Reads the trajectory of an answer: JSON or JSON Lines whose entries have `messages`, each with role and content, and
perhaps a `reply`. Other formats have no messages here. Writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Message(NamedTuple):
    """What was said, and by whom."""

    role: str
    text: str


class Trajectory(NamedTuple):
    """A file with its messages; none if the format is unknown."""

    path: Path
    messages: list[Message]


def trajectories(folder: Path) -> list[Trajectory]:
    """The trajectories of an answer."""
    return [Trajectory(path, list(_messages(path))) for path in sorted(folder.glob("*traj*"))]


def _messages(path: Path) -> Iterator[Message]:
    try:
        data = path.read_bytes()
        entries = [json.loads(text) for text in (data.splitlines() if path.suffix == ".jsonl" else [data])]
    except ValueError:
        return
    for entry in entries:
        for message in entry.get("messages") or () if isinstance(entry, dict) else ():
            yield Message(message.get("role", ""), _text(message.get("content")))
        if isinstance(entry, dict) and (reply := entry.get("reply") or entry.get("answer")):
            yield Message("reply", _text(reply))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False) if content else ""
