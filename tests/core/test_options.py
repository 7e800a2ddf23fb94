"""Options that commands share: the same words, the same checks."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.options import agent_of, data_option, repo_argument
from pipeline.core.store import Store


@click.command()
@repo_argument
@data_option
def show(repo: Repo, store: Store) -> None:
    """Says what it was given."""
    click.echo(f"{repo} {store.root}")


def run(*arguments: str, **environment: str) -> str:
    return CliRunner().invoke(show, arguments, env=environment, catch_exceptions=False).output.strip()


def test_the_data_directory(tmp_path: Path) -> None:
    """The option, then the environment, then `data/` where the command is given."""
    assert run("a/b", "--data", str(tmp_path)) == f"a/b {tmp_path}"
    assert run("a__b", A11Y_BENCH_DATA=str(tmp_path)) == f"a/b {tmp_path}"
    assert run("a/b", "--data", "/x", A11Y_BENCH_DATA=str(tmp_path)) == "a/b /x"
    assert run("a/b") == f"a/b {Path.cwd() / 'data'}"


def test_bad_input_ends_before_the_command(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no repository"):
        run("nothing")
    (tmp_path / "schema.json").write_text('{"schema_version": 7}')
    with pytest.raises(UserError, match="data of version 7"):
        run("a/b", "--data", str(tmp_path))
    assert "is a file" in run("a/b", "--data", str(tmp_path / "schema.json"))


@pytest.mark.rule("references")
@pytest.mark.parametrize(("model", "agent"), [("oracle", "oracle"), ("nop", "nop"), ("GLM-4.6", "magentless")])
def test_the_references_are_agents_of_their_own(model: str, agent: str) -> None:
    """`agt-run REPO oracle` needs no `--agent`, and its results never stand under another agent's name."""
    assert agent_of("magentless", model) == agent
