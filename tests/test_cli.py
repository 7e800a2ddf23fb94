"""The console program as users run it: a real process, its help, its exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from factories import REPO, make_instance

from pipeline import __version__
from pipeline.cli import COMMANDS, main
from pipeline.core.store import Store, write_records

Run = Callable[..., tuple[int, str, str]]
#: every command, including those in groups
GROUPS = {
    "triage": ("serve", "list", "rate", "ask", "import", "export"),
    "images": ("push", "pull"),
    "dataset": ("check", "export", "stats", "lock", "rebuild", "agree", "audit", "grade", "show", "subset"),
    "submission": ("pack", "verify", "regrade", "leaderboard"),
    "pages": ("check", "run", "eval", "report", "hybrid", "demo"),
    "handcheck": ("export", "import"),
    "runs": ("list", "show", "compare", "remove"),
    "remote": ("setup", "push", "run", "status", "logs", "stop", "pull", "merge", "snapshot"),
}
ALL = [[name] for name in COMMANDS] + [[group, name] for group, names in GROUPS.items() for name in names]
ELSEWHERE = (["remote", name] for name in ("setup", "run", "status", "logs", "stop"))
#: those that do not use the user's data directory; the demos have their own (--data)
WITHOUT_DATA = (
    *(["demo"], ["pages", "demo"]),
    *([], ["models"], ["schema"], ["select"], ["pages", "check"], ["scheduler"], ["worker"]),
    *(["submission", "verify"], ["submission", "leaderboard"]),
    *ELSEWHERE,
    *([group] for group in GROUPS),
)
#: packages that each take a noticeable part of a second to import
HEAVY = {"pandas", "matplotlib", "docker", "git", "litellm", "openai", "httpx", "pydantic", "rich", "yaml"} | {
    "github",
    "gql",
    "aiohttp",
    "sqlite_utils",
    "re2",
    "unidiff",
    "dask",
    "distributed",
}
PROGRAM = """
import sys
from pipeline.cli import main
try:
    main()
finally:
    print("MODULES", *{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own; the last line of stderr lists the imported packages."""
    return subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run(*arguments)`: runs the program in this process; returns the exit code, stdout and stderr."""

    def program(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["a11y-bench", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return (end.value.code or 0, *capsys.readouterr())

    return program


def dataset(folder: Path) -> Path:
    """A data directory with one instance."""
    store = Store(folder / "data")
    store.begin()
    write_records(store.dataset(REPO), [make_instance()])
    return store.root


@pytest.mark.rule("instant-help")
@pytest.mark.parametrize("command", [[], *ALL], ids=" ".join)
def test_help_imports_no_heavy_modules(command: list[str]) -> None:
    """Help is instant if nothing heavy is imported for it; unlike times, imports can be tested."""
    done = process(*command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")
    marker, *imported = done.stderr.splitlines()[-1].split()
    assert marker == "MODULES"
    assert set(imported) & HEAVY == set()
    assert ("--data" in done.stdout and "A11Y_BENCH_DATA" in done.stdout) is (command not in WITHOUT_DATA)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_complete(name: str) -> None:
    """Every option has its line, no sentence is cut off, and no markup of the help is visible."""
    command = import_module(COMMANDS[name][0]).command
    for words, part in commands_of(command):
        text = part.get_help(click.Context(part, info_name=" ".join(["a11y-bench", name, *words]), terminal_width=80))
        options = [option for option in part.params if isinstance(option, click.Option)]
        assert [option.name for option in options if not option.help] == []
        assert "\\b" not in text and not re.search(r"[a-z]\.\.\.$", text, re.MULTILINE)


def commands_of(command: click.Command, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and its subcommands, with their names."""
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands_of(below, *words, name)


def test_the_groups_of_these_tests_are_those_of_the_program() -> None:
    modules = {name: import_module(module).command for name, (module, _) in COMMANDS.items()}
    groups = {name: set(command.commands) for name, command in modules.items() if isinstance(command, click.Group)}
    assert {name: set(below) for name, below in GROUPS.items()} == groups


def test_the_overview_lists_every_command(run: Run) -> None:
    code, text, _ = run("-h")
    assert code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in text] == []
    assert run("--version") == (0, f"a11y-bench, version {__version__}\n", "")


def test_the_installed_program_is_this_one() -> None:
    program = Path(sys.executable).with_name("a11y-bench")
    done = subprocess.run([str(program), "schema"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "PullRequest")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["frobnicate"], "no command 'frobnicate'; available: demo, doctor, collect"),
        (
            ["collect", "a/b", "--path", ".", "--source", "svn"],
            "unknown source 'svn'\n  available: dataset, git, github",
        ),
        (["collect", "nothing", "--path", "."], "write it as org/repo or org__repo"),
        (["build", "a/b", "--sandbox", "vm"], "unknown sandbox 'vm'\n  available: docker, local"),
        (["build", "a/b", "--sandbox", "local"], "a/b is not collected\n  collected: none"),
        (["evaluate", "a/b", "oracle", "--sandbox", "vm"], "unknown sandbox 'vm'\n  available: docker, local"),
        (["evaluate", "a/b", "oracle", "--sandbox", "local"], "built: none"),
        (["predict", "a/b", "oracle"], "a/b has no dataset\n  built: none"),
        (["triage", "rate", "a-b", "accepted", "--by", "me"], "write it as org__repo-N"),
        (["schema", "Thing"], "unknown record 'Thing'\n  available: Assessment, Candidate"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_unknown_names_list_the_available_ones(run: Run, tmp_path: Path, arguments: list[str], says: str) -> None:
    """Exit code 2, what to do, and nothing written."""
    if arguments[0] not in ("schema", "frobnicate"):
        arguments = [*arguments, "--data", str(tmp_path)]
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["predict", "a/b", "oracle"], "built: acme/ui"),
        (
            ["predict", "acme/ui", "GLM-4.6", "--agent", "nobody"],
            "unknown agent 'nobody'\n  available: command, magentless, mini-swe-agent",
        ),
        (["predict", "acme/ui", "no-model"], "unknown model 'no-model'\n  available: "),
        (["evaluate", "acme/ui", "oracle", "--sandbox", "local"], "no predictions of oracle with oracle"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_unknown_names_beside_a_dataset(run: Run, tmp_path: Path, arguments: list[str], says: str) -> None:
    data = dataset(tmp_path)
    before = {path: path.read_bytes() for path in data.rglob("*.json*")}
    code, _, err = run(*arguments, "--data", str(data))
    assert code == 2
    assert says in err
    assert {path: path.read_bytes() for path in data.rglob("*.json*")} == before


@pytest.mark.rule("schema-version")
@pytest.mark.parametrize("command", ["collect a/b --path .", "predict a/b nop", "triage list a/b", "analyze"])
def test_data_of_another_version_is_refused_by_every_command(run: Run, tmp_path: Path, command: str) -> None:
    """Records of another version may look right without being so."""
    (tmp_path / "schema.json").write_text('{"schema_version": 99}')
    code, _, err = run(*command.split(), "--data", str(tmp_path))
    assert code == 2
    assert f"{tmp_path / 'schema.json'}: field 'schema_version': data of version 99" in err
    assert [path.name for path in tmp_path.iterdir()] == ["schema.json"]


@pytest.mark.rule("bad-input")
def test_a_broken_dataset_is_named(run: Run, tmp_path: Path) -> None:
    """With file, line and field: datasets are corrected by hand."""
    data = dataset(tmp_path)
    path = Store(data).dataset(REPO)
    path.write_text(path.read_text() + '{"instance_id": 1}\n')
    code, _, err = run("predict", "acme/ui", "nop", "--data", str(data))
    assert code == 2
    assert f"error: {path}:2: field '" in err


@pytest.mark.parametrize("name", ["Instance", "Prediction", "ReviewRequest", "Verdict"])
def test_schemas_are_published(run: Run, name: str) -> None:
    code, out, _ = run("schema", name)
    assert (code, json.loads(out)["title"]) == (0, name)


@pytest.mark.parametrize("name", ["predict", "evaluate", "run"])
def test_the_commands_of_one_model_share_their_options(name: str) -> None:
    """`agt-run`, `eval-run` and `bench-run`: what one was given, the others can be given, too."""
    options = {word for option in import_module(COMMANDS[name][0]).command.params for word in option.opts}
    assert {"--pr", "--instances", "--limit", "--budget", "--models", "--settings", "--name"} <= options
