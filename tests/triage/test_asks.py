"""Asking models from a page of the viewer: the cost before and after, a budget, one job at a time."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import factories
import pytest
from raters_bench import GIVEN, GOOD, Direct, Speaker

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.names import commit_number
from pipeline.core.progress import Progress
from pipeline.core.reviews import newest_reviews
from pipeline.core.store import Store
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import DEMO, load_models
from pipeline.triage.asking import Asking, Outcome
from pipeline.triage.web.app import Asker, make_app
from pipeline.triage.web.asks import Asks, Job, budget, parse_selection

REPO = factories.REPO
FORM = {"repo": str(REPO), "model": "scripted", "pr": "#1, 2"}


class Held:
    """Asks through a gateway without a proxy, once the test allows it."""

    def __init__(self, store: Store) -> None:
        self.store, self.go, self.asked = store, threading.Event(), []
        self.fails: Exception | None = None

    def __call__(self, asking: Asking, progress: Progress) -> Outcome:
        self.asked.append(asking)
        assert self.go.wait(20)
        if self.fails:
            raise self.fails
        ledger = Ledger(self.store.ledger)
        with Speaker([]) as model:
            model.answers[:] = [GOOD]
            gateway = Direct(load_models(DEMO), ledger, GIVEN)
            gateway.base_url = model.url
            try:
                asked = replace(asking.asked, gateway=gateway)
                return Asking(self.store, REPO, asked, asking.numbers).run(jobs=1, progress=progress)
            finally:
                ledger.close()


@pytest.fixture
def held(store: Store) -> Iterator[Held]:
    made = Held(store)
    yield made
    made.go.set()


@pytest.fixture
def asks(held: Held) -> Asks:
    return Asks(held)


@pytest.fixture
def client(store: Store, asks: Asks) -> Any:
    return make_app(store, asker=Asker(asks, DEMO, GIVEN)).test_client()


def body(answer: Any) -> str:
    return answer.get_data(as_text=True)


def over(job: Job) -> Job:
    for _ in range(2000):
        if job.is_over:
            return job
        time.sleep(0.01)
    raise AssertionError(f"{job.name} is {job.state} still")


def test_the_cost_is_estimated_before_any_request(client: Any, asks: Asks) -> None:
    shown = body(client.get("/ask", query_string=FORM))
    cells = re.findall(r'<td class="number">([\d.,]+)</td>', shown.partition("Estimated cost")[2])
    assert cells[0] == "2" and 0 < float(cells[2]) < float(cells[3]) and float(cells[4]) == 0
    assert 'name="budget" inputmode="decimal" size="8" value="" required' in shown and asks.jobs() == []


def test_models_are_asked_and_the_cost_is_shown(client: Any, post: Any, asks: Asks, held: Held) -> None:
    assert post("/ask", **FORM, budget="0.50").status_code == 303
    (job,) = asks.jobs()
    assert 'data-busy="' not in body(client.get("/ask")) and " data-busy" in body(client.get("/ask/state"))
    held.go.set()
    over(job)
    assert (job.outcome.rated, job.outcome.candidates, job.progress.done) == (2, 2, 2)
    assert [(review.instance_id, review.by) for review in newest_reviews(held.store, REPO)] == [
        ("acme__ui-1", "model"),
        ("acme__ui-2", "model"),
    ]
    (asking,) = held.asked
    assert asking._panel.asked.budget == Decimal("0.50")
    text = body(client.get("/ask/state"))
    assert "2 of 2 candidates rated" in text and "USD now" in text and "data-busy" not in text
    again = body(client.get("/ask", query_string=FORM)).partition("Estimated cost")[2]
    assert re.findall(r'<td class="number">([\d.,]+)</td>', again)[0] == "0", "it is not paid for twice"


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budget": ""}, "not an amount in USD"),
        ({"budget": "-1"}, "not an amount in USD"),
        ({"budget": "0"}, "not an amount in USD"),
        ({"budget": "NaN"}, "not an amount in USD"),
        ({"pr": "1 two"}, "&#39;two&#39; is not the number"),
        ({"pr": "9"}, "unknown candidate"),
        ({"model": "nobody"}, "unknown model"),
        ({"model": "scripted-embedding"}, "unknown chat model"),
        ({"repo": "acme"}, "acme"),
    ],
)
def test_an_invalid_form_is_shown_again(post: Any, asks: Asks, changes: dict[str, str], words: str) -> None:
    answer = post("/ask", **{**FORM, "budget": "1", **changes})
    assert answer.status_code == 422 and words in body(answer) and asks.jobs() == []
    assert 'name="repo"' in body(answer)


def test_a_model_without_its_key_cannot_be_chosen(store: Store, asks: Asks) -> None:
    client = make_app(store, asker=Asker(asks, DEMO, {})).test_client()
    shown = body(client.get("/ask"))
    assert 'value="scripted" disabled' in shown and "no, without <code>A11Y_BENCH_SCRIPTED_URL</code>" in shown
    assert "needs the environment variable" in body(client.get("/ask", query_string=FORM))


def test_a_running_job_is_not_started_twice(post: Any, asks: Asks, held: Held) -> None:
    post("/ask", **FORM, budget="1")
    answer = post("/ask", **FORM, budget="1")
    assert answer.status_code == 422 and "already" in body(answer) and len(asks.jobs()) == 1


def asking(model: str) -> Any:
    return SimpleNamespace(repo=REPO, model=model, estimate=lambda: SimpleNamespace(candidates=1))


def test_models_are_queued_all_or_none() -> None:
    """The page said that nothing was asked, while the first of two models was."""
    go = threading.Event()
    asks = Asks(lambda asking, progress: go.wait(20))
    asks.start([asking("b")])
    with pytest.raises(UserError, match="b is already being asked about acme/ui"):
        asks.start([asking("a"), asking("b")])
    assert [job.name[1] for job in asks.jobs()] == ["b"]
    asks.start([asking("a"), asking("c")])
    go.set()
    assert [over(job).name[1] for job in asks.jobs()] == ["c", "a", "b"]


def test_a_failure_is_shown_and_the_next_job_runs(post: Any, client: Any, asks: Asks, held: Held) -> None:
    held.fails = InfrastructureError("the proxy did not start", cause="proxy")
    held.go.set()
    post("/ask", **FORM, budget="1")
    assert over(asks.jobs()[0]).state == "failed" and "the proxy did not start" in body(client.get("/ask"))
    held.fails = None
    post("/ask", **FORM, budget="1")
    assert over(asks.jobs()[0]).state == "done"


def test_another_site_cannot_start_a_job(post: Any, asks: Asks) -> None:
    assert post("/ask", {"Origin": "http://evil.example"}, **FORM, budget="1").status_code == 403
    assert asks.jobs() == []


def test_a_form_is_read() -> None:
    assert parse_selection("a/b", ["m", "m"], " #1,2;\n3 1") == ("a/b", ("m",), (1, 2, 3))
    commit = commit_number("c" * 40)
    assert parse_selection("a/b", [], f"{commit}").numbers == (commit,)
    assert budget(" 0.10 ") == Decimal("0.10")
    with pytest.raises(UserError):
        budget("1e999999999999999999999")
