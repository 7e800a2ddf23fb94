"""Evaluating a reference: if it is wrong about an instance, the run ends before a model is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from factories import REPO
from tiny_library import Bench, instance_id

from pipeline.campaign.steps import evaluate_and_say
from pipeline.core.errors import A11yBenchError
from pipeline.core.subset import Subset
from pipeline.llm.models import SHIPPED
from pipeline.predict.stage import Predictor


@pytest.mark.invariant(2)
@pytest.mark.parametrize(
    ("reference", "outcome", "required"), [("oracle", "empty", "resolved"), ("nop", "resolved", "empty")]
)
def test_a_reference_with_another_outcome_stops_the_run(
    tiny: Bench, tmp_path: Path, reference: str, outcome: str, required: str
) -> None:
    bench, name = tiny.copy(tmp_path), instance_id("menu")
    subset = Subset(names=(name,))
    Predictor(bench.store, REPO, reference, reference, models=SHIPPED, subset=subset).predict()
    how = {"trust_local": True, "subset": subset}
    evaluate_and_say(bench.store, REPO, reference, reference, bench.sandbox, **how)
    (path,) = bench.store.predictions(REPO, reference, reference).glob("*/predictions.jsonl")
    patch = bench.instance("menu").fix_patch if reference == "nop" else ""
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_patch": patch}) + "\n")
    with pytest.raises(A11yBenchError, match=f"every instance must be {required}, but {name} is {outcome}"):
        evaluate_and_say(bench.store, REPO, reference, reference, bench.sandbox, **how)
