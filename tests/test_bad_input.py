"""Mistakes on the command line: exit code 2, one sentence with the location, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import cli

LATIN = "Zoë".encode("latin-1")
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the program; returns its exit code and its standard error."""

    def program(*words: object) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["a11y-bench", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(end.value.code or 0), capsys.readouterr().err

    return program


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    "words",
    [
        ("decide", "a/b", "--list"),
        ("triage", "list", "a/b"),
        ("triage", "export"),
        ("build", "a/b", "--explain"),
        ("gc", "--sandbox", "local", "--dry-run"),
        ("runs", "list"),
        ("costs",),
        ("migrate",),
        ("analyze",),
    ],
    ids=" ".join,
)
def test_a_missing_data_directory_is_refused(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """An empty table for a folder that does not exist would look like a result."""
    code, output = run(*words, "--data", tmp_path / "none")
    assert code == 2 and "no such data directory" in output and not (tmp_path / "none").exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("words", [("collect", "a/b", "--path", "."), ("run", "a/b", "oracle"), ("campaign", "x.toml")])
def test_a_data_directory_that_can_not_be_written_is_refused(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("")
    code, output = run(*words, "--data", tmp_path / "file/data")
    assert code == 2 and "nothing can be written there" in output


def test_a_new_data_directory_is_not_made_by_a_command_that_fails(run: Run, tmp_path: Path) -> None:
    code, _ = run("collect", "a/b", "--path", tmp_path, "--data", tmp_path / "new/data")
    assert code == 2 and not (tmp_path / "new").exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("predict", "a/b", "oracle", "--agent", "nobody"), "unknown agent 'nobody'"),
        (("evaluate", "a/b", "oracle", "--agent", "nobody", "--sandbox", "local"), "unknown agent 'nobody'"),
        (("regrade", "a/b", "oracle", "--agent", "nobody"), "unknown agent 'nobody'"),
        (("run", "a/b", "oracle", "--agent", "nobody"), "unknown agent 'nobody'"),
        (("submission", "pack", "a/b", "nop", "--agent", "nobody", "--output", "none"), "unknown agent 'nobody'"),
        (("predict", "a/b", "oracle", "--settings", "none.toml"), "'--settings': File 'none.toml' does not exist"),
        (("run", "a/b", "oracle", "--settings", "none.toml"), "'--settings': File 'none.toml' does not exist"),
        (("evaluate", "a/b", "oracle", "--settings", "none.toml"), "'--settings': File 'none.toml' does not exist"),
        (("assess", "a/b", "oracle", "--settings", "none.toml"), "'--settings': File 'none.toml' does not exist"),
        (("predict", "a/b", "oracle", "--models", "none.yaml"), "'--models': File 'none.yaml' does not exist"),
        (("run", "a/b", "oracle", "--models", "none.yaml"), "'--models': File 'none.yaml' does not exist"),
        (("evaluate", "a/b", "oracle", "--models", "none.yaml"), "'--models': File 'none.yaml' does not exist"),
        (("assess", "a/b", "m", "--models", "none.yaml"), "'--models': File 'none.yaml' does not exist"),
        (("build", "a/b", "--models", "none.yaml"), "'--models': File 'none.yaml' does not exist"),
        (("triage", "serve", "--models", "none.yaml"), "'--models' / '--list': File 'none.yaml' does not exist"),
    ],
    ids=lambda argument: " ".join(argument) if isinstance(argument, tuple) else "",
)
def test_agents_and_files_are_checked_for_references_too(
    run: Run, data: Path, words: tuple[str, ...], says: str
) -> None:
    """`oracle` used to accept any name of an agent and of a file."""
    code, output = run(*words, "--data", data)
    assert (code, says in output) == (2, True), output


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("option", ["--budget", "--cap"])
@pytest.mark.parametrize("amount", ["", "much", "-1", "nan", "inf", "1E+99", "1,5", "$5", "1 USD"])
def test_an_invalid_amount_is_refused_as_a_limit(run: Run, data: Path, option: str, amount: str) -> None:
    """A budget that nothing exceeds is no budget."""
    code, output = run("predict", "a/b", "m", option, amount, "--data", data)
    assert (code, f"Invalid value for '{option}': '{amount}' is not an amount in USD" in output) == (2, True), output


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("predict", "a/b", "m", "--step", "runtime", "--fresh"), "add it to --step preprocess"),
        (("predict", "a/b", "m", "--step", "postprocess", "--fresh"), "add it to --step preprocess"),
        (("assess", "a/b", "m", "--sandbox", "local", "--judge-budget", "2"), "name its model with --judge"),
        (("assess", "a/b", "m", "--sandbox", "local", "--judge-samples", "3"), "name its model with --judge"),
    ],
    ids=lambda arguments: " ".join(arguments) if isinstance(arguments, tuple) else "",
)
def test_an_option_without_effect_is_refused(run: Run, data: Path, words: tuple[str, ...], says: str) -> None:
    """Each was ignored: a step showed older answers, and no judge rated any."""
    code, output = run(*words, "--data", data)
    assert (code, says in output) == (2, True), output


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("triage", "serve", "--port", "65536"), "is not in the range"),
        (("triage", "export", "--status", "good"), "unknown status good; available: super, accepted"),
        (("build", "a/b", "--disk", "much"), "'much' is not a size"),
        (("predict", "a/b", "oracle", "--limit", "0"), "is not in the range"),
        (("show", "a/b"), "'a/b' is not an instance"),
        (("show", "a/b#1"), "a/b has no dataset"),
        (("schema", "Nothing"), "unknown record 'Nothing'"),
        (("remote", "pull", ""), "'' is not a host"),
        (("decide", "a/b", "--pr", "1", "--exclude", "x"), "a/b is not collected"),
        (("decide", "a/b", "--pr", "9" * 20, "--exclude", "x"), "is not in the range"),
        (("submission", "verify", "none"), "Directory 'none' does not exist"),
    ],
    ids=lambda arguments: " ".join(arguments) if isinstance(arguments, tuple) else "",
)
def test_invalid_arguments_are_refused(run: Run, data: Path, words: tuple[str, ...], says: str) -> None:
    options = () if words[0] in ("schema", "submission") else ("--data", data)
    code, output = run(*words, *options)
    assert (code, says in output) == (2, True), output


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LATIN, "costs.csv:1: the file is not UTF-8"),
        (b"track,repo\n", "costs.csv:1: field 'model': no such column"),
        (b"track,repo,model,agent,embed,req_llm,tok_llm,cost_llm_usd,req_emb,tok_emb,cost_emb_usd\n"
         b"repair,a/b,m,a,,1,1,much,0,0,0\n", "costs.csv:2: field 'cost_llm_usd': 'much' is not an amount"),
        (b"track,repo,model,agent,embed,req_llm,tok_llm,cost_llm_usd,req_emb,tok_emb,cost_emb_usd\n"
         b"repair,a/b,m,a,,1,1,-1,0,0,1E+999999\n", "costs.csv:2: field 'cost_llm_usd': '-1' is not an amount"),
    ],
)  # fmt: skip
def test_broken_sums_are_refused(run: Run, data: Path, text: bytes, says: str) -> None:
    (data / "costs.csv").write_bytes(text)
    code, output = run("costs", "--data", data)
    assert (code, says in output) == (2, True), output


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("words", [("runs", "list"), ("costs",)], ids=" ".join)
def test_a_corrupt_ledger_is_refused(run: Run, data: Path, words: tuple[str, ...]) -> None:
    (data / "ledger.sqlite").write_bytes(b"no database, but longer than its head" * 100)
    code, output = run(*words, "--data", data)
    assert code == 2 and "ledger.sqlite: the ledger cannot be read" in output


@pytest.mark.rule("bad-input")
def test_a_model_list_that_is_not_utf_8_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_bytes(b"model_list:\n- model_name: " + LATIN)
    code, output = run("models", "--models", tmp_path / "models.yaml")
    assert code == 2 and "models.yaml:2: the file is not UTF-8" in output


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("words", [("build", "a/b"), ("dataset", "check"), ("gc", "--dry-run")], ids=" ".join)
@pytest.mark.parametrize("address", ["unix:///nobody.sock", "tcp://127.0.0.1:1"])
def test_an_engine_that_does_not_answer_is_named(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], address: str
) -> None:
    """It was once a Python tuple; the address tells a wrong DOCKER_HOST from an engine that is down."""
    monkeypatch.setenv("DOCKER_HOST", address)
    code, output = run(*words, "--data", data, "--sandbox", "docker")
    assert code == 2 and "the Docker engine failed: " in output and f"(at {address})" in output and "('" not in output


def test_a_path_that_the_system_refuses_is_bad_input(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is no bad input: the same command continues once there is room."""
    for number, code in ((13, 2), (30, 2), (28, 1)):
        monkeypatch.setattr(cli.program, "main", _failing(OSError(number, "no", str(data))))
        assert run("costs")[0] == code


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("place", ["file/page.html", "file/new/page.html", "link/page.html"])
def test_an_output_that_cannot_be_is_refused_with_its_path(run: Run, tmp_path: Path, place: str) -> None:
    """A file or a broken link is in the place of its folder."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    (tmp_path / "bundle").mkdir()
    code, output = run("submission", "leaderboard", tmp_path / "bundle", "--output", tmp_path / place)
    assert (code, "Errno" in output) == (2, False) and str(tmp_path / Path(place).parts[0]) in output


def _failing(error: Exception) -> Callable[..., None]:
    def main(**_: object) -> None:
        raise error

    return main
