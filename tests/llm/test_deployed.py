"""Features of a proxy with a database: its own keys and teams, and a log that is read back. PostgreSQL is real."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from llm.bench import MODELS, Bench
from llm.conftest import DEPLOYED, Setting, opened
from llm.database import MINUTE
from llm.test_gateway import COST, THOUSAND

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.store import Store
from pipeline.llm.admin import Admin
from pipeline.llm.deployed import DeployedGateway
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import CAP_REACHED, Ledger
from pipeline.llm.models import PROXY_KEY, PROXY_URL, SHIPPED, load_models
from pipeline.llm.opening import open_gateway
from pipeline.llm.provider import Fault

deployed = pytest.mark.parametrize("setting", [DEPLOYED], indirect=True, scope="session")


def asked(setting: Setting, path: str, **parameters: str) -> dict:
    headers = {"Authorization": f"Bearer {setting.given[PROXY_KEY]}"}
    return httpx.get(f"{setting.given[PROXY_URL]}{path}", params=parameters, headers=headers, timeout=60).json()


@deployed
def test_a_key_belongs_to_the_experiments_team_on_the_proxy(
    setting: Setting, bench: Bench, experiment: Experiment
) -> None:
    """LiteLLM's pages show who owns it; the budget belongs to the team, which is the experiment."""
    key = bench.key(experiment, "o__r-7", budget_usd=Decimal("1.5"))
    info = asked(setting, "/key/info", key=key)["info"]
    assert info["key_alias"].startswith(f"agent/scripted/{experiment.id[:8]}/o__r-7/")
    assert {"scripted", "embedder"} <= set(info["models"]) and "other" not in info["models"]
    assert info["expires"]
    assert asked(setting, "/team/info", team_id=info["team_id"])["team_info"]["max_budget"] == 1.5


@deployed
@pytest.mark.rule("budget")
def test_a_reached_cap_is_distinguished_from_the_budget(bench: Bench, experiment: Experiment) -> None:
    """LiteLLM has one error for both: a reached cap ended the whole experiment, without anybody's fault."""
    key = bench.key(experiment, answer="capped", cap_usd=2 * THOUSAND, budget_usd=Decimal(1))
    assert bench.chat(key, max_tokens=1000).status_code == 200
    assert bench.chat(key, max_tokens=3000).status_code == 422
    assert bench.gateway.given_up(experiment, key) == CAP_REACHED
    assert not bench.gateway.exhausted(experiment)


@deployed
@pytest.mark.trap("usage-missing-is-free")
def test_an_answer_without_a_count_counts_at_its_worst(bench: Bench, experiment: Experiment) -> None:
    """The proxy's own sum does not include it, so its budget would never end."""
    budget = Decimal("0.8")
    bench.upstream.fail(Fault(uncounted=True))
    assert bench.chat(bench.key(experiment, budget_usd=budget), max_tokens=1000).status_code == 200
    bench.gateway.settle(experiment)
    (row,) = bench.gateway.ledger.rows(experiment.id)
    assert (row.status, row.unknown) == ("usage_unknown", 1)
    assert bench.gateway.ledger.committed(experiment.id) > budget and bench.gateway.exhausted(experiment)
    assert bench.chat(bench.key(experiment, "o__r-2", budget_usd=budget), max_tokens=1000).status_code == 422


@deployed
@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize(("model", "fault", "status"), [("hasty", Fault(delay=1), "408"), ("other", Fault(504), "504")])
def test_a_request_that_timed_out_counts_at_its_worst(bench: Bench, model: str, fault: Fault, status: str) -> None:
    experiment = Experiment("o/r", model, "agent", f"unpaid {status}")
    bench.upstream.fail(*[fault] * 2)
    assert bench.chat(bench.key(experiment), model=model, max_tokens=1000).status_code == int(status)
    bench.gateway.settle(experiment)
    (row,) = bench.gateway.ledger.rows(experiment.id)
    assert (row.status, row.cost_usd) == (status, 0) and bench.gateway.ledger.committed(experiment.id) > 1000


@deployed
@pytest.mark.trap("bought-fault")
def test_a_text_that_is_not_unicode_is_refused_without_blaming_the_provider(
    bench: Bench, experiment: Experiment
) -> None:
    """The proxy's own reader of JSON refuses it; the embedded one sends it with replacement characters."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    body = '{"model": "scripted", "messages": [{"role": "user", "content": "hello \\ud800"}]}'
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    answer = httpx.post(f"{bench.gateway.base_url}/chat/completions", content=body, headers=headers, timeout=30)
    assert answer.status_code == 400, answer.text
    assert len(bench.upstream.requests) == before and bench.gateway.given_up(experiment, key) == ""


@deployed
def test_keys_are_worthless_after_the_command(setting: Setting, experiment: Experiment) -> None:
    with opened(setting, "worthless") as (gateway, store):
        bench = Bench(gateway, setting.upstream, store, setting.log)
        key = bench.key(experiment)
        assert bench.chat(key).status_code == 200
    assert bench.chat(key).status_code == 401


@deployed
@pytest.mark.rule("money-adds-up")
def test_costs_of_a_killed_run_are_read_back(setting: Setting, experiment: Experiment) -> None:
    """Its last requests are only in the proxy's log; the next run of the experiment adds them to its ledger."""
    ledger = Ledger(setting.folder / "killed" / "ledger.sqlite")
    admin = Admin(setting.given[PROXY_URL], setting.given[PROXY_KEY])
    killed = DeployedGateway(admin, load_models(setting.folder / "models.yaml"), ledger, setting.given)
    key = killed.issue_key(experiment, "o__r-1")
    assert Bench(killed, setting.upstream, Store(setting.folder), setting.log).chat(key).status_code == 200
    ledger.close()
    killed._alive.release()
    with opened(setting, "killed") as (after, store):
        assert Bench(after, setting.upstream, store, setting.log).chat(key).status_code == 401, (
            "it ended with its gateway"
        )
        after.issue_key(experiment, "o__r-2")
        assert after.spend(experiment) == COST
        assert after.ledger.per_holder(experiment.id) == {"o__r-1": COST}


@deployed
def test_a_duplicate_answer_id_is_reported(setting: Setting, experiment: Experiment) -> None:
    """LiteLLM's log keeps one row per answer id, so money would be missing from the ledger."""
    with (
        pytest.raises(InfrastructureError, match="two answers of one id"),
        opened(setting, "twice") as (gateway, store),
    ):
        assert isinstance(gateway, DeployedGateway)
        gateway.patience = 15
        bench = Bench(gateway, setting.upstream, store, setting.log)
        key = bench.key(experiment)
        setting.upstream.fail(Fault(id="chatcmpl-same"), Fault(id="chatcmpl-same"))
        assert [bench.chat(key).status_code for _ in range(2)] == [200, 200]


@deployed
def test_a_proxy_with_other_prices_is_refused(setting: Setting, experiment: Experiment) -> None:
    """The ledger would contain wrong costs."""
    models, name = setting.folder / "models.yaml", "other-prices.yaml"
    (setting.folder / name).write_text(models.read_text().replace("0.0000011", "0.0000012"), encoding="utf-8")
    with (
        open_gateway(
            setting.folder / name, setting.folder / "l.sqlite", say=print, log=setting.log, environ=setting.given
        ) as gateway,
        pytest.raises(UserError, match="has another output_cost_per_token for 'scripted'"),
    ):
        gateway.issue_key(experiment, "i")


@deployed
def test_a_wrong_master_key_is_bad_input(setting: Setting) -> None:
    with pytest.raises(UserError, match="401") as caught, opened(setting, "wrong", **{PROXY_KEY: "sk-canary-wrong"}):
        pass
    assert PROXY_KEY in caught.value.hint and "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({PROXY_URL: "http://127.0.0.1:9"}, UserError, "A11Y_BENCH_PROXY_KEY is not"),
        ({PROXY_URL: "http://127.0.0.1:9", PROXY_KEY: "sk-x"}, InfrastructureError, "no LiteLLM proxy at"),
    ],
)
def test_a_missing_proxy_is_reported(tmp_path: Path, given: dict, error: type[Exception], message: str) -> None:
    with (
        pytest.raises(error, match=message),
        open_gateway(SHIPPED, tmp_path / "l", say=print, log=tmp_path / "log", environ=given),
    ):
        pass


@deployed
@pytest.mark.rule("provider-limit")
def test_requests_beyond_the_limit_per_minute_wait(bench: Bench) -> None:
    """LiteLLM has no queue, so a model with these limits could not be used through this proxy."""
    key = bench.key(Experiment("o/r", "paced", "agent", "minutes"))
    begun = time.monotonic()
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda _: bench.chat(key, model="paced").status_code, range(3)))
    assert answers == [200] * 3
    assert time.monotonic() - begun > MINUTE


@deployed
@pytest.mark.rule("provider-limit")
@pytest.mark.parametrize(("limits", "other"), [("rpm: 3", "rpm"), ("rpm: 2, tpm: 900", "tpm"), ("timeout: 9", "rpm")])
def test_a_proxy_with_other_limits_is_refused(setting: Setting, tmp_path: Path, limits: str, other: str) -> None:
    """It applies its own limits, and not those of the list."""
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.replace("rpm: 2", limits), encoding="utf-8")
    how = {"say": print, "log": tmp_path / "log", "environ": setting.given}
    refused = pytest.raises(UserError, match=f"has another {other} for 'paced'")
    with open_gateway(models, tmp_path / "ledger", **how) as gateway, refused:
        gateway.issue_key(Experiment("o/r", "paced", "agent", "limits"), "o__r-1")
