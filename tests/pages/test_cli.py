"""The command `a11y-bench pages`, as far as it needs neither a browser nor a model."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pages_bench import SEEN, keep, make_case, make_run

from pipeline.browser.axe import source
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.store import Store, write_records
from pipeline.llm.models import DEMO, PROXY_KEY, PROXY_URL
from pipeline.pages.cli import TAG, command, file_of_models
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.hybrid import behaviour, validity
from pipeline.pages.hybrid.records import Part
from pipeline.pages.runs import Asked, load_run

#: the options of every run in these tests
WORDS = ("--case", "tabs", "--case", "disclosure", "--samples", "2", "--base-seed", "7", "--temperature", "0.5")


def call(data: Path, *words: str, **given: str) -> Result:
    return CliRunner().invoke(command, [*words, "--data", str(data)], env=given)


@pytest.mark.rule("bad-input")
def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    """The command once failed in its own options, whatever they were."""
    result = call(tmp_path, "run", "nobody", *WORDS)
    assert isinstance(result.exception, UserError) and "unknown model 'nobody'" in str(result.exception)


@pytest.mark.rule("bad-input")
def test_an_unknown_case_is_refused(tmp_path: Path) -> None:
    result = call(tmp_path, "run", "scripted", "--models", str(DEMO), "--case", "nothing")
    assert isinstance(result.exception, UserError) and "no case nothing" in str(result.exception)


def test_all_options_reach_the_run(tmp_path: Path) -> None:
    """As far as the gateway, which does not answer here."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "more.yaml").write_text("models:\n  - name: scripted\n")
    given = {PROXY_URL: nobody, PROXY_KEY: "sk-none"}
    words = ("run", "--models-file", str(tmp_path / "more.yaml"), "--models", str(DEMO), "--run", "mine", *WORDS)
    assert isinstance(call(tmp_path / "data", *words, **given).exception, A11yBenchError)
    made = load_run(Store(tmp_path / "data"), "mine")
    assert made.asked == Asked(("scripted",), 2, (1,), 7, 0.5) and sorted(made.by_name) == ["disclosure", "tabs"]


@pytest.mark.parametrize(("words", "temperature"), [((), 0.2), (("--temperature", "0.5"), 0.5)])
def test_the_defaults_of_a_file_of_models_apply(tmp_path: Path, words: tuple[str, ...], temperature: float) -> None:
    """They are in the public harness's example, and were silently ignored."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    path = tmp_path / "models.yaml"
    path.write_text("defaults:\n  temperature: 0.2\n  max_tokens: 1200\nmodels:\n  - name: scripted\n")
    given = {PROXY_URL: nobody, PROXY_KEY: "sk-none"}
    called = ("run", "--models-file", str(path), "--models", str(DEMO), "--run", "mine", "--case", "tabs", *words)
    assert isinstance(call(tmp_path / "data", *called, **given).exception, A11yBenchError)
    asked = load_run(Store(tmp_path / "data"), "mine").asked
    assert (asked.temperature, asked.max_tokens) == (temperature, 1200)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("defaults", "field"),
    [
        ("{seed: 3}", "defaults"),
        ("[1]", "defaults"),
        ("{temperature: warm}", "defaults.temperature"),
        ("{temperature: -1}", "defaults.temperature"),
        ("{max_tokens: 0}", "defaults.max_tokens"),
        ("{max_tokens: true}", "defaults.max_tokens"),
        ("{max_tokens: 1.5}", "defaults.max_tokens"),
    ],
)
def test_impossible_defaults_are_refused(tmp_path: Path, defaults: str, field: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(f"defaults: {defaults}\nmodels:\n  - name: scripted\n")
    error = call(tmp_path, "run", "--models-file", str(path)).exception
    assert isinstance(error, UserError) and error.field == field


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("setting", ["temperature: 0.2", "max_tokens: 9", "litellm_params: {model: a}", "3: a"])
def test_a_setting_of_one_model_is_refused(tmp_path: Path, setting: str) -> None:
    """It was silently ignored."""
    path = tmp_path / "models.yaml"
    path.write_text(f"models:\n  - other\n  - name: scripted\n    {setting}\n")
    error = call(tmp_path, "run", "--models-file", str(path)).exception
    assert isinstance(error, UserError) and "below 'defaults:'" in (error.hint or "")
    assert (error.path, error.line, error.field) == (path, 4, f"models.1.{setting.split(':')[0]}")


@pytest.mark.parametrize(
    "text",
    [
        "models: [scripted, other]",
        "models:\n  - scripted\n  - name: other",
        "model_list:\n  - {model_name: scripted, litellm_params: {model: a}}\n  - model_name: other",
    ],
)
def test_a_model_may_be_a_plain_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "models.yaml").write_text(text)
    assert file_of_models(tmp_path / "models.yaml") == (["scripted", "other"], {})


@pytest.mark.parametrize(("answered", "code"), [(5, 0), (4, 1), (0, 1)])
def test_a_run_without_all_its_answers_is_no_success(tmp_path: Path, answered: int, code: int) -> None:
    """Scripts published rates of the answers that happened to be there."""
    store = Store(tmp_path / "data")
    run = make_run(store, tmp_path / "cases")
    keep(Evaluation(run), [SEEN[0]] * 5)
    write_records(run.folder / "answers.jsonl", run.answers()[:answered])
    result = call(tmp_path / "data", "eval", "--run", run.name)
    assert (result.exit_code, result.exception if code == 0 else None) == (code, None), result.output


def test_empty_defaults_set_nothing(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text("defaults:\n  #temperature: 0.2\nmodels:\n  - name: scripted\n")
    assert file_of_models(path)[0] == ["scripted"]


@pytest.mark.rule("bad-input")
def test_a_file_of_models_in_place_of_the_model_list_is_recognized(tmp_path: Path) -> None:
    """The public harness's option has this name."""
    path = tmp_path / "models.yaml"
    path.write_text("models:\n  - name: scripted\n")
    error = call(tmp_path, "run", "--models", str(path)).exception
    assert isinstance(error, UserError) and error.hint == f"give it as --models-file {path}"


@pytest.mark.engine("browser", "npm")
def test_a_case_without_a_test_is_a_finding(tmp_path: Path) -> None:
    """It made the whole folder unusable."""
    for name in ("harbour", "pier"):
        make_case(tmp_path / name)
    (tmp_path / "pier" / "test.js").unlink()
    result = CliRunner().invoke(command, ["check", str(tmp_path), "--json"])
    found = json.loads(result.stdout)
    assert {"case": "pier", "where": "test.js", "what": "no such file"} in found["findings"]
    assert (result.exit_code, found["held"]) == (1, 3)


def test_a_run_without_a_model_is_refused(tmp_path: Path) -> None:
    assert call(tmp_path, "run").exit_code == 2


@pytest.mark.rule("bad-input")
def test_a_system_prompt_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "system.txt").write_bytes(b"\xff")
    result = call(tmp_path, "run", "one", "--system", str(tmp_path / "system.txt"))
    assert isinstance(result.exception, UserError) and "system.txt:1: the file is not UTF-8" in str(result.exception)


@pytest.mark.rule("bad-input")
def test_a_tag_that_axe_core_does_not_have_is_refused(tmp_path: Path) -> None:
    """Best practices were silently counted."""
    result = call(tmp_path, "eval", "--apart", "best-practise")
    assert result.exit_code == 2 and "'best-practise' is no tag of axe-core" in result.output


@pytest.mark.engine("npm")
def test_every_tag_of_axe_core_is_known() -> None:
    lists = re.findall(r"tags:\s*\[([^\]]*)\]", source().decode())
    tags = {tag for found in lists for tag in re.findall(r"[\"']([^\"']+)[\"']", found)}
    assert "best-practice" in tags and all(map(TAG.fullmatch, tags))


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan", "1e9"])
def test_an_impossible_timeout_is_refused(tmp_path: Path, seconds: str) -> None:
    result = call(tmp_path, "hybrid", "--run", "one", "--timeout", seconds)
    assert result.exit_code == 2 and "--timeout" in result.output


@pytest.mark.parametrize(
    ("file", "words", "limits"),
    [("", (), (60, 15)), ("timeout: 90", (), (130, 90)), ("timeout: 90", ("--timeout", "5"), (45, 5))],
)
def test_a_timeout_applies_to_a_page_and_its_loading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, words: tuple[str, ...], limits: tuple[float, float]
) -> None:
    """A page's two audits, 20 s each, come on top: with a short timeout, pages that rendered had used it up."""
    given: list[tuple[float, float]] = []
    monkeypatch.setattr(validity, "check", lambda page: Part(score=90))
    monkeypatch.setattr(
        behaviour, "watch", lambda page, limits: given.append((limits.page, limits.load)) or Part(score=90)
    )
    run = make_run(Store(tmp_path / "data"), tmp_path / "cases")
    (tmp_path / "settings.yaml").write_text(f"use_llm_judge: false\n{file}")
    options = ("--run", run.name, "--config", str(tmp_path / "settings.yaml"))
    assert call(tmp_path / "data", "hybrid", *options, *words).exit_code == 0
    assert set(given) == {limits}
