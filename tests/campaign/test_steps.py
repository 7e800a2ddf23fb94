"""Evaluating a reference: if it is wrong about an instance, the run ends before a model is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from factories import REPO
from tiny_library import IMPATIENT, Bench, instance_id

from pipeline.campaign.steps import evaluate_and_say
from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.records import Prediction
from pipeline.core.store import write_records
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


def test_patches_that_the_machine_could_not_evaluate_are_counted(tiny: Bench, tmp_path: Path) -> None:
    """A reference without a verdict stops the run; with a model, the other patches still count."""
    bench, subset = tiny.copy(tmp_path), Subset(names=(instance_id("menu"),))
    bench.sandbox.broken = {bench.instance("menu").image: InfrastructureError("refused", cause="engine")}
    how = {"trust_local": True, "subset": subset, "patience": IMPATIENT}
    Predictor(bench.store, REPO, "oracle", "oracle", models=SHIPPED, subset=subset).predict()
    with pytest.raises(A11yBenchError, match=r"not_evaluated: run it again \(engine: refused\)"):
        evaluate_and_say(bench.store, REPO, "oracle", "oracle", bench.sandbox, **how)
    (path,) = bench.store.predictions(REPO, "oracle", "oracle").glob("*/predictions.jsonl")
    answer = json.loads(path.read_text()) | {"model_name_or_path": "a-model", "agent": "magentless"}
    write_records(
        bench.store.predictions(REPO, "magentless", "a-model") / path.parent.name / path.name,
        [Prediction.model_validate(answer)],
    )
    (line,) = evaluate_and_say(bench.store, REPO, "magentless", "a-model", bench.sandbox, **how)
    assert line == "a-model: 1 of 1 patches not evaluated: engine: refused"
