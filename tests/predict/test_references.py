"""The two references that need no model."""

from __future__ import annotations

import factories
import pytest
from tiny_library import QUALIFIED, Bench

from pipeline.core.records import Prediction
from pipeline.core.store import read_records
from pipeline.llm.models import SHIPPED
from pipeline.predict.references import answer
from pipeline.predict.stage import Predictor


@pytest.mark.invariant(2)
def test_oracle_answers_with_gold_and_nop_with_nothing() -> None:
    instance = factories.make_instance()
    assert answer("oracle", instance) == (instance.fix_patch, "REFERENCE")
    assert answer("nop", instance) == ("", "REFERENCE")


@pytest.mark.rule("references")
@pytest.mark.parametrize("name", ["oracle", "nop"])
def test_a_reference_answers_everything_without_a_model(bench: Bench, name: str) -> None:
    predictor = Predictor(bench.store, factories.REPO, name, name, models=SHIPPED, environ={})
    predictions = predictor.predict()
    patches = [bench.instance(one).fix_patch if name == "oracle" else "" for one in QUALIFIED]
    assert [one.model_patch for one in predictions] == patches
    assert all((one.agent, one.model_name_or_path, one.trusted) == (name, name, True) for one in predictions)
    (path,) = bench.store.predictions(factories.REPO, name, name).glob("*/predictions.jsonl")
    assert read_records(path, Prediction) == predictions
    assert {one.run for one in predictions} == {path.parent.name}
    assert bench.store.costs.read_text().count("\n") == 1, "a header and no row: nothing was spent"
