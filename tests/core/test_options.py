"""Options that commands share: the same names, the same checks."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.options import agent_of, data_option, model_argument, repo_argument, subset_options
from pipeline.core.store import Store, write_bytes
from pipeline.core.subset import Subset


@click.command()
@repo_argument
@data_option
def show(repo: Repo, store: Store) -> None:
    """Prints what it was given."""
    click.echo(f"{repo} {store.root}")


def run(*arguments: str, **environment: str) -> str:
    return CliRunner().invoke(show, arguments, env=environment, catch_exceptions=False).output.strip()


def test_the_data_directory(tmp_path: Path) -> None:
    """The option, then the environment variable, then `data/` in the current folder."""
    assert run("a/b", "--data", str(tmp_path)) == f"a/b {tmp_path}"
    assert run("a__b", A11Y_BENCH_DATA=str(tmp_path)) == f"a/b {tmp_path}"
    assert run("a/b", "--data", "/", A11Y_BENCH_DATA=str(tmp_path)) == "a/b /"
    assert run("a/b") == f"a/b {Path.cwd() / 'data'}"


def test_bad_input_ends_before_the_command(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a repository"):
        run("nothing")
    (tmp_path / "schema.json").write_text('{"schema_version": 7}')
    with pytest.raises(UserError, match="data of version 7"):
        run("a/b", "--data", str(tmp_path))
    assert "is a file" in run("a/b", "--data", str(tmp_path / "schema.json"))


@pytest.mark.rule("references")
@pytest.mark.parametrize(("model", "agent"), [("oracle", "oracle"), ("nop", "nop"), ("GLM-4.6", "magentless")])
def test_oracle_and_nop_are_their_own_agents(model: str, agent: str) -> None:
    """`agt-run REPO oracle` needs no `--agent`, and its results never appear under another agent's name."""
    assert agent_of("magentless", model) == agent


@click.command()
@repo_argument
@model_argument
@subset_options
@data_option
def choose(repo: Repo, model: str, subset: Subset, store: Store) -> None:
    """Prints the model and the instances that it was given."""
    click.echo(f"{model} {subset}")


def test_the_three_arguments_of_the_thesis_are_understood() -> None:
    """The thesis's own form was `agt-run mui__material-ui ts gpt-4o`."""
    result = CliRunner().invoke(choose, ["mui__material-ui", "ts", "gpt-4o"])
    assert result.output.splitlines()[-1].startswith("gpt-4o ") and "'ts' is ignored" in result.output
    assert CliRunner().invoke(choose, ["mui/material-ui", "gpt-4o"]).output.startswith("gpt-4o ")
    refused = CliRunner().invoke(choose, ["mui/material-ui", "gpt-4o", "gpt-5"])
    assert refused.exit_code == 2 and "one MODEL is expected, not 2: gpt-4o gpt-5" in refused.output


def test_every_command_selects_instances_in_the_same_way() -> None:
    words = ["--pr", "1", "--pr", "2", "--instances", "a/b#3,a__b-4", "--limit", "3"]
    result = CliRunner().invoke(choose, ["a/b", "m", *words])
    assert result.output.strip() == f"m {Subset((1, 2), ('a__b-3', 'a__b-4'), 3)}"
    assert CliRunner().invoke(choose, ["a/b", "m"]).output.strip() == f"m {Subset()}"


def test_a_named_subset_selects_instances(tmp_path: Path) -> None:
    """As in a campaign's file; it was refused as "not an instance"."""
    write_bytes(Store(tmp_path).subset("lite"), b"a__b-3\na__b-5\n")
    words = ["a/b", "m", "--data", str(tmp_path), "--instances"]
    assert CliRunner().invoke(choose, [*words, "lite"]).output.strip() == f"m {Subset(names=('a__b-3', 'a__b-5'))}"
    with pytest.raises(UserError, match="there is no subset 'reviewed'"):
        CliRunner().invoke(choose, [*words, "reviewed"], catch_exceptions=False)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("text", ["", " , ", "file"])
def test_an_empty_list_of_instances_is_refused(tmp_path: Path, text: str) -> None:
    """`--instances "$LIST"` selected every instance, to be paid for, where the variable was empty."""
    (tmp_path / "none.txt").write_text("# none yet\n")
    given = str(tmp_path / "none.txt") if text == "file" else text
    with pytest.raises(UserError, match="no instance is named"):
        CliRunner().invoke(choose, ["a/b", "m", "--instances", given], catch_exceptions=False)
