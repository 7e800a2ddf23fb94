"""Agents on two workers use the proxy with a database: one budget for all. PostgreSQL and Dask are real."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import factories
import pytest
from dask_double import Dask
from llm.conftest import Setting
from llm.test_deployed import deployed
from tiny_library import QUALIFIED, Bench

from pipeline.core import cluster
from pipeline.core.store import read_json
from pipeline.llm.ledger import BUDGET_EXCEEDED, Ledger
from pipeline.llm.scripted import Answer
from pipeline.predict.run import resume
from pipeline.predict.stage import Predictor

#: each of its tokens costs 1.1 millionths of a dollar
LONG = f"src/menu.js\n{'and so on ' * 800}"
BUDGET = Decimal("0.02")


@deployed
@pytest.mark.rule("budget")
@pytest.mark.rule("money-adds-up")
def test_one_budget_holds_over_all_workers(
    setting: Setting, tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker does not know what the other one spends; a higher budget pays for the rest only."""
    bench = tiny.copy(tmp_path / "bench")
    settings = tmp_path / "settings.toml"
    settings.write_text('samples = {sets = 1, per_set = 1}\nretrieval = {model = ""}\n')
    monkeypatch.setattr(setting.upstream, "answers", [Answer(("Step: ",), LONG)])
    asked = len(setting.upstream.requests)

    def predictor(budget: Decimal) -> Predictor:
        more = {"models": setting.folder / "models.yaml", "settings": settings, "environ": setting.given}
        return Predictor(
            bench.store, factories.REPO, "magentless", "scripted", jobs=2, budget=budget, engine="dask", **more
        )

    with Dask(tmp_path) as dask:
        monkeypatch.setenv(cluster.ADDRESS, dask.address)
        first = predictor(BUDGET).predict()
        spent = Ledger(bench.store.ledger).spend()
        assert BUDGET / 2 < spent <= BUDGET
        run = resume(bench.store, predictor(BUDGET).experiment)
        causes = Counter(read_json(run.folder / "metadata.json")["unanswered"].values())
        assert causes == {BUDGET_EXCEEDED: len(QUALIFIED) - len(first)} and causes[BUDGET_EXCEEDED] > 1
        assert len(predictor(Decimal(1)).predict()) == len(QUALIFIED)
    rows = Ledger(bench.store.ledger).rows()
    assert len([row for row in rows if row.cost_usd]) == len(setting.upstream.requests) - asked
    assert all((tmp_path / f"worker{number}/answers").exists() for number in range(2)), "both workers had agents"
