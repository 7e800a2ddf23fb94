"""The two reference agents that need no model."""

from __future__ import annotations

import factories
import pytest
from click.testing import CliRunner
from tiny_library import QUALIFIED, Bench

from pipeline.core.errors import UserError
from pipeline.core.records import Outcome, Prediction
from pipeline.core.store import read_records, write_records
from pipeline.llm.models import DEMO, SHIPPED
from pipeline.predict.cli import command
from pipeline.predict.references import REQUIRED, answer, unchecked
from pipeline.predict.stage import Predictor

GIVEN = {"A11Y_BENCH_SCRIPTED_URL": "http://127.0.0.1:9", "A11Y_BENCH_SCRIPTED_KEY": "none"}


@pytest.mark.invariant(2)
def test_oracle_answers_with_gold_and_nop_with_an_empty_patch() -> None:
    instance = factories.make_instance()
    assert answer("oracle", instance) == (instance.fix_patch, "REFERENCE")
    assert answer("nop", instance) == ("", "REFERENCE")


@pytest.mark.rule("references")
@pytest.mark.parametrize("name", ["oracle", "nop"])
def test_a_reference_answers_everything_without_a_model(bench: Bench, name: str) -> None:
    predictor = Predictor(bench.store, factories.REPO, name, name, models=SHIPPED, environ={})
    predictions = predictor.predict()
    patches = [bench.instance(number).fix_patch if name == "oracle" else "" for number in QUALIFIED]
    assert [prediction.model_patch for prediction in predictions] == patches
    assert all(
        (prediction.agent, prediction.model_name_or_path, prediction.trusted) == (name, name, True)
        for prediction in predictions
    )
    (path,) = bench.store.predictions(factories.REPO, name, name).glob("*/predictions.jsonl")
    assert read_records(path, Prediction) == predictions
    assert {prediction.run for prediction in predictions} == {path.parent.name}
    assert bench.store.costs.read_text().count("\n") == 1, "a header and no row: nothing was spent"


@pytest.mark.invariant(2)
def test_instances_without_checked_references_are_reported(bench: Bench) -> None:
    """Otherwise answers would be paid for on instances that not even gold resolves."""
    repo, dataset = factories.REPO, [bench.instance(name) for name in QUALIFIED]
    first, *others = [instance.instance_id for instance in dataset]
    words = [str(repo), "scripted", "--models", str(DEMO), "--settings", str(DEMO.with_name("magentless.toml"))]
    words += ["--step", "runtime", "--data", str(bench.store.root)]
    result = CliRunner().invoke(command, words, env=GIVEN)
    assert isinstance(result.exception, UserError), "there is no run to continue"
    count = len(dataset)
    assert f"oracle resolves and nop does not resolve {count} of {count} instances, such as {first}" in result.output
    for name, outcome in REQUIRED.items():
        predictions = [
            factories.make_prediction(instance.number, agent=name, model_name_or_path=name) for instance in dataset
        ]
        ends = [
            Outcome.CRASHED if name == "oracle" and prediction.instance_id == first else outcome
            for prediction in predictions
        ]
        verdicts = [factories.make_verdict(prediction, end) for prediction, end in zip(predictions, ends, strict=True)]
        write_records(bench.store.evaluation(repo, name, name) / "verdicts.jsonl", verdicts)
    assert unchecked(bench.store, repo, dataset) == [first]
    assert unchecked(bench.store, repo, dataset[1:]) == []
    assert "warning" not in CliRunner().invoke(command, [*words, "--instances", ",".join(others)], env=GIVEN).output
