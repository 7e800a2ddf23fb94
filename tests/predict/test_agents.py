"""Agents by name: folders of vendors/ with a manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.predict.agents import PLACES, Agent, Call, agents, load_agent


@pytest.mark.rule("agent-default")
def test_the_agent_of_the_project_is_there() -> None:
    agent = load_agent("magentless")
    assert (agent.folder.name, agent.settings.name) == ("magentless", "settings.toml")
    argv = agent.call.argv(dict.fromkeys(PLACES[agent.runs_code], "here"))
    assert argv[:3] == ["here", "-m", "magentless"] and "{" not in "".join(argv)


@pytest.mark.rule("bad-input")
def test_an_unknown_agent_lists_what_there_is() -> None:
    with pytest.raises(UserError, match="unknown agent 'nobody'") as error:
        load_agent("nobody")
    assert all(name in str(error.value) for name in (*agents(), "oracle (as the model)", "nop (as the model)"))


@pytest.mark.rule("bad-input")
def test_settings_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such settings file") as error:
        load_agent("magentless", tmp_path / "mine.toml")
    assert error.value.path == tmp_path / "mine.toml"


def test_settings_replace_the_agents_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    assert load_agent("magentless", tmp_path / "mine.toml").settings == tmp_path / "mine.toml"


@pytest.mark.rule("run-identity")
def test_a_changed_agent_has_another_digest(tmp_path: Path) -> None:
    """Its numbers are not comparable with those of the old one; compiled files do not count."""
    agent = Agent("fake", tmp_path, tmp_path / "settings.toml", Call())
    (tmp_path / "agent.py").write_text("one")
    before = agent.digest
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "agent.pyc").write_bytes(b"compiled")
    assert agent.digest == before
    (tmp_path / "agent.py").write_text("two")
    assert agent.digest != before
