"""Candidates for triage, and a client of the viewer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import factories
import pytest

from pipeline.core.records import Issue
from pipeline.core.store import Store, write_records

REPO = factories.REPO


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Three candidates: 1 of 2024, 2 of 2025 without an issue, 3 of 2023 with hostile texts."""
    made = Store(tmp_path / "data")
    hostile = "<script>document.title = 'owned'</script> aria"
    issue = Issue(number=103, title=hostile, body=f"{hostile}\n</textarea>", labels=(hostile,))
    candidates = [
        factories.make_candidate(1),
        factories.make_candidate(
            2,
            title="Dialog traps the keyboard",
            merged_at="2025-05-06T07:08:09Z",
            resolved_issues=(),
            statement_source="pull_request",
        ),
        factories.make_candidate(3, title=hostile, merged_at="2023-01-02T03:04:05Z", resolved_issues=(issue,)),
    ]
    write_records(made.raw(REPO) / "candidates.jsonl", candidates)
    return made


@pytest.fixture
def client(store: Store) -> Any:
    from pipeline.triage.web.app import make_app

    return make_app(store).test_client()


@pytest.fixture
def post(client: Any) -> Callable[..., Any]:
    """Submit a form as our own page does."""

    def send(path: str, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        client.get("/")
        token = client.get_cookie("form_token").value
        return client.post(path, data={"form_token": token, **fields}, headers=headers or {})

    return send
