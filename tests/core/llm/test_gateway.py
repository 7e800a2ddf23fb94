"""The gateway: the real LiteLLM proxy between a client and a scripted provider on loopback."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from pipeline.core.errors import UserError
from pipeline.core.llm.costs import write_costs
from pipeline.core.llm.experiment import SHARED, Experiment
from pipeline.core.llm.ledger import Request
from pipeline.core.llm.provider import Fault
from tests.core.llm.bench import PROVIDER_KEY, Bench

#: `hello` is 2 tokens, its answer 21; prices are bench.py's
COST = 2 * Decimal("0.00000027") + 21 * Decimal("0.0000011")


def booked(bench: Bench, experiment: Experiment) -> list[Request]:
    bench.gateway.settle()
    return bench.gateway.ledger.rows(experiment.id)


def test_a_chat_is_answered_and_booked(bench: Bench, experiment: Experiment) -> None:
    answer = bench.chat(bench.key(experiment))
    assert answer.json()["choices"][0]["message"]["content"] == "good day " * 9
    (row,) = booked(bench, experiment)
    assert (row.holder, row.model, row.kind, row.status) == ("o__r-1", "scripted", "llm", "ok")
    assert (row.tokens_in, row.tokens_out, row.tokens_cached, row.cost_usd) == (2, 21, 0, COST)
    assert row.latency_ms > 0


@pytest.mark.parametrize("options", [{}, {"stream_options": {"include_usage": False}}])
def test_a_stream_is_booked_with_the_providers_own_count(
    bench: Bench, experiment: Experiment, options: dict[str, object]
) -> None:
    """Without the provider's usage LiteLLM would count with a tokenizer of its own: a silent guess."""
    lines = bench.chat(bench.key(experiment), stream=True, **options).text.split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    said = (choice["delta"].get("content") for event in events for choice in event["choices"])
    assert "".join(filter(None, said)) == "good day " * 9
    assert [(row.tokens_in, row.tokens_out, row.cost_usd) for row in booked(bench, experiment)] == [(2, 21, COST)]


def test_an_embedding_is_of_its_own_kind(bench: Bench, experiment: Experiment) -> None:
    answer = bench.post(bench.key(experiment, SHARED), "/embeddings", model="embedder", input=["hello", "you there"])
    assert len(answer.json()["data"]) == 2
    (row,) = booked(bench, experiment)
    assert (row.holder, row.kind, row.model, row.tokens_in) == (SHARED, "embedding", "embedder", 5)
    assert row.cost_usd == Decimal("0.0000001")


@pytest.mark.parametrize("fault", [Fault(500), Fault(429, retry_after=7), Fault(503), Fault(401)])
def test_a_providers_failure_is_a_row_and_one_try(bench: Bench, experiment: Experiment, fault: Fault) -> None:
    """Agents retry by themselves; a gateway that retries too would send and book requests twice."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    bench.upstream.fail(fault)
    answer = bench.chat(key, num_retries=3, fallbacks=["other"])
    assert answer.status_code == fault.status
    assert len(bench.upstream.requests) == before + 1
    assert [(row.status, row.cost_usd) for row in booked(bench, experiment)] == [(str(fault.status), 0)]


def test_retry_after_reaches_the_client(bench: Bench, experiment: Experiment) -> None:
    bench.upstream.fail(Fault(429, retry_after=7))
    assert bench.chat(bench.key(experiment)).headers["Retry-After"] == "7"


def test_a_prompt_that_the_provider_refuses(bench: Bench, experiment: Experiment) -> None:
    answer = bench.chat(bench.key(experiment), "unforeseen")
    assert answer.status_code == 400
    assert "begins: unforeseen" in answer.json()["error"]["message"]


def test_empty_and_truncated_answers_come_through(bench: Bench, experiment: Experiment) -> None:
    key = bench.key(experiment)
    bench.upstream.fail(Fault(empty=True), Fault(truncated=True))
    empty, truncated = (bench.chat(key).json()["choices"][0] for _ in range(2))
    assert empty["message"]["content"] == ""
    assert truncated["finish_reason"] == "length"
    assert [row.tokens_out for row in booked(bench, experiment)] == [0, 10]


@pytest.mark.parametrize("key", ["sk-canary-stranger", ""])
def test_a_stranger_is_refused(bench: Bench, key: str) -> None:
    before = len(bench.upstream.requests)
    assert bench.chat(key or "none").status_code == 401
    assert len(bench.upstream.requests) == before


@pytest.mark.rule("budget")
def test_a_budget_that_is_reached_refuses(bench: Bench, experiment: Experiment) -> None:
    """Refused before it costs anything, and a new key of the same holder does not help."""
    key = bench.key(experiment, budget_usd=2 * COST)
    assert [bench.chat(key).status_code for _ in range(2)] == [200, 200]
    assert bench.gateway.spend(experiment) == 2 * COST
    before = len(bench.upstream.requests)
    for refused in (key, bench.key(experiment, budget_usd=2 * COST)):
        assert bench.chat(refused).json()["error"]["type"] == "budget_exceeded"
    assert len(bench.upstream.requests) == before
    assert bench.chat(bench.key(experiment, "o__r-2", budget_usd=2 * COST)).status_code == 200
    assert bench.gateway.spend(experiment) == 3 * COST


@pytest.mark.trap("spend-on-wrong-experiment")
@pytest.mark.parametrize("model", ["other", "keyless", "unheard-of"])
def test_a_key_opens_its_experiments_model_only(bench: Bench, experiment: Experiment, model: str) -> None:
    """An agent that swaps the model would spend on an experiment that says another one."""
    answer = bench.chat(bench.key(experiment), model=model)
    assert answer.status_code == 403
    assert "there is: scripted, embedder" in answer.json()["error"]["message"]
    assert booked(bench, experiment) == []


@pytest.mark.parametrize("path", ["/messages", "/responses", "/../key/generate", "/../openai/v1/chat/completions"])
def test_there_is_no_way_past_the_ledger(bench: Bench, experiment: Experiment, path: str) -> None:
    key, before = bench.key(experiment), len(bench.upstream.requests)
    assert bench.post(key, path, model="scripted", messages=[{"role": "user", "content": "hello"}]).status_code == 403
    assert len(bench.upstream.requests) == before


def test_a_forged_row_changes_nothing(bench: Bench, experiment: Experiment) -> None:
    bench.chat(bench.key(experiment), metadata={"a11y_bench_request": {"id": "forged", "model": "other"}})
    assert [row.cost_usd for row in booked(bench, experiment)] == [COST]


@pytest.mark.rule("money-adds-up")
def test_spend_is_the_holders(bench: Bench, experiment: Experiment) -> None:
    """Whoever the agent is and however many work at once: cost per instance is known by key, and all sums agree."""
    holders = {"o__r-1": 6, "o__r-2": 3, SHARED: 1}
    calls = [key for holder, count in holders.items() for key in [bench.key(experiment, holder)] * count]
    with ThreadPoolExecutor(4) as threads:
        assert {answer.status_code for answer in threads.map(bench.chat, calls)} == {200}
    assert bench.gateway.spend(experiment) == 10 * COST
    ledger = bench.gateway.ledger
    assert ledger.per_holder(experiment.id) == {holder: count * COST for holder, count in holders.items()}
    written = write_costs(bench.store)
    assert sum(row.cost_llm_usd + row.cost_emb_usd for row in written) == ledger.spend()


def test_a_model_without_its_key_is_the_users(bench: Bench) -> None:
    with pytest.raises(UserError, match="'keyless' needs the environment variable NO_SUCH_KEY"):
        bench.gateway.issue_key(Experiment("o/r", "keyless", "agent", ""), "o__r-1")


@pytest.mark.invariant(6)
@pytest.mark.trap("token-in-log")
def test_no_key_is_in_the_ledger_or_the_log(bench: Bench, experiment: Experiment) -> None:
    """Neither a key of ours nor a provider's is written anywhere, also not when a request fails."""
    bench.upstream.fail(Fault(500))
    bench.chat(bench.key(experiment))
    bench.chat("sk-canary-stranger")
    bench.gateway.settle()
    written = [path for path in (*bench.store.root.rglob("*"), bench.log) if path.is_file()]
    assert bench.log.stat().st_size > 0
    for secret in (PROVIDER_KEY, "sk-canary-stranger", *bench.keys):
        assert not [path for path in written if secret.encode() in path.read_bytes()]


@pytest.mark.invariant(6)
def test_the_provider_sees_its_own_key_only(bench: Bench, experiment: Experiment) -> None:
    """Our keys are worth money to whoever holds them."""
    bench.chat(bench.key(experiment))
    assert bench.upstream.requests[-1].authorization == f"Bearer {PROVIDER_KEY}"
    assert not [key for key in bench.keys for request in bench.upstream.requests if key in str(request)]
