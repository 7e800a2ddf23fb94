"""mini-swe-agent from PyPI in the container of a demo instance, through the real gateway, with a scripted model."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from demo_bench import REPO, Bench
from leaks import gold_lines, later_lines

from pipeline.core.records import Prediction
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import DEMO
from pipeline.llm.provider import prompt_of
from pipeline.llm.scripted import Answer, ScriptedModel
from pipeline.predict.run import resume
from pipeline.predict.stage import Predictor

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]
AGENT = "mini-swe-agent"
FILE = "src/components/Toggle/Toggle.tsx"
#: gold's change
EDITS = """-e 's/ type="button"/& aria-pressed={on}/' -e 's/__track"/& aria-hidden="true"/'"""
#: the model's steps, in order; it recognizes its position by what it has SEEN last
STEPS = (
    f"cat {FILE}; env",
    f"sed -i {EDITS} {FILE} && git diff --stat",
    "node --version && npx tsc --version; ls -A ../scratch/out | wc -l; echo looked around",
    "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
)
SEEN = ("looked around", "1 file changed", "export function Toggle", "")
ANSWERS = [
    Answer((seen,), "On it.", ("bash", json.dumps({"command": step})))
    for seen, step in zip(SEEN, reversed(STEPS), strict=True)
]


class Solved(NamedTuple):
    """The result, and all requests to the provider."""

    bench: Bench
    predictor: Predictor
    prediction: Prediction
    model: ScriptedModel


@pytest.fixture(scope="module")
def solved(harbor: Bench) -> Iterator[Solved]:
    with ScriptedModel(list(ANSWERS)) as model:
        given = {**os.environ, "A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": "none"}
        predictor = Predictor(harbor.store, REPO, AGENT, "scripted", models=DEMO, environ=given)
        (prediction,) = predictor.predict()
        yield Solved(harbor, predictor, prediction, model)


def test_an_instance_is_resolved(solved: Solved) -> None:
    (verdict,) = evaluate(solved.bench.store, Subject(REPO, AGENT, "scripted"), solved.bench.sandbox)
    assert (solved.prediction.outcome, verdict.outcome) == ("SUCCESSFUL_PATCH", "resolved")
    assert not solved.prediction.trusted, "untrusted code ran"


def test_the_trajectory_is_kept(solved: Solved) -> None:
    run = resume(solved.bench.store, solved.predictor.experiment)
    folder = run.answers / solved.prediction.instance_id / solved.prediction.answer
    trajectory = json.loads((folder / "trajectory.json").read_text())
    assert trajectory["info"]["exit_status"] == "Submitted"
    assert [message["role"] for message in trajectory["messages"]][:3] == ["system", "user", "assistant"]
    assert {"agent.log", "patch.diff", "metadata.json", "manifest.json"} <= {path.name for path in folder.iterdir()}


@pytest.mark.trap("trajectory-rewritten")
def test_the_trajectory_is_written_once(solved: Solved) -> None:
    """By default it writes the whole trajectory at each step, which takes quadratic time: halfway, no file exists
    yet."""
    assert "0\\nlooked around" in prompt_of(solved.model.requests[-1].body)


def test_every_request_is_in_the_ledger(solved: Solved) -> None:
    ledger = Ledger(solved.bench.store.ledger)
    rows = [row for row in ledger.rows() if row.agent == AGENT]
    ledger.close()
    assert len(rows) == len(solved.model.requests) == len(STEPS)
    assert {(row.holder, row.status) for row in rows} == {(solved.prediction.instance_id, "ok")}


@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_no_request_contains_the_solution(solved: Solved) -> None:
    lines = gold_lines(solved.bench.clone, solved.bench.instance)
    lines |= later_lines(solved.bench.clone, solved.bench.instance)
    prompts = [prompt_of(request.body) for request in solved.model.requests]
    own = {line for line in lines if line in " ".join(STEPS)}
    assert len(lines) > 5 and [line for line in lines - own for prompt in prompts if line in prompt] == []


@pytest.mark.invariant(6)
def test_commands_of_the_model_have_no_key(solved: Solved) -> None:
    """Their output goes to the provider, and into the trajectory."""
    seen = "".join(prompt_of(request.body) for request in solved.model.requests)
    assert "MSWEA_SILENT_STARTUP" in seen and "sk-" not in seen and "OPENAI" not in seen
