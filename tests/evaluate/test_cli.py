"""The command `a11y-bench evaluate`: its output and its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import factories
import pytest
from click.testing import CliRunner, Result
from evaluate.conftest import FIX, Evaluation
from tiny_library import QUALIFIED

from pipeline.core.errors import UserError
from pipeline.core.store import write_json, write_records
from pipeline.evaluate.cli import command


def call(evaluation: Evaluation, *words: str, **how: Any) -> Result:
    options = ["--sandbox", "local", "--trust-local", "--data", str(evaluation.store.root), *words]
    given = {"A11Y_BENCH_CACHE": str(evaluation.bench.cache)}
    return CliRunner().invoke(command, ["acme/ui", "model-a", *options], env=given, **how)


def test_every_verdict_is_shown(evaluation: Evaluation) -> None:
    evaluation.predict(menu=FIX)
    result = call(evaluation)
    assert result.exit_code == 0
    assert "acme__ui-1" in result.output and "1 of 1" in result.output
    assert f"resolved: 1 of {len(QUALIFIED)}" in result.output


@pytest.mark.invariant(4)
@pytest.mark.rule("incomplete-is-marked")
def test_an_unevaluated_instance_marks_the_run_incomplete(evaluation: Evaluation) -> None:
    """Rates of an incomplete run are not comparable; the same command tries the missing instances again."""
    instances = [evaluation.bench.instance(name) for name in ("menu", "badge")]
    path = evaluation.store.dataset(factories.REPO)
    write_records(path, [instances[0].model_copy(update={"image": "0" * 32}), instances[1]])
    evaluation.predict(menu=FIX)
    result = call(evaluation)
    assert result.exit_code == 1
    assert "resolved: 0 of 2, of 1 evaluated (incomplete: run it again)" in result.output
    write_records(path, instances)
    assert call(evaluation).exit_code == 0


def test_instances_that_are_not_selected_are_not_missing(evaluation: Evaluation) -> None:
    """The advice to run the same command again never ended."""
    evaluation.predict(menu=FIX, badge=FIX)
    result = call(evaluation, "--limit", "1")
    assert result.exit_code == 0
    count = len(QUALIFIED)
    assert f"resolved: 1 of {count}, of {count - 1} evaluated (1 not selected)" in result.output


def test_another_run_can_be_named(evaluation: Evaluation, tmp_path: Path) -> None:
    evaluation.predict(run="20240101T000000Z", menu="")
    evaluation.predict(run="20240202T000000Z", menu=FIX)
    assert f"resolved: 0 of {len(QUALIFIED)}" in call(evaluation, "--run", "20240101T000000Z").output


@pytest.mark.rule("bad-input")
def test_the_options_of_agt_run_choose_a_run(evaluation: Evaluation, tmp_path: Path) -> None:
    """`agt-run`, `eval-run` and `bench-run` take the same options: a command can be repeated with them."""
    settings, models = tmp_path / "greedy.toml", tmp_path / "models.yaml"
    entry: dict[str, Any] = {"model_name": "model-a", "litellm_params": {"model": "openai/a"}}
    entry["model_info"] = {"mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0}
    settings.write_text("top = 1\n")
    models.write_text(json.dumps({"model_list": [entry]}))
    for run, patch, text in ("20240101T000000Z", FIX, "top = 1\n"), ("20240202T000000Z", "", "top = 2\n"):
        path = evaluation.predict(run=run, menu=patch)
        write_json(path.with_name("run.json"), {"shaped_by": {"settings_text": text, "model": entry}})
    assert "resolved: 0 of" in call(evaluation, "--models", str(models)).output
    settings.write_text("# all of it\ntop = 1\n")
    found = call(evaluation, "--settings", str(settings), "--models", str(models), "--budget", "5")
    assert "resolved: 1 of" in found.output and "--budget has no effect" in found.output
    settings.write_text("top = 3\n")
    with pytest.raises(UserError, match="no run of magentless with model-a was made with --settings"):
        call(evaluation, "--settings", str(settings), catch_exceptions=False)
