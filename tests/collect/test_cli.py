"""The commands `a11y-bench collect` and `a11y-bench select`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from collecting import FILES, TOKEN, reasons
from factories import REPO
from github_double import GitHubDouble
from histories import History

from pipeline.cli import program
from pipeline.core.errors import UserError
from pipeline.core.store import Store


@pytest.fixture
def run(github: GitHubDouble, store: Store, monkeypatch: pytest.MonkeyPatch):
    """`run("collect", ...)`: with GitHub's double and the test's own data directory."""
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("A11Y_BENCH_DATA", str(store.root))

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(program, list(arguments))

    return invoke


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first")
    made.commit("Fokus (#1)", {"src/Menu.tsx": "1\n", "src/Menu.test.tsx": "1\n"})
    return made


def test_collecting_from_github(run, store: Store, github: GitHubDouble) -> None:
    """Rate, points and remaining time during the work; the funnel and the reasons at the end."""
    repo = github.world.repository(str(REPO))
    for number in range(1, 151):
        repo.pull(number, title="Aria" if number == 1 else "Name", files=FILES)
    done = run("collect", str(REPO), "--source", "github")
    assert done.exit_code == 0, done.output
    assert "100 pull requests" in done.stderr and "points left" in done.stderr and "to go" in done.stderr
    assert "Funnel of acme/ui" in done.stdout and "no_a11y_evidence" in done.stdout
    assert len(reasons(store)) == 150


def test_the_readmes_command(run, store: Store, history: History) -> None:
    done = run("collect", str(REPO), "--source", "git", "--path", str(history.folder), "--pr", "1")
    assert done.exit_code == 0, done.output
    assert reasons(store) == {1: "by hand"}


@pytest.mark.rule("foreign-benchmarks")
def test_a_missing_number_is_reported_and_the_others_are_taken(run, store: Store, history: History) -> None:
    done = run("collect", str(REPO), "--path", str(history.folder), "--pr", "1", "--pr", "77")
    assert done.exit_code == 1
    assert "left out: no merged pull request #77 of acme/ui" in done.stderr
    assert reasons(store) == {1: "by hand"}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("option", [("--clone", "clone"), ("--filtered",)])
def test_options_for_a_dataset_are_refused_elsewhere(run, history: History, option: tuple[str, ...]) -> None:
    done = run("collect", str(REPO), "--path", str(history.folder), *option)
    assert isinstance(done.exception, UserError) and option[0] in str(done.exception)


def test_other_patterns(run, store: Store, history: History, tmp_path: Path) -> None:
    path = tmp_path / "patterns.toml"
    path.write_text("[a11y]\ntext = ['fokus']\nlabel = []\n[issue_ref]\ntext = ['#([0-9]+)']\n")
    run("collect", str(REPO), "--path", str(history.folder))
    assert reasons(store) == {1: "no_a11y_evidence"}
    run("collect", str(REPO), "--path", str(history.folder), "--patterns", str(path))
    assert reasons(store) == {1: "candidate"}


@pytest.mark.rule("bad-input")
def test_a_missing_token_is_refused(run, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.delenv("GITHUB_TOKENS", raising=False)
    done = run("collect", str(REPO), "--source", "github")
    assert "GITHUB_TOKEN" in str(done.exception)
    assert not store.root.exists()


@pytest.mark.rule("selection")
def test_selecting_prints_a_table_with_reasons(run, store: Store, github: GitHubDouble) -> None:
    github.world.repository("acme/ui", stars=501, pushed_at="2020-01-01T00:00:00Z", language="CSS")
    done = run("select", "acme/ui", "acme/gone")
    assert done.exit_code == 0, done.output
    assert "no commit in six months" in done.stdout and "GitHub does not give it: 404" in done.stdout
    assert not store.root.exists()


def _commands(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        yield command
        if isinstance(command, click.Group):
            yield from _commands(command)


@pytest.mark.trap("false-is-true")
def test_every_boolean_option_is_a_flag() -> None:
    """With argparse's `type=bool`, the text "False" is true; here, every yes-or-no option is a flag without a value."""
    parameters = [param for command in _commands(program) for param in command.params]
    assert [
        parameter.name
        for parameter in parameters
        if parameter.type is click.BOOL and not getattr(parameter, "is_flag", False)
    ] == []
