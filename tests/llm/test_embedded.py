"""Features of the embedded proxy: queues for providers, a cache of responses, and messages to the client."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx
import openai
import pytest
from llm.bench import Bench
from llm.conftest import EMBEDDED, Setting
from llm.test_gateway import COST, MOST, THOUSAND, TRIES, booked
from magentless.inputs import Provider
from magentless.provider import Ask, ChatModel
from magentless.wire import Endpoint, Wire
from namespaces import until

from pipeline.core.errors import UserError
from pipeline.llm.embedded import EmbeddedGateway
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import BUDGET_EXCEEDED, CAP_REACHED, Booking, key_hash
from pipeline.llm.provider import DATE, FINGERPRINT, Fault, embed

pytestmark = pytest.mark.parametrize("setting", [EMBEDDED], indirect=True, scope="session")


def test_a_model_without_its_key_is_bad_input(bench: Bench) -> None:
    with pytest.raises(UserError, match="'keyless' needs the environment variable NO_SUCH_KEY"):
        bench.gateway.issue_key(Experiment("o/r", "keyless", "agent", ""), "o__r-1")


def test_an_unknown_model_lists_the_available_ones(bench: Bench, experiment: Experiment) -> None:
    answer = bench.chat(bench.key(experiment), model="unheard-of")
    assert "available: scripted," in answer.json()["error"]["message"]


def test_forged_metadata_have_no_effect(bench: Bench, experiment: Experiment) -> None:
    bench.chat(bench.key(experiment), metadata={"a11y_bench_request": {"id": "forged", "model": "other"}})
    assert [row.cost_usd for row in booked(bench, experiment)] == [COST]


def test_a_request_cannot_name_a_fallback_model(bench: Bench, experiment: Experiment) -> None:
    bench.upstream.fail(*[Fault(500)] * TRIES)
    assert bench.chat(bench.key(experiment), fallbacks=["other"]).status_code == 500


# -- the client -----------------------------------------------------------------------------------------------------
@pytest.mark.rule("retries")
def test_the_client_does_not_repeat_the_gateways_retries(bench: Bench, experiment: Experiment) -> None:
    """OpenAI's own client obeys; otherwise retries would multiply."""
    client = openai.OpenAI(base_url=bench.gateway.base_url, api_key=bench.key(experiment), max_retries=5)
    before = len(bench.upstream.requests)
    bench.upstream.fail(*[Fault(503)] * TRIES)
    with pytest.raises(openai.InternalServerError):
        client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "hello"}])
    assert len(bench.upstream.requests) - before == TRIES


def test_retry_after_reaches_the_client(bench: Bench, experiment: Experiment) -> None:
    """LiteLLM waits for a minute at most."""
    bench.upstream.fail(*[Fault(429, retry_after=700)] * TRIES)
    assert bench.chat(bench.key(experiment)).headers["Retry-After"] == "700"


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (Fault(400, "This model's maximum context length is 8192 tokens."), "context"),
        (Fault(400, "Requested input length 130000 exceeds maximum input length 128000"), "context"),
        (
            Fault(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
            "context",
        ),
        (Fault(422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens"), "context"),
        (Fault(400, "max_tokens is too large: 28000. This model supports at most 4096 tokens"), "configuration"),
        (Fault(400, "content_filter: the prompt was refused"), "refused"),
        (Fault(400, "unknown field content_filter"), "configuration"),
        (Fault(429, "Rate limit reached: request too large, 20000 tokens per minute"), "provider"),
        (Fault(429, "insufficient_quota: check your plan and billing details"), "configuration"),
        (Fault(429, "You exceeded your current quota, please check your plan", "insufficient_quota"), "configuration"),
        (Fault(429, "You exceeded your current quota, please check your plan", "RESOURCE_EXHAUSTED"), "provider"),
        (Fault(400, "Unsupported value: 'temperature' does not support 0.8"), "configuration"),
        (Fault(401, "wrong key"), "configuration"),
        (Fault(503), "provider"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_client_gets_the_cause_of_a_failure(bench: Bench, experiment: Experiment, fault: Fault, cause: str) -> None:
    """One place knows every provider's errors, and all clients repeat its message."""
    bench.upstream.fail(*[fault] * (TRIES if fault.status >= 500 or fault.status == 429 else 1))
    answer = bench.chat(bench.key(experiment))
    assert (answer.status_code, answer.headers["x-a11y-bench-cause"]) == (fault.status, cause)


@pytest.mark.parametrize(("model", "why"), [("remembering", "provider_402"), ("scripted", "")])
def test_an_unpaid_bill_is_never_the_agents_fault(bench: Bench, experiment: Experiment, model: str, why: str) -> None:
    """Anthropic says so with the status of a bad request: all tasks from then on were called failures of the agent. At
    other providers, an agent could make such a text appear."""
    own = replace(experiment, model=model)
    bench.gateway.ledger.book(bench.gateway.ledger.open(key_hash(bench.key(own)), model, "llm"), Booking("ok"))
    key = bench.key(own)
    bench.upstream.fail(Fault(400, "Your credit balance is too low to access the Anthropic API."))
    assert bench.chat(key, model=model).status_code == 400
    assert bench.gateway.given_up(own, key) == why
    assert bench.gateway.denied(own, key) == ("remembering" if why else "")


def test_a_stream_that_breaks_off_is_a_failure(bench: Bench, experiment: Experiment) -> None:
    """Half an answer must not pass for a complete one."""
    bench.upstream.fail(Fault(breaks=True))
    text = bench.chat(bench.key(experiment), stream=True).text
    assert '"error"' in text
    (row,) = booked(bench, experiment)
    assert row.status not in ("ok", "open")
    assert bench.gateway.ledger.committed(experiment.id) > 0, "what was said so far is paid for"


@pytest.mark.trap("cut-answer-votes")
@pytest.mark.parametrize("fault", [Fault(halts=True), Fault(plain=True)])
def test_a_stream_that_ends_before_its_answer_is_a_failure(bench: Bench, experiment: Experiment, fault: Fault) -> None:
    """LiteLLM ended it with `stop`. A reply that is no stream was not even booked: its reservation stayed."""
    bench.upstream.fail(fault)
    text = bench.chat(bench.key(experiment), stream=True).text
    assert '"error"' in text and '"stop"' not in text
    assert [(row.status, row.unknown) for row in booked(bench, experiment)] == [("502", 1)]


@pytest.mark.trap("cut-answer-votes")
def test_an_answer_that_its_provider_did_not_finish_is_asked_for_again(bench: Bench, experiment: Experiment) -> None:
    """LiteLLM called it whole, and kept it for the next run. A stream has begun already, so it fails."""
    key = bench.key(experiment)
    bench.upstream.fail(Fault(finish="network_error"))
    assert bench.chat(key, "hello again", temperature=0).json()["choices"][0]["finish_reason"] == "stop"
    bench.upstream.fail(Fault(finish="network_error"))
    assert '"error"' in bench.chat(key, stream=True).text
    rows = [(row.status, row.sends, row.unknown) for row in booked(bench, experiment)]
    assert rows == [("ok", 2, 1), ("502", 1, 1)]


@pytest.mark.trap("cut-answer-votes")
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_is_cut_at_the_context_is_cut(bench: Bench, experiment: Experiment, stream: bool) -> None:
    """LiteLLM does not know this word of some providers, and called the answer whole."""
    bench.upstream.fail(Fault(finish="model_context_window_exceeded"))
    assert '"finish_reason":"length"' in bench.chat(bench.key(experiment), stream=stream).text


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_that_only_the_total_contains_is_paid_for(bench: Bench, experiment: Experiment, stream: bool) -> None:
    """As of Gemini in OpenAI's protocol. It was free."""
    bench.upstream.fail(Fault(hidden=100))
    bench.chat(bench.key(experiment), stream=stream)
    (row,) = booked(bench, experiment)
    assert (row.status, row.tokens_reasoning) == ("ok", 100)
    assert row.cost_usd == COST + 100 * Decimal("0.0000011")


@pytest.mark.trap("usage-missing-is-free")
def test_a_stream_whose_client_disconnects_counts_at_its_worst(bench: Bench) -> None:
    """Before the first part, LiteLLM would record nothing and the reservation would stay for ever; later, it guesses. A
    complete answer is recorded, even if nobody waits for it."""
    asked = Experiment("o/r", "scripted", "agent", "cut")
    gone = httpx.Timeout(0.3, connect=10)
    bench.upstream.fail(Fault(delay=1), Fault(delay=1))
    key = bench.key(asked)
    with pytest.raises(httpx.ReadTimeout):
        bench.chat(key, stream=True, waits=gone)
    (row,) = booked(bench, asked)
    assert (row.status, row.sends, row.unknown) == ("cut_off", 1, 1)
    assert bench.gateway.given_up(asked, key) == "", "an agent could be called not evaluated by hanging up"
    assert bench.gateway.ledger.committed(asked.id) > 1000 * COST
    other = Experiment("o/r", "scripted", "agent", "left")
    with pytest.raises(httpx.ReadTimeout):
        bench.chat(bench.key(other), waits=gone)
    assert [(row.status, row.cost_usd) for row in booked(bench, other)] == [("ok", COST)]


def test_a_client_that_disconnects_after_the_last_event_pays_as_usual(bench: Bench, experiment: Experiment) -> None:
    """OpenAI's own client does this."""
    client = openai.OpenAI(base_url=bench.gateway.base_url, api_key=bench.key(experiment), max_retries=0)
    messages = [{"role": "user", "content": "hello"}]
    parts = list(client.chat.completions.create(model="scripted", messages=messages, stream=True))
    assert len(parts) > 2
    assert [(row.status, row.cost_usd) for row in booked(bench, experiment)] == [("ok", COST)]


@pytest.mark.trap("usage-missing-is-free")
def test_each_request_that_timed_out_counts_at_its_worst(bench: Bench) -> None:
    experiment = Experiment("o/r", "hasty", "agent", "unpaid")
    bench.upstream.fail(*[Fault(delay=1)] * 2)
    assert bench.chat(bench.key(experiment), model="hasty", max_tokens=1000).status_code == 408
    (row,) = booked(bench, experiment)
    assert (row.cost_usd, row.sends) == (0, 2) and bench.gateway.ledger.committed(experiment.id) > 2000


@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize(
    ("model", "faults", "unknown"),
    [
        ("hasty", [Fault(delay=1)], 1),
        ("other", [Fault(504)], 1),
        ("other", [Fault(breaks=True)] * 2, 2),
        ("other", [Fault(500), Fault(breaks=True), Fault(502)], 1),
        ("other", [Fault(503)] * 2, 0),
    ],
    ids=["late", "late at its gateway", "lost", "mixed", "failed"],
)
def test_tries_that_may_be_paid_for_count_even_if_a_later_one_is_answered(
    bench: Bench, request: pytest.FixtureRequest, model: str, faults: list[Fault], unknown: int
) -> None:
    """Only the last send was paid for in the ledger, so an experiment could spend several times its budget."""
    experiment = Experiment("o/r", model, "agent", request.node.name)
    bench.upstream.fail(*faults)
    assert bench.chat(bench.key(experiment), model=model, max_tokens=1000).status_code == 200
    (row,) = booked(bench, experiment)
    assert (row.status, row.cost_usd, row.sends, row.unknown) == ("ok", 23, len(faults) + 1, unknown > 0)
    assert unknown * 1000 <= bench.gateway.ledger.committed(experiment.id) - row.cost_usd <= unknown * 1200


@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize(("fault", "sends", "unknown"), [(Fault(504), 2, 2), (Fault(breaks=True), TRIES, TRIES)])
def test_tries_that_may_be_paid_for_count_if_none_is_answered(
    bench: Bench, request: pytest.FixtureRequest, fault: Fault, sends: int, unknown: int
) -> None:
    experiment = Experiment("o/r", "other", "agent", request.node.name)
    bench.upstream.fail(*[fault] * sends)
    assert bench.chat(bench.key(experiment), model="other", max_tokens=1000).status_code >= 408
    (row,) = booked(bench, experiment)
    assert (row.cost_usd, row.sends) == (0, sends)
    assert unknown * 1000 <= bench.gateway.ledger.committed(experiment.id) <= unknown * 1200


def test_a_connection_that_is_not_made_costs_nothing(bench: Bench) -> None:
    experiment = Experiment("o/r", "closed", "agent", "closed")
    key = bench.key(experiment)
    assert bench.chat(key, model="closed", max_tokens=1000).status_code == 500
    assert [(row.status, row.sends, row.unknown) for row in booked(bench, experiment)] == [("500", TRIES, 0)]
    assert bench.gateway.given_up(experiment, key) == "provider_500"


@pytest.mark.trap("bought-fault")
def test_a_request_that_cannot_be_translated_is_no_providers_failure(bench: Bench) -> None:
    """LiteLLM fails before it sends this schema to Gemini, and calls that an error of the connection."""
    experiment = Experiment("o/r", "picky", "agent", "picky")
    key = bench.key(experiment)
    tool = {"name": "f", "parameters": {"type": "object", "properties": 3}}
    answer = bench.chat(key, model="picky", tools=[{"type": "function", "function": tool}])
    assert (answer.status_code, answer.headers["x-a11y-bench-cause"]) == (400, "configuration"), answer.text
    assert answer.headers["x-should-retry"] == "false"
    assert [(row.status, row.sends, row.unknown) for row in booked(bench, experiment)] == [("400", 0, 0)]
    assert bench.gateway.given_up(experiment, key) == "provider_400", "the settings may be to blame"


@pytest.mark.trap("bought-fault")
def test_a_prompt_refused_for_its_content_is_no_providers_failure(bench: Bench, experiment: Experiment) -> None:
    """Some providers answer 403, which otherwise means a wrong key."""
    bench.upstream.fail(*[Fault(403, "your input was flagged")] * TRIES)
    key = bench.key(experiment)
    assert bench.chat(key).headers["x-a11y-bench-cause"] == "refused"
    assert [(row.status, row.sends) for row in booked(bench, experiment)] == [("refused", TRIES)]
    assert bench.gateway.given_up(experiment, key) == ""


# -- turns ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("provider-limit")
def test_requests_beyond_the_parallel_limit_wait(bench: Bench) -> None:
    """Further requests wait without being refused, and the provider is never idle meanwhile."""
    key = bench.key(Experiment("o/r", "narrow", "agent", "turns"))
    bench.upstream.fail(*[Fault(delay=0.5)] * 6)
    with Watch(bench) as watch, ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: bench.chat(key, model="narrow").status_code, range(6)))
    assert answers == [200] * 6
    assert max(watch.seen) == 2


class Watch:
    """Samples often how many requests the provider has in flight."""

    def __init__(self, bench: Bench) -> None:
        self._upstream, self.seen, self._ended = bench.upstream, [], threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._ended.is_set():
            self.seen.append(self._upstream.in_flight)
            time.sleep(0.02)

    def __enter__(self) -> Watch:
        until(lambda: not self._upstream.in_flight)  # a client of another test went away, its request did not
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


# -- the cache of responses -----------------------------------------------------------------------------------------
@pytest.mark.rule("response-cache")
def test_a_greedy_request_is_paid_for_once(bench: Bench, experiment: Experiment) -> None:
    """Whichever key asks again; a cached answer costs nothing, and the ledger says so."""
    before = len(bench.upstream.requests)
    answers = [ask(bench, experiment, holder, temperature=0) for holder in ("o__r-1", "o__r-2")]
    assert answers == ["good day " * 9] * 2
    assert len(bench.upstream.requests) - before == 1
    rows = [(row.holder, row.status, row.tokens_out) for row in booked(bench, experiment)]
    assert rows == [("o__r-1", "ok", 21), ("o__r-2", "cached", 0)]


@pytest.mark.rule("response-cache")
@pytest.mark.parametrize(
    "asked",
    [
        [("", ["a", "b"], "ok"), ("", ["a", "b"], "cached"), ("", ["a"], "ok"), ("", ["a", "b", "c"], "ok")],
        [("one", ["a"], "ok"), ("two", ["a"], "ok"), ("", ["a"], "ok"), ("one", ["a"], "cached")],
    ],
    ids=["as a whole", "by answer"],
)
def test_embeddings_are_paid_for_once(
    bench: Bench, experiment: Experiment, asked: list[tuple[str, list[str], str]]
) -> None:
    """After an interrupted run. LiteLLM would charge cached parts as if they had been sent."""
    for answer, texts, status in asked:
        key = bench.key(experiment, answer=f"{answer} of {experiment.settings}" if answer else "")
        texts = [f"{text} for {experiment.settings} and {len(asked)}" for text in texts]
        reply = bench.post(key, "/embeddings", model="embedder", input=texts)
        vectors = [row["embedding"] for row in reply.json()["data"]]
        assert vectors == [embed(text) for text in texts]
        row = booked(bench, experiment)[-1]
        assert (row.status, row.tokens_in > 0) == (status, status == "ok")


@pytest.mark.rule("response-cache")
@pytest.mark.parametrize("end", [Fault(delay=0.5), Fault(status=400, delay=0.5)], ids=["answered", "refused"])
def test_equal_embeddings_at_the_same_time_are_paid_for_once(bench: Bench, experiment: Experiment, end: Fault) -> None:
    """Experiments that start together need the same index. If the first one gets no answer, another one asks."""
    text = f"a page for {experiment.id} and {end.status}"
    key, before = bench.key(experiment), len(bench.upstream.requests)
    bench.upstream.fail(end)
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(bench.post, key, "/embeddings", model="embedder", input=[text]) for _ in range(3)]
    codes = sorted(future.result().status_code for future in asked)
    assert codes == sorted([end.status, 200, 200])
    assert len(bench.upstream.requests) - before == (1 if end.status == 200 else 2)
    paid = [row for row in booked(bench, experiment) if row.status == "ok"]
    assert [row.tokens_in > 0 for row in paid] == [True]


@pytest.mark.rule("response-cache")
@pytest.mark.parametrize(
    "changed",
    [{"max_tokens": 9}, {"seed": 2}, {"stop": ["x"]}, {"tools": []}, {"top_k": 3}, {"text": "hello there"}],
    ids=lambda changed: next(iter(changed)),
)
def test_the_cache_key_contains_every_parameter(
    bench: Bench, experiment: Experiment, changed: dict[str, object]
) -> None:
    """A parameter that only one provider knows (top_k) changes the answer as well."""
    plain = {"text": f"hello from {experiment.id}"}
    before = len(bench.upstream.requests)
    ask(bench, experiment, temperature=0, **plain)
    ask(bench, experiment, temperature=0, **{**plain, **changed})
    assert len(bench.upstream.requests) - before == 2


@pytest.mark.rule("response-cache")
@pytest.mark.parametrize("sampled", [{}, {"temperature": 0.8}])
def test_samples_are_never_cached(bench: Bench, experiment: Experiment, sampled: dict[str, float]) -> None:
    """Ten samples of one prompt are ten answers."""
    before = len(bench.upstream.requests)
    for _ in range(2):
        ask(bench, experiment, **sampled)
    assert len(bench.upstream.requests) - before == 2


@pytest.mark.rule("response-cache")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("limit", ["cap_usd", "budget_usd"])
def test_a_replay_reserves_nothing(
    bench: Bench, setting: Setting, experiment: Experiment, limit: str, stream: bool
) -> None:
    """A resumed answer ended as `cap_reached`, although all its replies were paid for. If a cached reply is gone, its
    request is refused like any other that exceeds the cap."""
    answer, text = f"answer of {experiment.settings}", f"hello for {experiment.settings}"

    def asked(**more: Any) -> httpx.Response:
        key = bench.key(experiment, answer=answer, **more)
        return bench.chat(key, text, max_tokens=1000, temperature=0, stream=stream)

    assert asked().status_code == 200
    cost = bench.gateway.spend(experiment)
    before = len(bench.upstream.requests)
    assert asked(**{limit: cost}).status_code == 200
    assert [(row.status, row.unknown) for row in booked(bench, experiment)] == [("ok", 0), ("cached", 0)]
    forget(setting)
    assert asked(**{limit: cost}).status_code == 422
    assert len(bench.upstream.requests) == before
    assert bench.gateway.spend(experiment) == cost and len(booked(bench, experiment)) == 2


@pytest.mark.rule("response-cache")
def test_replayed_embeddings_reserve_nothing(bench: Bench, setting: Setting, experiment: Experiment) -> None:
    def asked(**more: Any) -> int:
        key = bench.key(experiment, answer=experiment.settings, **more)
        return bench.post(key, "/embeddings", model="embedder", input=["one page", experiment.settings]).status_code

    assert asked() == 200
    cost = bench.gateway.spend(experiment)
    assert asked(cap_usd=cost) == 200
    forget(setting)
    assert asked(cap_usd=cost) == 422
    assert [row.status for row in booked(bench, experiment)] == ["ok", "cached"]


@pytest.mark.rule("response-cache")
def test_a_replay_does_not_wait_for_money(bench: Bench, experiment: Experiment) -> None:
    text = f"hello for {experiment.settings}"
    key = bench.key(experiment, answer=experiment.settings, budget_usd=2 * THOUSAND)
    assert bench.chat(key, text, max_tokens=1000, temperature=0).status_code == 200
    with ThreadPoolExecutor(1) as threads, held(bench, key, threads, 1.5):
        began = time.monotonic()
        assert bench.chat(key, text, max_tokens=1000, temperature=0).status_code == 200
        assert time.monotonic() - began < 1


def forget(setting: Setting) -> None:
    """Empty the cache of responses, as another process may do at any time."""
    with closing(sqlite3.connect(setting.folder / "responses" / "cache.db")) as db, db:
        db.execute("DELETE FROM Cache")


@contextmanager
def held(bench: Bench, key: str, threads: ThreadPoolExecutor, seconds: float) -> Iterator[None]:
    """A request that takes this many seconds reserves most of a budget of two thousand tokens."""
    before = len(bench.upstream.requests)
    bench.upstream.fail(Fault(delay=seconds))
    under_way = threads.submit(bench.chat, key, max_tokens=1700)
    until(lambda: len(bench.upstream.requests) > before)
    yield
    assert under_way.result().status_code == 200


@pytest.mark.rule("budget")
def test_a_request_waits_for_money_for_less_time_than_its_client(bench: Bench, experiment: Experiment) -> None:
    """Clients gave up and asked again while the gateway was still waiting on behalf of the first request."""
    key = bench.key(experiment, budget_usd=2 * THOUSAND)
    with ThreadPoolExecutor(1) as threads, held(bench, key, threads, 2):
        answer = bench.chat(key, sent_headers={"x-stainless-read-timeout": "1"}, max_tokens=1000)
        headers = {name: answer.headers[name] for name in ("retry-after", "x-should-retry", "x-a11y-bench-cause")}
        assert headers == {"retry-after": "5", "x-should-retry": "true", "x-a11y-bench-cause": "provider"}
        assert answer.status_code == 429 and "budget_exceeded" not in answer.text
        assert bench.gateway.given_up(experiment, key) == "budget_busy"
    assert bench.chat(key, max_tokens=1000).status_code == 200
    assert bench.gateway.given_up(experiment, key) == ""
    rows = [(row.status, row.sends, row.unknown) for row in booked(bench, experiment)]
    assert rows == [("ok", 1, 0), ("budget_busy", 0, 0), ("ok", 1, 0)]
    assert bench.gateway.spend(experiment) == 2 * COST and not bench.gateway.exhausted(experiment)


@pytest.mark.rule("budget")
@pytest.mark.parametrize(("model", "is_used_up"), [("narrow", False), ("scripted", True)])
def test_a_free_model_needs_no_budget(bench: Bench, model: str, is_used_up: bool) -> None:
    asked = Experiment("o/r", model, "agent", "nothing")
    bench.key(asked, budget_usd=Decimal(0))
    assert bench.gateway.exhausted(asked) == is_used_up


@pytest.mark.rule("budget")
def test_a_disconnected_client_spends_nothing(bench: Bench, experiment: Experiment) -> None:
    key, before = bench.key(experiment, budget_usd=2 * THOUSAND), len(bench.upstream.requests)
    with ThreadPoolExecutor(1) as threads, held(bench, key, threads, 1.5), pytest.raises(httpx.ReadTimeout):
        bench.chat(key, max_tokens=1000, waits=0.3)
    time.sleep(0.5)
    assert len(bench.upstream.requests) - before == 1
    assert [row.status for row in booked(bench, experiment)] == ["ok"]


@pytest.mark.rule("response-cache")
def test_a_disconnected_client_does_not_block_equal_embeddings(bench: Bench, experiment: Experiment) -> None:
    """The provider refuses the first request, and the next one whose client is still waiting asks."""
    key, before = bench.key(experiment), len(bench.upstream.requests)
    asked = {"model": "embedder", "input": [f"one page for {experiment.settings}"]}
    bench.upstream.fail(Fault(status=400, delay=1))
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(bench.post, key, "/embeddings", **asked)
        until(lambda: len(bench.upstream.requests) > before)
        with pytest.raises(httpx.ReadTimeout):
            bench.post(key, "/embeddings", waits=0.3, **asked)
        assert first.result().status_code == 400
    time.sleep(0.5)
    assert len(bench.upstream.requests) - before == 1


def ask(bench: Bench, experiment: Experiment, holder: str = "o__r-1", **more: object) -> str:
    answer = bench.chat(bench.key(experiment, holder), **more)
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"][0]["message"]["content"]


# -- what nobody says the cost of -------------------------------------------------------------------------------------
@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize("fault", [Fault(uncounted=True), Fault(half_counted=True)])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_without_usage_uses_up_the_budget(
    bench: Bench, experiment: Experiment, fault: Fault, stream: bool
) -> None:
    """It was recorded as `ok` with no cost, or with the prompt's only, and the budget never ended."""
    key = bench.key(experiment, budget_usd=Decimal("0.002"))
    bench.upstream.fail(fault)
    assert bench.chat(key, max_tokens=1000, stream=stream).status_code == 200
    assert [(row.status, row.cost_usd) for row in booked(bench, experiment)] == [("usage_unknown", 0)]
    assert bench.chat(key, max_tokens=1000).status_code == 422
    assert bench.gateway.exhausted(experiment)


@pytest.mark.rule("keys-end")
def test_a_key_of_another_gateway_is_refused(bench: Bench, experiment: Experiment) -> None:
    """A killed gateway could not revoke its keys, and whoever had one could spend on its experiment for ever."""
    killed = EmbeddedGateway(bench.gateway.models, bench.gateway.ledger, bench.gateway.environ)
    key = killed.issue_key(experiment, "o__r-1")
    assert bench.chat(key).status_code == 401
    own = bench.key(experiment)
    assert bench.chat(own).status_code == 200


# -- models as they are -----------------------------------------------------------------------------------------------
def test_attempts_share_no_cached_response(bench: Bench, experiment: Experiment) -> None:
    """A greedy request of a second attempt is a new question; a repetition within the same attempt is not."""
    before = len(bench.upstream.requests)
    for answer in ("first", "second", "first"):
        key = bench.key(experiment, answer=answer)
        assert bench.chat(key, f"hello from {experiment.id}", temperature=0).status_code == 200
    assert len(bench.upstream.requests) - before == 2


def test_refused_parameters_are_dropped_and_listed_ones_are_added(bench: Bench, experiment: Experiment) -> None:
    """As the list says: GPT-5 refuses every temperature, and all requests of a run failed."""
    own = replace(experiment, model="stubborn")
    assert bench.chat(bench.key(own), model="stubborn", temperature=0.8, seed=1).status_code == 200
    sent = bench.upstream.requests[-1].body
    assert "temperature" not in sent and (sent["seed"], sent["top_p"]) == (1, 0.5)


def test_a_long_request_is_booked_at_the_price_of_its_tier(bench: Bench, experiment: Experiment) -> None:
    own = replace(experiment, model="tiered")
    for text in ("hello", f"hello {'x' * 5000}"):
        assert bench.chat(bench.key(own), text, model="tiered").status_code == 200
    bench.gateway.settle(own)
    short, long = (row for row in bench.gateway.ledger.rows(own.id))
    assert (short.cost_usd, long.cost_usd) == (short.tokens_in * 1, long.tokens_in * 2)


@pytest.mark.parametrize("stream", [False, True])
def test_the_serving_model_is_recorded(bench: Bench, experiment: Experiment, stream: bool) -> None:
    """A name in the list may mean another model tomorrow. LiteLLM's answer has the requested name; it was recorded."""
    assert bench.chat(bench.key(experiment), stream=stream).status_code == 200
    bench.gateway.settle(experiment)
    assert bench.gateway.ledger.served(experiment.id) == [(f"scripted-{DATE}", FINGERPRINT)]


def test_the_serving_model_of_embeddings_is_recorded(bench: Bench, experiment: Experiment) -> None:
    bench.post(bench.key(experiment), "/embeddings", model="embedder", input="hello")
    bench.gateway.settle(experiment)
    assert bench.gateway.ledger.served(experiment.id) == [(f"scripted-{DATE}", "")]


@pytest.mark.rule("budget")
def test_an_answer_costs_no_more_than_its_cap(bench: Bench, experiment: Experiment) -> None:
    """Every attempt to get it counts; the experiment's other answers continue."""
    cap = 2 * THOUSAND
    capped = bench.key(experiment, answer="capped", cap_usd=cap, budget_usd=Decimal(1))
    assert bench.chat(capped, max_tokens=1000).status_code == 200
    bench.gateway.settle(experiment)
    again = bench.key(experiment, answer="capped", cap_usd=cap, budget_usd=Decimal(1))
    for key in (capped, again):
        assert "the cap of" in bench.chat(key, max_tokens=2000).text
        assert bench.gateway.given_up(experiment, key) == CAP_REACHED
    assert not bench.gateway.exhausted(experiment)
    assert bench.chat(bench.key(experiment, answer="other", cap_usd=cap), max_tokens=1000).status_code == 200


# -- requests that ask for too much -----------------------------------------------------------------------------------
def refused(bench: Bench, experiment: Experiment, key: str, answer: httpx.Response, cause: str) -> None:
    """The request alone is to blame: its task is not asked again, and others go on."""
    assert (answer.status_code, answer.headers["x-a11y-bench-cause"]) == (413, cause), answer.text
    assert answer.headers["x-should-retry"] == "false" and "budget_exceeded" not in answer.text
    assert bench.gateway.given_up(experiment, key) == "" and not bench.gateway.exhausted(experiment)


@pytest.mark.rule("budget")
@pytest.mark.trap("bought-fault")
def test_embeddings_that_exceed_the_whole_budget_end_no_experiment(bench: Bench, experiment: Experiment) -> None:
    """An agent that sent a text of many megabytes was not evaluated, nor were the tasks after it."""
    key, before = bench.key(experiment, budget_usd=Decimal("0.05")), len(bench.upstream.requests)
    answer = bench.post(key, "/embeddings", model="embedder", input="x" * 3_000_000)
    refused(bench, experiment, key, answer, "configuration")
    assert len(bench.upstream.requests) == before and booked(bench, experiment) == []
    assert bench.post(key, "/embeddings", model="embedder", input="x" * 20_000).status_code == 200


@pytest.mark.rule("budget")
@pytest.mark.trap("bought-fault")
def test_a_chat_that_exceeds_the_whole_budget_is_to_blame_once_others_were_paid(
    bench: Bench, experiment: Experiment
) -> None:
    """Before, the budget may be too small for the model, which is not the agent's fault: the experiment ends."""

    def asked(answer: str, **more: int) -> tuple[str, httpx.Response]:
        key = bench.key(experiment, answer=f"{answer} of {experiment.id}", budget_usd=2 * THOUSAND)
        return key, bench.chat(key, **more)

    assert asked("one", max_tokens=1000)[1].status_code == 200
    refused(bench, experiment, *asked("two", max_tokens=9000), "configuration")
    assert asked("two", max_tokens=1000)[1].status_code == 200
    assert asked("two", max_tokens=MOST)[1].status_code == 422
    assert bench.gateway.exhausted(experiment)


@pytest.mark.rule("budget")
def test_a_budget_that_is_too_small_for_an_agent_ends_its_experiment(bench: Bench, experiment: Experiment) -> None:
    key = bench.key(experiment, answer=experiment.id, budget_usd=2 * THOUSAND)
    assert bench.chat(key, max_tokens=1000).status_code == 200
    assert bench.chat(key, max_tokens=9000).status_code == 422
    assert bench.gateway.given_up(experiment, key) == BUDGET_EXCEEDED and bench.gateway.exhausted(experiment)


@pytest.mark.rule("budget")
@pytest.mark.trap("bought-fault")
def test_several_answers_that_exceed_a_budget_for_one_end_no_experiment(bench: Bench, experiment: Experiment) -> None:
    experiment = replace(experiment, model="several")
    key = bench.key(experiment, budget_usd=Decimal(1))
    refused(bench, experiment, key, bench.chat(key, model="several", n=4), "configuration")


@pytest.mark.rule("budget")
@pytest.mark.trap("bought-fault")
def test_an_input_beyond_the_models_context_is_not_sent(bench: Bench, experiment: Experiment) -> None:
    """No tokenizer makes so few tokens of it. Each input costs no more than the context."""
    key, before = bench.key(experiment, budget_usd=Decimal("0.00001")), len(bench.upstream.requests)
    answer = bench.post(key, "/embeddings", model="short", input=["hello", "x" * 10_000])
    refused(bench, experiment, key, answer, "context")
    assert len(bench.upstream.requests) == before and booked(bench, experiment) == []
    assert bench.post(key, "/embeddings", model="short", input=["x" * 1000] * 10).status_code == 200


@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize("size", [51_000_000, 49_000_000])
def test_a_body_has_a_maximum_size(bench: Bench, experiment: Experiment, size: int) -> None:
    key = bench.key(experiment)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    url = f"{bench.gateway.base_url}/embeddings"
    body = b'{"model": "short", "input": "' + b"x" * size + b'"}'
    answer = httpx.post(url, content=body, headers=headers, timeout=120)
    refused(bench, experiment, key, answer, "context")
    assert ("has at most" in answer.text) == (size > 50_000_000)


@pytest.mark.rule("budget")
@pytest.mark.parametrize(
    ("model", "asked", "sent"),
    [
        ("scripted", {"max_output_tokens": 1000}, {"max_tokens": 1000}),
        ("scripted", {"max_completion_tokens": 1000}, {"max_completion_tokens": 1000}),
        ("scripted", {"max_output_tokens": 9000, "max_tokens": 1000}, {"max_tokens": 1000}),
        ("brief", {}, {"max_tokens": 1000}),
        ("brief", {"max_output_tokens": 900}, {"max_tokens": 900}),
        ("unlimited", {"max_tokens": 1000}, None),
        ("scripted", {}, None),
    ],
)
def test_the_reservation_matches_the_limit_that_is_sent(
    bench: Bench, experiment: Experiment, model: str, asked: dict[str, int], sent: dict[str, int] | None
) -> None:
    """The limit named as in the Responses API was dropped, the list's own limit was ignored, and a dropped one was
    used."""
    experiment, before = replace(experiment, model=model), len(bench.upstream.requests)
    answer = bench.chat(bench.key(experiment, budget_usd=2 * THOUSAND), model=model, **asked)
    assert answer.status_code == (200 if sent else 422)
    received = [request.body for request in bench.upstream.requests[before:]]
    limits = [{name: value for name, value in body.items() if name.startswith("max_")} for body in received]
    assert limits == ([sent] if sent else [])


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
@pytest.mark.parametrize(
    ("model", "route", "limit"),
    [("remembering", "/messages", "max_tokens"), ("responding", "/responses", "max_output_tokens")],
)
def test_the_limit_is_sent_under_the_providers_name(
    bench: Bench, experiment: Experiment, model: str, route: str, limit: str, name: str
) -> None:
    """Anthropic's messages, and OpenAI's Responses API, which LiteLLM uses for some reasoning models with tools. (Our
    provider does not answer these forms.)"""
    experiment, before = replace(experiment, model=model), len(bench.upstream.requests)
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    bench.chat(bench.key(experiment), model=model, tools=tools, reasoning_effort="high", **{name: 1000})
    (sent,) = (request.body for request in bench.upstream.requests[before:] if request.path.endswith(route))
    assert {field: value for field, value in sent.items() if field.startswith("max_")} == {limit: 1000}


@pytest.mark.rule("budget")
def test_requests_that_do_not_fit_the_budget_together_are_sent_in_turn(bench: Bench, experiment: Experiment) -> None:
    """They would exceed the budget if each cost its maximum; to refuse the second would end a run too early."""
    key = bench.key(experiment, budget_usd=2 * THOUSAND)
    bench.upstream.fail(Fault(delay=0.5), Fault(delay=0.5))
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda _: bench.chat(key, max_tokens=1000), range(2)))
    assert [answer.status_code for answer in answers] == [200, 200]
    first, second = (datetime.fromisoformat(row.time) for row in booked(bench, experiment))
    assert (second - first).total_seconds() >= 0.5
    assert all(row.latency_ms < 1000 for row in booked(bench, experiment)), "waiting is no part of an answer's time"


def test_a_prompt_is_marked_for_the_providers_cache(bench: Bench, experiment: Experiment) -> None:
    """Samples and turns repeat it, at a tenth of the price. (Our provider does not answer this form.)"""
    experiment, before = replace(experiment, model="remembering"), len(bench.upstream.requests)
    bench.chat(bench.key(experiment), model="remembering")
    (sent,) = (request.body for request in bench.upstream.requests[before:] if request.path.endswith("/messages"))
    assert sent["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}


# -- several answers to one request, and which of several requests alike one is ---------------------------------------
def asked_for(bench: Bench, before: int) -> list[int]:
    return [request.body.get("n", 1) for request in bench.upstream.requests[before:]]


def test_several_answers_to_one_request_pay_for_its_prompt_once(bench: Bench, experiment: Experiment) -> None:
    experiment = replace(experiment, model="several")
    answer = bench.chat(bench.key(experiment), model="several", n=4)
    assert [choice["message"]["content"] for choice in answer.json()["choices"]] == ["good day " * 9] * 4
    (row,) = booked(bench, experiment)
    assert (row.tokens_in, row.tokens_out) == (2, 84)
    assert row.cost_usd == 2 * Decimal("0.00000027") + 84 * Decimal("0.0000011")


@pytest.mark.trap("field-of-the-proxy")
@pytest.mark.parametrize(("model", "several"), [("several", 5), ("scripted", 2)])
def test_more_answers_than_the_list_allows_are_refused(
    bench: Bench, experiment: Experiment, model: str, several: int
) -> None:
    experiment, before = replace(experiment, model=model), len(bench.upstream.requests)
    answer = bench.chat(bench.key(experiment), model=model, n=several)
    assert (answer.status_code, answer.headers["x-a11y-bench-cause"]) == (400, "configuration")
    assert booked(bench, experiment) == [] and asked_for(bench, before) == []


def test_a_budget_counts_every_answer_that_a_request_may_have(bench: Bench, experiment: Experiment) -> None:
    """The budget is a hard limit: open requests count at their worst case."""
    ends = {}
    for several in (1, 4):
        one = replace(experiment, model="several", settings=f"{experiment.settings}{several}")
        bench.upstream.fail(Fault(uncounted=True))
        bench.chat(bench.key(one), model="several", n=several, max_tokens=1000)
        bench.gateway.settle(one)
        ends[several] = bench.gateway.ledger.committed(one.id)
    assert ends[4] - ends[1] == 3 * 1000 * Decimal("0.0000011")


@pytest.mark.parametrize(
    ("fault", "requests"),
    [
        (Fault(), [4, 3]),
        (Fault(400, "n is not supported"), [4, *[1] * 7]),
        (Fault(single=True), [4, *[1] * 6]),
    ],
    ids=["taken", "refused", "ignored"],
)
def test_samples_are_joined_into_few_requests_if_the_provider_supports_it(
    bench: Bench, experiment: Experiment, fault: Fault, requests: list[int]
) -> None:
    """And as single requests from then on, if it does not."""
    experiment, before = replace(experiment, model="several"), len(bench.upstream.requests)
    key = bench.key(experiment, answer=experiment.settings)
    wire = Wire(Endpoint(bench.gateway.base_url, key, key), Provider(max_retries=0, timeout_seconds=30))
    trajectory: list[dict[str, Any]] = []
    model = ChatModel("several", wire, trajectory, choices=4)
    bench.upstream.fail(fault)
    question = Ask("repair", 1, 0.8, 100)
    replies = model.ask_several(question, [{"role": "user", "content": "hello"}], range(1, 8))
    assert replies == ["good day " * 9] * 7
    assert [entry["sample"] for entry in trajectory] == list(range(1, 8))
    assert asked_for(bench, before) == requests
    paid = [row for row in booked(bench, experiment) if row.status == "ok"]
    assert (
        sum(row.tokens_out for row in paid)
        == 7 * 21
        == sum(entry["usage"].get("completion_tokens", 0) for entry in trajectory)
    )


def test_a_sample_is_paid_for_once_even_if_its_answer_is_restarted(bench: Bench, experiment: Experiment) -> None:
    """An agent that was killed asks for the same samples again. Two samples of one answer share nothing."""
    before = len(bench.upstream.requests)
    for answer, sample in (("one", "1"), ("one", "2"), ("one", "1"), ("other", "1"), ("one", "2"), ("one", "")):
        key = bench.key(experiment, answer=f"{answer} of {experiment.settings}")
        headers = {"x-a11y-bench-sample": sample} if sample else {}
        bench.chat(key, temperature=0.8, sent_headers=headers)
    statuses = [row.status for row in booked(bench, experiment)]
    assert statuses == ["ok", "ok", "cached", "ok", "cached", "ok"]
    assert len(bench.upstream.requests) - before == 4


@pytest.mark.trap("bought-fault")
def test_a_text_that_is_not_unicode_is_sent_with_replacement_characters(bench: Bench, experiment: Experiment) -> None:
    """The provider's client did not send it, which became a 500 of the proxy."""
    key = bench.key(experiment)
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"\udfff": {}}}}
    messages = [{"role": "user", "content": "hello \ud800, \N{WHEELCHAIR SYMBOL}\N{GRINNING FACE}"}]
    body = {"model": "scripted", "messages": messages, "tools": [{"type": "function", "function": tool}]}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    url = f"{bench.gateway.base_url}/chat/completions"
    answer = httpx.post(url, content=json.dumps(body), headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    sent = bench.upstream.requests[-1].body
    assert sent["messages"][0]["content"] == "hello \ufffd, \N{WHEELCHAIR SYMBOL}\N{GRINNING FACE}"
    assert list(sent["tools"][0]["function"]["parameters"]["properties"]) == ["\ufffd"]
