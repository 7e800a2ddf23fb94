"""`a11y-bench models`: which models can be used from here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.models import command


def rows(*words: str) -> dict[str, dict]:
    shown = CliRunner().invoke(command, ["--json", *words], catch_exceptions=False)
    return {row["model"]: row for row in json.loads(shown.output)}


@pytest.mark.invariant(6)
def test_missing_variables_are_named_without_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPINFRA_API_KEY", "canary-of-a-key")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = rows()
    assert (found["GLM-4.6"]["missing"], found["gpt-5"]["missing"]) == ([], ["OPENAI_API_KEY"])
    assert "canary" not in json.dumps(found)


def test_prices_are_digits_and_contexts_tokens() -> None:
    glm = rows()["GLM-4.6"]
    assert (glm["price"], glm["context"], glm["limit"]) == (["0.0000005", "0.000002", "0.0000001"], 202752, 32)


def test_the_table_shows_prices_per_million(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    shown = CliRunner().invoke(command, catch_exceptions=False).output
    (line,) = [line for line in shown.splitlines() if "gemini-2.5-flash" in line]
    assert [cell.strip() for cell in line.split("│")][4:6] == ["0.3", "2.5"]
    assert "set GEMINI_API_KEY" in line


def test_the_table_shows_which_models_are_asked_in_batches(tmp_path: Path) -> None:
    listed = tmp_path / "models.yaml"
    info = '{mode: chat, batch: true, input_cost_per_token: "0", output_cost_per_token: "0"}'
    listed.write_text(
        f"model_list:\n  - model_name: cheap\n    litellm_params: {{model: openai/cheap}}\n    model_info: {info}\n"
    )
    assert rows("--models", str(listed))["cheap"]["batch"]
    shown = CliRunner().invoke(command, ["--models", str(listed)], catch_exceptions=False).output
    assert "chat, in batches" in shown
