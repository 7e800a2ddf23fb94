"""Requests that are sent in batches: the server that collects them, and a gateway whose model has `batch: true`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm.batching import BatchModel
from llm.bench import PROVIDER_KEY, QUICK, Bench
from namespaces import until

from pipeline.core.errors import UserError
from pipeline.core.store import Store
from pipeline.llm import batches as module
from pipeline.llm.batches import Batches, Entry, Pace
from pipeline.llm.embedded import embedded_gateway
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import BATCH_LIMIT, TIME_LIMIT, load_models
from pipeline.llm.provider import Fault
from pipeline.llm.scripted import Answer

LIST = """\
model_list:
  - model_name: cheap
    litellm_params: {model: openai/cheap, api_base: os.environ/BATCH_URL, api_key: os.environ/BATCH_KEY}
    model_info: {mode: chat, batch: true, input_cost_per_token: "0.5", output_cost_per_token: "1"}
"""
SOON = Pace(quiet=0.2, longest=2, poll=0.05)
HELLO: dict[str, Any] = {"model": "cheap", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def provider() -> Iterator[BatchModel]:
    with BatchModel([Answer(("hello",), "good day"), Answer(("weather",), "rain\u2028\n")]) as model:
        yield model


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(LIST, encoding="utf-8")
    return path


@contextmanager
def collecting(listed: Path, provider: BatchModel, said: list[str] | None = None) -> Iterator[str]:
    """The address at which the requests of `cheap` are collected."""
    environ = {"BATCH_URL": provider.url}
    say = print if said is None else said.append
    with Batches(load_models(listed), listed.with_name("batches"), environ, say, SOON) as batches:
        yield batches.address("cheap")


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes a batch wait for a number of requests, however long a busy machine needs for them."""

    def wait(requests: int) -> None:
        monkeypatch.setattr(Batches, "_is_ripe", lambda self, lane, began: len(self._collected[lane]) == requests)

    return wait


def ask(address: str, **more: Any) -> httpx.Response:
    headers = {"Authorization": "Bearer a key"}
    return httpx.post(f"{address}/chat/completions", json=HELLO | more, headers=headers, timeout=30)


def text_of(reply: httpx.Response) -> str:
    return reply.raise_for_status().json()["choices"][0]["message"]["content"]


def journals(listed: Path) -> list[Path]:
    return list(listed.with_name("batches").glob("*"))


def test_requests_that_come_together_are_one_batch(
    listed: Path, provider: BatchModel, complete: Callable[[int], None]
) -> None:
    """Equal requests are samples, so each has an answer of its own."""
    complete(9)
    said: list[str] = []
    with collecting(listed, provider, said) as address, ThreadPoolExecutor(9) as pool:
        replies = list(pool.map(lambda number: ask(address, seed=number // 2), range(9)))
    assert {text_of(reply) for reply in replies} == {"good day"}
    assert len({reply.json()["id"] for reply in replies}) == 9
    assert provider.sizes == [9]
    assert provider.batches["batch-0"]["endpoint"] == "/v1/chat/completions"
    assert {request.authorization for request in provider.requests if "batches" in request.path} == {"Bearer a key"}
    assert said[-1] == "batch batch-0 (cheap): completed, 9 of 9 answered"
    assert not listed.with_name("batches").exists()


def test_later_requests_are_another_batch(listed: Path, provider: BatchModel) -> None:
    with collecting(listed, provider) as address:
        assert [text_of(ask(address)) for _ in range(2)] == ["good day"] * 2
    assert provider.sizes == [1, 1]


def test_a_provider_accepts_only_so_many(
    listed: Path, provider: BatchModel, complete: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    complete(5)
    monkeypatch.setattr(module, "MOST", 2)
    with collecting(listed, provider) as address, ThreadPoolExecutor(5) as pool:
        assert [text_of(reply) for reply in pool.map(lambda _: ask(address), range(5))] == ["good day"] * 5
    assert sorted(provider.sizes) == [1, 2, 2]


def test_each_request_has_its_own_failure(listed: Path, provider: BatchModel) -> None:
    texts = ["hello", "unheard-of", "weather"]
    messages = [[{"role": "user", "content": text}] for text in texts]
    with collecting(listed, provider) as address, ThreadPoolExecutor(3) as pool:
        replies = list(pool.map(lambda said: ask(address, messages=said), messages))
    assert [reply.status_code for reply in replies] == [200, 400, 200]
    assert text_of(replies[2]) == "rain\u2028\n"
    assert "no scripted answer" in replies[1].json()["error"]["message"]


@pytest.mark.parametrize(("ends", "statuses"), [("expired", {200, 503}), ("cancelled", {200, 503}), ("failed", {400})])
def test_a_batch_may_end_without_answers(listed: Path, provider: BatchModel, ends: str, statuses: set[int]) -> None:
    """The proxy sends a request again if the provider had no time for it, but not if the provider refuses it."""
    provider.ends = ends
    with collecting(listed, provider) as address, ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda _: ask(address), range(2)))
    assert {reply.status_code for reply in replies} == statuses
    refused = next(reply for reply in replies if reply.status_code != 200)
    assert ends in refused.json()["error"]["message"]
    assert not journals(listed)


def test_a_batch_above_a_limit_of_the_account_may_be_sent_later(listed: Path, provider: BatchModel) -> None:
    """Providers accept it first. It was taken for a wrong configuration, which nobody asks again."""
    provider.ends, provider.code = "failed", "token_limit_exceeded"
    with collecting(listed, provider) as address:
        assert ask(address).status_code == 429


def test_a_batch_that_is_not_accepted_tells_its_status(listed: Path, provider: BatchModel) -> None:
    provider.fail(Fault(), Fault(429))
    with collecting(listed, provider) as address:
        assert ask(address).status_code == 429


@pytest.mark.rule("retries")
@pytest.mark.parametrize("statuses", [(500, 429), (404, 404), (401, 403)])
def test_an_answer_is_asked_for_until_the_provider_gives_it(
    listed: Path, provider: BatchModel, statuses: tuple[int, ...]
) -> None:
    """What was paid for is not given up because a provider was busy for a moment, or did not know the batch yet."""
    provider.fail(Fault(), Fault(), *map(Fault, statuses))
    with collecting(listed, provider) as address:
        assert text_of(ask(address)) == "good day"
    assert provider.sizes == [1]


def test_a_line_that_cannot_be_read_discards_no_other(listed: Path, provider: BatchModel) -> None:
    provider.noise = ("<html>", "[]", '{"response": {"status_code": 200, "body": {}}}')
    with collecting(listed, provider) as address:
        assert text_of(ask(address)) == "good day"
    assert provider.sizes == [1]


def test_a_batch_that_the_provider_does_not_have_is_given_up(
    listed: Path, provider: BatchModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNKNOWN_LIMIT", 0)
    provider.fail(Fault(), Fault(), Fault(404))
    with collecting(listed, provider) as address:
        assert ask(address).status_code == 503
    assert not journals(listed)


def test_streams_are_refused(listed: Path, provider: BatchModel) -> None:
    with collecting(listed, provider) as address:
        reply = ask(address, stream=True)
    assert (reply.status_code, provider.sizes) == (400, [])
    assert "no streams" in reply.json()["error"]["message"]


#: asks for three answers in a process of its own, and prints when the batch is sent
ASKS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from llm.test_batches import ask, Pace
from pipeline.llm.batches import Batches
from pipeline.llm.models import load_models
listed = Path(sys.argv[1])
say = lambda text: print(text, flush=True)
given = load_models(listed), listed.with_name("batches"), {"BATCH_URL": sys.argv[2]}, say, Pace(0.2, 2, 0.05)
with Batches(*given) as batches, ThreadPoolExecutor(3) as pool:
    list(pool.map(lambda number: ask(batches.address("cheap"), seed=number), (1, 1, 2)))
"""


@pytest.mark.rule("response-cache")
def test_a_killed_process_leaves_its_answers_to_the_next_one(listed: Path, provider: BatchModel) -> None:
    """They are paid for. A new request is not mistaken for one of them."""
    provider.held = True
    words = [sys.executable, "-c", ASKS, str(listed), provider.url]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stdout is not None
        assert "batch-0" in process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    provider.held = False
    with collecting(listed, provider) as address, ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda number: ask(address, seed=number), (1, 1, 2, 2)))
    assert [text_of(reply) for reply in replies] == ["good day"] * 4
    assert provider.sizes == [3, 1]
    assert not journals(listed)


def test_a_live_processs_answers_are_its_own(listed: Path, provider: BatchModel) -> None:
    provider.held = True
    with collecting(listed, provider) as first, ThreadPoolExecutor(2) as pool:
        asked = pool.submit(ask, first)
        until(lambda: [path for path in journals(listed) if path.suffix == ".jsonl"])
        with collecting(listed, provider) as second:
            again = pool.submit(ask, second)
            until(lambda: len(provider.batches) == 2)
            provider.held = False
            assert text_of(asked.result(30)) == text_of(again.result(30)) == "good day"
    assert asked.result().json()["id"] != again.result().json()["id"]


def test_a_torn_journal_is_read(listed: Path, provider: BatchModel) -> None:
    """Its process was killed while it wrote."""
    folder = listed.with_name("batches")
    folder.mkdir()
    line = Entry(batch="batch-7", names=("a-0",)).model_dump_json()
    (folder / "1-1.jsonl").write_text(f'{line}\n{{"batch": "bat')
    with collecting(listed, provider) as address:
        assert text_of(ask(address)) == "good day"
    assert sorted(path.name for path in journals(listed)) == ["1-1.jsonl", "1-1.lock"]


# -- the list of models ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("openai/cheap", "anthropic/cheap", "batches are sent in OpenAI's protocol only"),
        ("batch: true", 'batch: "yes"', "'yes' is neither true nor false"),
        ("mode: chat", "mode: embedding", "only chats are sent in batches"),
    ],
)
def test_the_list_says_what_cannot_be_sent_in_batches(listed: Path, before: str, after: str, message: str) -> None:
    listed.write_text(LIST.replace(before, after), encoding="utf-8")
    with pytest.raises(UserError, match=message) as raised:
        load_models(listed)
    assert raised.value.line == 2


def test_a_batch_has_more_time_and_the_same_answers(listed: Path) -> None:
    """Whether a request is sent in a batch shapes no answer."""
    batched = load_models(listed).get("cheap")
    listed.write_text(LIST.replace("batch: true, ", ""), encoding="utf-8")
    single = load_models(listed).get("cheap")
    assert (batched.time_limit, single.time_limit) == (BATCH_LIMIT, TIME_LIMIT)
    assert batched.shaping == single.shaping


# -- a gateway ---------------------------------------------------------------------------------------------------------
@pytest.mark.long
def test_a_gateway_sends_batches_and_books_each_request(
    listed: Path, provider: BatchModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the agent's requests is a row of the ledger, at the list's price, and is never sent twice."""
    monkeypatch.setattr(Batches.__init__, "__defaults__", (SOON,))
    environ = {**os.environ, **QUICK, "BATCH_URL": provider.url, "BATCH_KEY": PROVIDER_KEY}
    store, experiment = Store(tmp_path / "data"), Experiment("o/r", "cheap", "agent", "")
    store.begin()
    ledger = Ledger(store.ledger)
    how: dict[str, Any] = {"say": print, "log": tmp_path / "log", "responses": None}
    with embedded_gateway(load_models(listed), ledger, environ, **how) as gateway:
        bench = Bench(gateway, provider, store, tmp_path / "log")
        key = bench.key(experiment)
        with ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda _: bench.chat(key, model="cheap"), range(4)))
        assert [text_of(reply) for reply in replies] == ["good day"] * 4
        assert gateway.spend(experiment) == 4 * (2 * Decimal("0.5") + 2)
    assert provider.sizes == [4]
    assert {request.authorization for request in provider.requests if "files" in request.path} == {
        f"Bearer {PROVIDER_KEY}"
    }
    ledger.close()
