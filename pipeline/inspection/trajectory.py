"""The conversation of agent and model that is stored with an answer.

Reads the trajectory of an answer: JSON or JSON Lines whose entries have `messages`, each with role and content, and
perhaps a `reply`. Files in other formats, which agents may also write, have no messages here. Writes nothing.
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
    return [Trajectory(path, list(_messages(path))) for path in sorted(folder.glob("*traj*")) if path.is_file()]


def _messages(path: Path) -> Iterator[Message]:
    try:
        data = path.read_bytes()
        texts = data.split(b"\n") if path.suffix == ".jsonl" else [data]
        entries = [json.loads(text) for text in texts if text.strip()]
    except (ValueError, RecursionError):
        return
    for entry in filter(_is_object, entries):
        messages = entry.get("messages")
        for message in filter(_is_object, messages if isinstance(messages, list) else ()):
            yield Message(_text(message.get("role")), _text(message.get("content")))
        if reply := entry.get("reply") or entry.get("answer"):
            yield Message("reply", _text(reply))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _text(content: Any) -> str:
    """The content as a text that can be printed: an agent may write half an emoji."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False) if content else ""
    return text.encode(errors="replace").decode()
