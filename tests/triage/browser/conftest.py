"""The viewer with two candidates, and a page of a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import factories
import pytest
from viewer_bench import Server

from pipeline.core import journal
from pipeline.core.ratings import Label
from pipeline.core.review_requests import ReviewRequest, ask
from pipeline.core.store import Store, write_records

REPO = factories.REPO


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Two candidates; raters disagree on one of them."""
    store = Store(tmp_path / "data")
    write_records(store.raw(REPO) / "candidates.jsonl", [factories.make_candidate(number) for number in (1, 2)])
    label = Label(name="menu", hover_text="About menus")
    review = factories.make_review(2, note="n", labels=(label,), statement="s", time="2025-01-01T00:00:00Z")
    other = factories.make_review(2, rater="m", by="model", status="rejected", time="2025-01-01T00:00:00Z")
    journal.append(store.reviews(REPO), [review, other])
    write_records(store.dataset(REPO), [factories.make_instance(2)])
    ask(
        store, [ReviewRequest(kind="case", id="menu-1", version="v", why="unsure", asked_by="pages", time="2025-01-01")]
    )
    made = Server(store)
    made.start()
    yield made
    made.kill()


@pytest.fixture
def page(chromium: Any, server: Server) -> Iterator[Any]:
    """The test fails if a script has an error, or if the policy blocks something."""
    context = chromium.new_context(base_url=server.url)
    made, wrong = context.new_page(), []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda message: wrong.append(message.text) if "Content Security" in message.text else None)
    yield made
    assert wrong == []
    context.close()
