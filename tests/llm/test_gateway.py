"""The gateway in both deployments: the real LiteLLM proxy between a client and a provider on loopback."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest
from llm.bench import PROVIDER_KEY, Bench

from pipeline.core.errors import UserError
from pipeline.llm.costs import write_costs
from pipeline.llm.experiment import SHARED, Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import BUDGET_EXCEEDED, Request
from pipeline.llm.provider import Fault

#: `hello` is 2 tokens, its answer 21; prices are bench.py's
COST = 2 * Decimal("0.00000027") + 21 * Decimal("0.0000011")
#: an answer of a thousand tokens: more than the answer to `hello` and its prompt cost together
THOUSAND = 1000 * Decimal("0.0000011")
#: the first try and the configured retries
TRIES = 6
#: a limit of an answer that fits a budget of two thousand such tokens, but not if two answers to `hello` are paid for
MOST = 1965
#: the arguments of the tool call that conftest.py's model returns
PLACE = '{"place": "Graz"}'


def booked(bench: Bench, experiment: Experiment) -> list[Request]:
    bench.gateway.settle(experiment)
    return bench.gateway.ledger.rows(experiment.id)


def blamed(bench: Bench, experiment: Experiment, keys: list[str]) -> list[str]:
    """Why these keys were left without an answer, after waiting for the log once and not for each key."""
    bench.gateway.settle(experiment)
    return [cause for key in keys if (cause := Gateway.given_up(bench.gateway, experiment, key))]


def events(stream: str) -> list[dict]:
    return [json.loads(line.removeprefix("data: ")) for line in stream.split("\n\n") if line.startswith("data: {")]


def test_a_chat_is_answered_and_booked(bench: Bench, experiment: Experiment) -> None:
    answer = bench.chat(bench.key(experiment))
    assert answer.json()["choices"][0]["message"]["content"] == "good day " * 9
    (row,) = booked(bench, experiment)
    assert (row.holder, row.model, row.kind, row.status) == ("o__r-1", "scripted", "llm", "ok")
    assert (row.tokens_in, row.tokens_out, row.tokens_cached, row.cost_usd) == (2, 21, 0, COST)
    assert row.latency_ms > 0 and row.sends == 1


@pytest.mark.parametrize("options", [{}, {"stream_options": {"include_usage": False}}])
def test_a_stream_is_booked_with_the_providers_own_count(
    bench: Bench, experiment: Experiment, options: dict[str, object]
) -> None:
    """Without the provider's usage, LiteLLM would silently count with its own tokenizer."""
    streamed = events(bench.chat(bench.key(experiment), stream=True, **options).text)
    pieces = (choice["delta"].get("content") for event in streamed for choice in event["choices"])
    assert "".join(filter(None, pieces)) == "good day " * 9
    assert [(row.tokens_in, row.tokens_out, row.cost_usd) for row in booked(bench, experiment)] == [(2, 21, COST)]


def test_an_embedding_is_booked_as_its_own_kind(bench: Bench, experiment: Experiment) -> None:
    answer = bench.post(bench.key(experiment, SHARED), "/embeddings", model="embedder", input=["hello", "you there"])
    assert len(answer.json()["data"]) == 2
    (row,) = booked(bench, experiment)
    assert (row.holder, row.kind, row.model, row.tokens_in) == (SHARED, "embedding", "embedder", 5)
    assert row.cost_usd == Decimal("0.0000001")


def test_a_tool_call_is_passed_on(bench: Bench, experiment: Experiment) -> None:
    """Agents with tools get the call as the provider made it, complete or as a stream."""
    key, tools = bench.key(experiment), [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    choice = bench.chat(key, "the weather", tools=tools).json()["choices"][0]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], call["function"]) == ("tool_calls", {"name": "look_up", "arguments": PLACE})
    streamed = events(bench.chat(key, "the weather", tools=tools, stream=True).text)
    pieces = (
        call for event in streamed for choice in event["choices"] for call in choice["delta"].get("tool_calls") or ()
    )
    assert "".join(call["function"].get("arguments") or "" for call in pieces) == PLACE
    assert [row.tokens_out for row in booked(bench, experiment)] == [6, 6]


def test_cached_tokens_have_their_own_price(bench: Bench, experiment: Experiment) -> None:
    bench.upstream.fail(Fault(cached=1))
    bench.chat(bench.key(experiment))
    (row,) = booked(bench, experiment)
    assert (row.tokens_in, row.tokens_cached) == (2, 1)
    assert row.cost_usd == Decimal("0.00000027") + Decimal("0.00000003") + 21 * Decimal("0.0000011")


# -- failures -------------------------------------------------------------------------------------------------------
@pytest.mark.rule("retries")
def test_a_failed_request_is_retried_and_booked_once(bench: Bench, experiment: Experiment) -> None:
    """Not before the provider allows it; the cost is recorded once, however many tries there were."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    bench.upstream.fail(Fault(500), Fault(429, retry_after=1), Fault(503))
    answer = bench.chat(key)
    assert (answer.status_code, len(bench.upstream.requests) - before) == (200, 4)
    assert answer.elapsed.total_seconds() >= 1
    assert [(row.status, row.cost_usd, row.sends) for row in booked(bench, experiment)] == [("ok", COST, 4)]


@pytest.mark.rule("retries")
@pytest.mark.parametrize(
    ("fault", "tries"), [(Fault(500), TRIES), (Fault(429), TRIES), (Fault(401), 1), (Fault(404), 1)]
)
def test_a_request_that_keeps_failing_is_given_up(
    bench: Bench, experiment: Experiment, fault: Fault, tries: int
) -> None:
    """One row, no cost, and an error for the client instead of an empty answer. An error that cannot go away is not
    retried."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    bench.upstream.fail(*[fault] * tries)
    assert bench.chat(key, num_retries=30).status_code == fault.status
    assert len(bench.upstream.requests) - before == tries
    assert [(row.status, row.cost_usd, row.sends) for row in booked(bench, experiment)] == [
        (str(fault.status), 0, tries)
    ]


@pytest.mark.rule("retries")
def test_a_request_that_times_out_is_retried_once(bench: Bench) -> None:
    experiment = Experiment("o/r", "hasty", "agent", "time-out")
    key, before = bench.key(experiment), len(bench.upstream.requests)
    bench.upstream.fail(*[Fault(delay=1)] * 2)
    assert bench.chat(key, model="hasty").status_code == 408
    assert len(bench.upstream.requests) - before == 2
    assert [(row.status, row.cost_usd) for row in booked(bench, experiment)] == [("408", 0)]


def test_a_prompt_refused_by_the_provider_costs_nothing(bench: Bench, experiment: Experiment) -> None:
    answer = bench.chat(bench.key(experiment), "unforeseen")
    assert answer.status_code == 400
    assert "begins: unforeseen" in answer.json()["error"]["message"]


def test_empty_and_truncated_answers_are_passed_on(bench: Bench, experiment: Experiment) -> None:
    key = bench.key(experiment)
    bench.upstream.fail(Fault(empty=True), Fault(truncated=True))
    empty, truncated = (bench.chat(key).json()["choices"][0] for _ in range(2))
    assert empty["message"]["content"] == ""
    assert truncated["finish_reason"] == "length"
    assert [row.tokens_out for row in booked(bench, experiment)] == [0, 10]


@pytest.mark.parametrize("key", ["sk-canary-stranger", ""])
def test_an_unknown_key_is_refused(bench: Bench, key: str) -> None:
    before = len(bench.upstream.requests)
    assert bench.chat(key or "none").status_code == 401
    assert len(bench.upstream.requests) == before


@pytest.mark.rule("budget")
def test_a_request_that_may_cost_more_than_is_left_is_refused(bench: Bench, experiment: Experiment) -> None:
    """The budget is a hard limit. A refusal costs nothing, whichever key of the experiment asks; a higher budget
    continues."""
    key = bench.key(experiment, budget_usd=2 * THOUSAND)
    for spent in (COST, 2 * COST):
        assert bench.chat(key, max_tokens=1000).status_code == 200
        assert bench.gateway.spend(experiment) == spent
    assert not bench.gateway.exhausted(experiment)
    before = len(bench.upstream.requests)
    for refused in (key, bench.key(experiment, "o__r-2", budget_usd=2 * THOUSAND)):
        answer = bench.chat(refused, max_tokens=MOST)
        assert (answer.status_code, answer.json()["error"]["type"]) == (422, "budget_exceeded")
    assert len(bench.upstream.requests) == before and len(booked(bench, experiment)) == 2
    assert bench.gateway.exhausted(experiment)
    higher = bench.key(experiment, "o__r-2", budget_usd=4 * THOUSAND)
    assert bench.chat(higher, max_tokens=2000).status_code == 200
    assert bench.gateway.spend(experiment) == 3 * COST
    assert not bench.gateway.exhausted(experiment)


@pytest.mark.rule("budget")
def test_an_answer_that_is_done_when_the_budget_is_reached_counts(bench: Bench, experiment: Experiment) -> None:
    """It is not paid for twice: what matters is whether a request was refused."""
    key = bench.key(experiment, budget_usd=2 * THOUSAND)
    for spent in (COST, 2 * COST):
        assert bench.chat(key, max_tokens=1000).status_code == 200
        assert bench.gateway.given_up(experiment, key) == ""
        assert bench.gateway.spend(experiment) == spent
    assert bench.chat(key, max_tokens=MOST).status_code == 422
    assert bench.gateway.given_up(experiment, key) == BUDGET_EXCEEDED


@pytest.mark.trap("spend-on-wrong-experiment")
@pytest.mark.parametrize("model", ["other", "keyless", "unheard-of"])
def test_a_key_opens_its_experiments_model_only(bench: Bench, experiment: Experiment, model: str) -> None:
    """An agent that swapped the model would spend on an experiment of another one."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    answer = bench.chat(key, model=model)
    assert answer.status_code == 403
    assert model in answer.json()["error"]["message"]
    assert len(bench.upstream.requests) == before


@pytest.mark.parametrize("path", ["/messages", "/responses", "/../key/generate", "/../openai/v1/chat/completions"])
def test_other_routes_of_the_proxy_are_refused(bench: Bench, experiment: Experiment, path: str) -> None:
    key, before = bench.key(experiment), len(bench.upstream.requests)
    assert bench.post(key, path, model="scripted", messages=[{"role": "user", "content": "hello"}]).status_code == 403
    assert len(bench.upstream.requests) == before


def test_an_unknown_model_gets_no_key(bench: Bench) -> None:
    with pytest.raises(UserError, match="unknown model 'gpt-0'"):
        bench.key(Experiment("o/r", "gpt-0", "agent", "none"))


@pytest.mark.rule("money-adds-up")
def test_costs_are_booked_by_holder(bench: Bench, experiment: Experiment) -> None:
    """With any agent and any number of jobs, the key gives the cost per instance, and all sums agree."""
    holders = {"o__r-1": 6, "o__r-2": 3, SHARED: 1}
    calls = [key for holder, count in holders.items() for key in [bench.key(experiment, holder)] * count]
    with ThreadPoolExecutor(4) as threads:
        assert {answer.status_code for answer in threads.map(bench.chat, calls)} == {200}
    assert bench.gateway.spend(experiment) == 10 * COST
    ledger = bench.gateway.ledger
    assert ledger.per_holder(experiment.id) == {holder: count * COST for holder, count in holders.items()}
    written = write_costs(bench.store)
    assert sum(row.cost_llm_usd + row.cost_emb_usd for row in written) == ledger.spend()


@pytest.mark.invariant(6)
@pytest.mark.trap("token-in-log")
def test_no_key_is_in_the_ledger_or_the_log(bench: Bench, experiment: Experiment) -> None:
    """Neither our keys nor a provider's are written anywhere, even if a request fails."""
    bench.upstream.fail(Fault(500))
    bench.chat(bench.key(experiment))
    bench.chat("sk-canary-stranger")
    bench.gateway.settle(experiment)
    written = [path for path in (*bench.store.root.rglob("*"), bench.log) if path.is_file()]
    assert bench.log.stat().st_size > 0
    for secret in (PROVIDER_KEY, "sk-canary-stranger", *bench.keys):
        assert not [path for path in written if secret.encode() in path.read_bytes()]


@pytest.mark.invariant(6)
def test_the_provider_sees_its_own_key_only(bench: Bench, experiment: Experiment) -> None:
    """Our keys are worth money to whoever has them."""
    bench.chat(bench.key(experiment))
    assert bench.upstream.requests[-1].authorization == f"Bearer {PROVIDER_KEY}"
    assert not [key for key in bench.keys for request in bench.upstream.requests if key in str(request)]


@pytest.mark.invariant(4)
@pytest.mark.parametrize(
    ("fault", "tries", "why"),
    [
        (Fault(), 1, ""),
        (Fault(500), TRIES, "provider_500"),
        (Fault(401), 1, "provider_401"),
        (Fault(400), 1, "provider_400"),
    ],
)
def test_the_last_failure_of_a_key_is_known(
    bench: Bench, experiment: Experiment, fault: Fault, tries: int, why: str
) -> None:
    """An agent may end well all the same. If a model has never answered, an agent is not at fault for a parameter that
    it refuses."""
    key = bench.key(experiment)
    assert bench.gateway.given_up(experiment, key) == ""
    bench.upstream.fail(*[fault] * tries)
    bench.chat(key)
    assert bench.gateway.given_up(experiment, key) == why
    bench.chat(key)
    assert bench.gateway.given_up(experiment, key) == ""


@pytest.mark.trap("bought-fault")
def test_a_refusal_after_an_answer_is_the_agents_fault(bench: Bench, experiment: Experiment) -> None:
    """An agent could send an odd request instead of its answer to a hard task."""
    assert bench.chat(bench.key(experiment, "o__r-1")).status_code == 200
    key = bench.key(experiment, "o__r-2")
    bench.upstream.fail(Fault(400))
    assert bench.chat(key).status_code == 400
    assert bench.gateway.given_up(experiment, key) == ""


# -- what a request may say ------------------------------------------------------------------------------------------
#: fields of LiteLLM or of providers that change who pays, who answers, what is recorded, or whom the proxy talks to
FOREIGN = {
    "no-log": True, "no_log": True, "api_key": "sk-canary-of-another", "api_base": "http://127.0.0.1:9/v1",
    "base_url": "http://127.0.0.1:9/v1", "mock_response": "free", "mock_tool_calls": [], "fallbacks": ["other"],
    "context_window_fallbacks": [{"scripted": ["other"]}], "num_retries": 30, "max_retries": 30, "timeout": 0.001,
    "cache": {"no-store": True, "no-cache": True}, "ttl": 1, "caching": True, "extra_body": {"n": 50},
    "extra_headers": {"authorization": "Bearer x"}, "headers": {"x": "y"}, "organization": "x", "api_version": "1",
    "metadata": {"a11y_bench_request": {"id": "x"}, "tags": ["x"]}, "litellm_metadata": {"no-log": True},
    "litellm_params": {"no-log": True}, "input_cost_per_token": 0, "output_cost_per_token": 0, "model_info": {},
    "custom_llm_provider": "ollama", "drop_params": True, "allowed_openai_params": ["x"], "user_config": {},
    "tags": ["x"], "service_tier": "priority", "web_search_options": {}, "store": True, "user": "x", "guardrails": [],
    "modalities": ["audio"], "audio": {"voice": "x"}, "prompt_id": "x", "logger_fn": "x", "success_callback": ["x"],
}  # fmt: skip


@pytest.mark.trap("field-of-the-proxy")
@pytest.mark.parametrize("stream", [False, True])
def test_a_field_for_the_proxy_has_no_effect(bench: Bench, experiment: Experiment, stream: bool) -> None:
    """`no-log` made priced requests free; another key, address or price would have been accepted, too. LiteLLM itself
    refuses some of them if nothing stands before it."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    ends = {name: bench.chat(key, stream=stream, **{name: value}).status_code for name, value in FOREIGN.items()}
    taken = sum(status == 200 for status in ends.values())
    assert taken > len(FOREIGN) / 2 and {status // 100 for status in ends.values()} <= {2, 4}, ends
    rows = booked(bench, experiment)
    assert [(row.status, row.cost_usd) for row in rows] == [("ok", COST)] * taken, ends
    sent = bench.upstream.requests[before:]
    assert {request.authorization for request in sent} == {f"Bearer {PROVIDER_KEY}"} and len(sent) == taken
    assert {name for request in sent for name in request.body} <= {"model", "messages", "stream", "stream_options"}


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_no_more_tokens_are_asked_for_than_the_model_gives(bench: Bench, experiment: Experiment, name: str) -> None:
    """Providers refuse such a request, and so no instance was answered by a model with short answers."""
    experiment, before = replace(experiment, model="modest"), len(bench.upstream.requests)
    key = bench.key(experiment)
    for asked in (400, 9000):
        assert bench.chat(key, model="modest", **{name: asked}).status_code == 200
    sent = [request.body for request in bench.upstream.requests[before:]]
    assert [value for body in sent for field, value in body.items() if field.startswith("max_")] == [400, 500]


@pytest.mark.trap("field-of-the-proxy")
def test_a_header_or_query_for_the_proxy_has_no_effect(bench: Bench, experiment: Experiment) -> None:
    key = bench.key(experiment)
    names = ("x-litellm-timeout", "x-litellm-num-retries", "x-litellm-tags", "x-litellm-no-log", "x-litellm-call-id")
    headers = {"Authorization": f"Bearer {key}", **dict.fromkeys(names, "0.001")}
    body = {"model": "scripted", "messages": [{"role": "user", "content": "hello"}]}
    url = f"{bench.gateway.base_url}/chat/completions?model=other&api-version=1"
    taken = httpx.post(url, json=body, headers=headers, timeout=30).status_code == 200
    rows = [(row.model, row.status, row.cost_usd) for row in booked(bench, experiment)]
    assert rows == [("scripted", "ok", COST)] * taken
    assert bench.gateway.given_up(experiment, key) == ""


def shown(*parts: object) -> dict[str, Any]:
    """A change to a request: these parts as the user's message."""
    return {"messages": [{"role": "user", "content": list(parts)}]}


def called(**changes: object) -> dict[str, Any]:
    """A change to a request: a call of a function, and its result."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}} | changes
    made = {"role": "assistant", "tool_calls": [{name: value for name, value in call.items() if value is not None}]}
    return {"messages": [made, {"role": "tool", "tool_call_id": "c", "content": "hello"}]}


#: changes to a request that no provider may see
ODD: list[dict[str, Any]] = [
    {"n": 50},
    {"n": 2},
    {"messages": []},
    {"messages": "hello"},
    {"messages": [3]},
    {"messages": [{"content": "no role"}]},
    {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/"}}]}]},
    {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "http://127.0.0.1/"}}]}]},
    {"messages": [{"role": "user", "content": {"a": 1}}]},
    {"tools": [{"type": "mcp", "server_url": "http://127.0.0.1/"}]},
    {"tools": [{"type": "web_search_preview"}]},
    shown({"type": "text"}),
    shown({"text": "hello"}),
    shown({"type": "image_url"}),
    shown({"type": "image_url", "image_url": {"url": "data:image/;x"}}),
    shown({"type": "image_url", "image_url": {"url": "data:image/png,x"}}),
    {"messages": [{"role": "zzz", "content": "hello"}]},
    {"messages": [{"role": "system", "content": None}, {"role": "user", "content": "hello"}]},
    {"messages": [*called()["messages"][:1], {"role": "tool", "content": "hello"}]},
    {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
    called(id=None),
    called(function={"arguments": "{}"}),
    called(function={"name": "f", "arguments": {}}),
    {"messages": [{"role": "assistant", "content": "hello", "thinking_blocks": ["x"]}]},
    {"tools": [{"type": "function"}]},
    {"tools": [{"type": "function", "function": {}}]},
    {"tools": [{"type": "function", "function": {"name": "f", "parameters": "x"}}]},
    {"response_format": {"type": "json_schema"}},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
    {"response_format": {"type": "zzz"}},
    {"max_tokens": "many"},
    {"stream": "yes"},
    {"temperature": {}},
]


@pytest.mark.trap("field-of-the-proxy")
@pytest.mark.trap("bought-fault")
def test_an_odd_request_is_refused_without_blaming_the_provider(bench: Bench, experiment: Experiment) -> None:
    """A last request that made the proxy fail was taken for the provider's failure, so its task was to be asked
    again."""
    before = len(bench.upstream.requests)
    keys = [bench.key(experiment) for _ in ODD]
    for key, changes in zip(keys, ODD, strict=True):
        body = {"model": "scripted", "messages": [{"role": "user", "content": "hello"}]} | changes
        answer = bench.post(key, **body)
        assert answer.status_code == 400, (changes, answer.text)
        assert answer.headers["x-a11y-bench-cause"] == "configuration", changes
        assert len(bench.upstream.requests) == before, changes
    assert blamed(bench, experiment, keys) == [] and bench.gateway.ledger.rows(experiment.id) == []


#: values that JSON does not have, or that LiteLLM cannot log
UNSENDABLE = {
    "temperature": '"temperature": NaN',
    "seed": '"seed": Infinity',
    "beyond a float": '"top_p": 1e999',
    "parameters": '"tools": [{"type": "function", "function": {"name": "f", "parameters": {"maximum": -Infinity}}}]',
    "nested": '"tools": [{"type": "function", "function": {"name": "f", "parameters": '
    + '{"items": ' * 900
    + "1"
    + "}" * 900
    + "}}]",
}


@pytest.mark.trap("bought-fault")
def test_a_request_that_cannot_be_sent_or_logged_is_refused(bench: Bench, experiment: Experiment) -> None:
    """The provider's client did not send NaN, which became a 500 of the proxy. A deeply nested request was answered,
    but not booked."""
    before = len(bench.upstream.requests)
    keys = [bench.key(experiment) for _ in UNSENDABLE]
    for key, (name, field) in zip(keys, UNSENDABLE.items(), strict=True):
        body = f'{{"model": "scripted", "messages": [{{"role": "user", "content": "hello"}}], {field}}}'
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        answer = httpx.post(f"{bench.gateway.base_url}/chat/completions", content=body, headers=headers, timeout=30)
        assert answer.status_code == 400, (name, answer.text)
        assert len(bench.upstream.requests) == before, name
    assert blamed(bench, experiment, keys) == [] and bench.gateway.ledger.rows(experiment.id) == []


@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/chat/completions", {"model": "embedder", "messages": [{"role": "user", "content": "hello"}]}),
        ("/embeddings", {"model": "scripted", "input": "hello"}),
    ],
)
def test_a_model_on_the_other_kinds_route_is_refused(
    bench: Bench, experiment: Experiment, path: str, body: dict[str, Any]
) -> None:
    """The provider's 404 was taken for its failure, so the task was to be asked again."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    answer = bench.post(key, path, **body)
    assert answer.status_code == 400 and answer.headers["x-a11y-bench-cause"] == "configuration", answer.text
    assert len(bench.upstream.requests) == before
    assert bench.gateway.given_up(experiment, key) == "" and booked(bench, experiment) == []


def test_a_nested_unknown_field_is_removed(bench: Bench, experiment: Experiment) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "of_nobody": 1}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": None, "tool_calls": [call], "no-log": True},
        {"role": "tool", "tool_call_id": "c", "content": "hello"},
    ]
    assert bench.post(bench.key(experiment), model="scripted", messages=messages).status_code == 200
    sent = str(bench.upstream.requests[-1].body)
    assert "no-log" not in sent and "of_nobody" not in sent and "ephemeral" in sent
