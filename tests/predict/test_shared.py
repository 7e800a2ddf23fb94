"""What the tasks of one run share: a key for shared work, and a folder that persists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from predict.conftest import Job

SHARED_KEY = "sk-canary-of-the-shared-one"
#: an agent that embeds with the shared key, and stores what it has embedded
INDEX = """
kept = pathlib.Path(sys.argv[5])
kept.mkdir(exist_ok=True)
before = sorted(path.name for path in kept.iterdir())
(kept / "vectors").write_text("1")
(out / "told.json").write_text(json.dumps([before, os.environ["OPENAI_SHARED_API_KEY"], os.environ["OPENAI_API_KEY"]]))
answer("a patch")
"""


@pytest.fixture
def report(job: Callable[[str], Job]) -> Callable[[], str]:
    """The agent's report on one task."""
    started = job(INDEX)
    call = started.ask.agent.call
    more = {"command": (*call.command, "{cache}"), "environment": {"OPENAI_SHARED_API_KEY": "{shared_key}"}}
    agent = started.ask.agent._replace(call=call.model_copy(update=more))
    started.ask = replace(started.ask, shared_key=SHARED_KEY, agent=agent)

    def run() -> str:
        return (started.done().folder / "told.json").read_text()

    return run


def test_the_next_task_finds_the_cache_of_the_previous_one(report: Callable[[], str]) -> None:
    assert report().startswith("[[], ")
    assert report().startswith('[["vectors"], ')


@pytest.mark.invariant(6)
def test_both_keys_are_passed_and_neither_is_stored(report: Callable[[], str]) -> None:
    """No secret is written to data."""
    assert report() == '[[], "***", "***"]'
