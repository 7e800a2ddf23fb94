"""Conversations as agents leave them: any file, shown as far as possible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.inspection.trajectory import Message, trajectories

ASKED, TOLD = {"role": "user", "content": "where?"}, {"role": "assistant", "content": "here"}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["messages", "role", "content", "reply", "answer"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def messages(folder: Path, *entries: Any, name: str = "trajectory.jsonl") -> list[Message]:
    """What is shown of a file with these entries."""
    lines = [json.dumps(entry) for entry in entries]
    (folder / name).write_text("\n".join(lines), encoding="utf-8")
    ((_, shown),) = trajectories(folder)
    return shown


def test_each_entry_adds_its_messages_and_its_reply(tmp_path: Path) -> None:
    shown = messages(tmp_path, {"messages": [ASKED]}, {"messages": [TOLD], "reply": "done"})
    assert shown == [Message("user", "where?"), Message("assistant", "here"), Message("reply", "done")]


def test_one_document_is_one_entry(tmp_path: Path) -> None:
    assert messages(tmp_path, {"messages": [ASKED, TOLD]}, name="agent.traj.json")[1] == Message("assistant", "here")


@pytest.mark.parametrize(
    "entry",
    [
        3,
        "text",
        None,
        [],
        {},
        {"messages": 3},
        {"messages": "ab"},
        {"messages": {"role": "user"}},
        {"messages": [1, [2]]},
    ],
    ids=json.dumps,
)
def test_entries_without_a_conversation_have_no_messages(tmp_path: Path, entry: Any) -> None:
    """`show --trajectory` ended in a traceback, and all other answers were not shown either."""
    assert messages(tmp_path, entry, {"messages": [ASKED]}) == [Message("user", "where?")]


def test_content_in_parts_is_shown_as_stored(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "é"}]
    assert messages(tmp_path, {"messages": [{"role": "user", "content": parts}]}) == [
        Message("user", '[{"type": "text", "text": "é"}]')
    ]


def test_blank_lines_between_entries_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "trajectory.jsonl").write_text(f"\n{json.dumps({'messages': [ASKED]})}\r\n\n", encoding="utf-8")
    assert [shown for _, shown in trajectories(tmp_path)] == [[Message("user", "where?")]]


@pytest.mark.parametrize("data", [b"no json", b"\xff\xfe", b"[" * 100_000, b""], ids=["text", "bytes", "deep", "empty"])
def test_an_unreadable_trajectory_has_no_messages(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "trajectory.json").write_bytes(data)
    assert [shown for _, shown in trajectories(tmp_path)] == [[]]


def test_a_folder_named_like_a_trajectory_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "trajectories").mkdir()
    assert trajectories(tmp_path) == []


def test_half_an_emoji_can_be_printed(tmp_path: Path) -> None:
    ((_, text),) = messages(tmp_path, {"messages": [{"role": "user", "content": "\ud83d!"}]})
    assert text.encode() and text.endswith("!")


@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUES, max_size=4))
def test_whatever_an_agent_writes_can_be_printed(tmp_path: Path, entries: list[Any]) -> None:
    for role, text in messages(tmp_path, *entries):
        assert (role + text).encode().decode() == role + text
