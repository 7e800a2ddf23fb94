"""`a11y-bench run`: all stages for one repository, exactly as their own commands do them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tiny_library import NUMBERS, Bench

from pipeline.campaign.single import _predictors, command
from pipeline.core.errors import UserError
from pipeline.core.names import parse_repo
from pipeline.core.store import Store
from pipeline.core.subset import Subset


def call(tiny: Bench, store: Store, model: str, *words: str) -> Result:
    options = ["--path", str(tiny.library), "--sandbox", "local", "--trust-local", "--data", str(store.root)]
    given = {"A11Y_BENCH_CACHE": str(tiny.cache)}
    return CliRunner().invoke(command, ["acme/ui", model, *options, *words], env=given)


@pytest.mark.invariant(2)
def test_all_stages_run_and_references_are_evaluated_first(tiny: Bench, tmp_path: Path) -> None:
    """If oracle or nop fails an instance, the dataset is at fault: both are evaluated before any model is asked."""
    store = Store(tmp_path / "data")
    numbers = [word for name in ("menu", "badge") for word in ("--pr", str(NUMBERS[name]))]
    result = call(tiny, store, "nop", "--repeats", "1", *numbers)
    assert result.exit_code == 0, result.exception
    verdicts = {
        path.parts[-2]: path.read_text() for path in store.root.glob("04_evaluation/repair/*/*/*/verdicts.jsonl")
    }
    outcomes = {name: [json.loads(line)["outcome"] for line in text.splitlines()] for name, text in verdicts.items()}
    assert outcomes == {"oracle": ["resolved", "resolved"], "nop": ["empty", "empty"]}
    report = Path(result.output.splitlines()[-1].removeprefix("report: "))
    assert report.is_relative_to(store.root) and report.exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("model", "words", "message"),
    [("gpt-0", (), "unknown model 'gpt-0'"), ("GLM-4.6", ("--agent", "nobody"), "unknown agent 'nobody'")],
)
def test_an_unknown_name_is_refused_before_anything_is_written(
    tiny: Bench, tmp_path: Path, model: str, words: tuple[str, ...], message: str
) -> None:
    result = call(tiny, Store(tmp_path / "data"), model, *words)
    assert isinstance(result.exception, UserError) and message in str(result.exception)
    assert not (tmp_path / "data").exists()


def test_budget_and_cap_apply_to_the_model_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Oracle and nop cost nothing, so no limit applies to them."""
    monkeypatch.setenv("DEEPINFRA_API_KEY", "none")
    limits = {"budget": Decimal(5), "cap": Decimal("0.25")}
    repo, subset = parse_repo("acme/ui"), Subset()
    made = _predictors(Store(tmp_path), repo, "magentless", "GLM-4.6", models=None, jobs=1, subset=subset, **limits)
    assert {solver: (run.budget, run.cap) for solver, run in made.items()} == {
        "oracle": (None, None),
        "nop": (None, None),
        "GLM-4.6": (Decimal(5), Decimal("0.25")),
    }
    given = command.make_context("run", ["acme/ui", "GLM-4.6", "--cap", "0.25", "--data", str(tmp_path)]).params
    assert given["cap"] == limits["cap"]
