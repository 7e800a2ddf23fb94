"""A reached budget ends a run cleanly, and a higher one continues it: with the real gateway and the real agent."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Any

import factories
import pytest
from tiny_library import QUALIFIED, Bench

from pipeline.core.errors import UserError
from pipeline.core.store import read_json
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import CAP_REACHED, Ledger
from pipeline.llm.models import DEMO
from pipeline.llm.provider import Fault
from pipeline.llm.scripted import Answer, ScriptedModel
from pipeline.predict.run import resume
from pipeline.predict.stage import Predictor

pytestmark = pytest.mark.engine("LLM gateway")


def predictor(bench: Bench, model: ScriptedModel, budget: str | None, **more: Any) -> Predictor:
    given = {**os.environ, "A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": "none"}
    settings = bench.store.root / "one_sample.toml"
    settings.write_text('samples = {sets = 1, per_set = 1}\nretrieval = {model = ""}\n')
    asked = {"jobs": 1, "budget": None if budget is None else Decimal(budget), "settings": settings} | more
    return Predictor(bench.store, factories.REPO, "magentless", "scripted", models=DEMO, environ=given, **asked)


@pytest.mark.rule("budget")
def test_answers_are_kept_and_a_higher_budget_continues(bench: Bench) -> None:
    """The budget does not cover the first answer's repair step any more. Tasks that were not started cost nothing and
    are in no prediction; the second run pays for the rest only."""
    with ScriptedModel([Answer((), "src/menu.js")]) as model:
        assert predictor(bench, model, "0.01").predict() == []
        run = resume(bench.store, predictor(bench, model, None).experiment)
        owed = read_json(run.folder / "metadata.json")["unanswered"]
        assert (len(owed), set(owed.values())) == (len(QUALIFIED), {"budget_exceeded"})
        assert 0 < len(model.requests) < len(QUALIFIED)
        predictions = predictor(bench, model, "10").predict()
    assert len(predictions) == len(QUALIFIED)
    assert resume(bench.store, predictor(bench, model, None).experiment).folder == run.folder
    ledger = Ledger(bench.store.ledger)
    paid = [row for row in ledger.rows() if row.cost_usd]
    assert len(paid) == len(model.requests)


@pytest.mark.rule("budget")
@pytest.mark.rule("response-cache")
def test_a_paid_answer_is_finished_without_a_budget(bench: Bench) -> None:
    """A run was interrupted after its last response, with hardly any budget left: every reply is a replay."""
    with ScriptedModel([Answer((), "src/menu.js")]) as model:
        assert len(predictor(bench, model, "10").predict()) == len(QUALIFIED)
        run = resume(bench.store, predictor(bench, model, None).experiment)
        run.unit(run.instances[0]).path.unlink()
        asked, spent = len(model.requests), Ledger(bench.store.ledger).spend(run.experiment.id)
        assert len(predictor(bench, model, str(spent)).predict()) == len(QUALIFIED)
        assert len(model.requests) == asked and Ledger(bench.store.ledger).spend(run.experiment.id) == spent


@pytest.mark.rule("budget")
def test_a_reached_cap_ends_only_its_own_answer(bench: Bench) -> None:
    """The other tasks are still asked; a higher cap continues."""
    with ScriptedModel([Answer((), "src/menu.js")]) as model:
        assert predictor(bench, model, "10", cap=Decimal("0.01")).predict() == []
        run = resume(bench.store, predictor(bench, model, None).experiment)
        owed = read_json(run.folder / "metadata.json")["unanswered"]
        assert (len(owed), set(owed.values())) == (len(QUALIFIED), {CAP_REACHED})
        assert len(predictor(bench, model, "10", cap=Decimal(1)).predict()) == len(QUALIFIED)


@pytest.mark.invariant(4)
def test_a_wrong_key_for_embeddings_is_found_before_chats_are_paid_for(bench: Bench) -> None:
    """Every task paid for two chats, and then had no answer."""
    settings = bench.store.root / "retrieving.toml"
    settings.write_text('samples = {sets = 1, per_set = 1}\nretrieval = {model = "scripted-embedding"}\n')
    with ScriptedModel([Answer((), "src/menu.js")]) as model:
        model.fail(Fault(401, "wrong key"))
        wrong = predictor(bench, model, "10", settings=settings)
        with pytest.raises(UserError, match=r"'scripted-embedding' cannot be asked \(configuration\): status 401"):
            wrong.predict()
        assert [request.path for request in model.requests] == ["/v1/embeddings"]
        predictor(bench, model, "10", settings=settings).predict()
    rows = Ledger(bench.store.ledger).rows(wrong.experiment.id)
    assert [(row.holder, row.status) for row in rows[:2]] == [(SHARED, "401"), (SHARED, "ok")]
    assert len(rows) == len(model.requests), "the second try asks for everything"
