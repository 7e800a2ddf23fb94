"""One task for one agent: what both ways of running an agent are given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import git

from pipeline.core.errors import A11yBenchError
from pipeline.core.records import Instance
from pipeline.predict.agents import Agent
from pipeline.predict.run import Run
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.local.process import Running

Say = Callable[[str], None]


class Rooms(NamedTuple):
    """Where agents that run code work, and this agent's tools there."""

    sandbox: Sandbox
    tools: Path


class Job(NamedTuple):
    """`exhausted` says whether the money for the task is spent; `given_up` why the budget or the provider left the
    agent without an answer, empty where they did not; `running` holds the agents that run on this machine;
    `shared_key` is for what serves several tasks of the run."""

    agent: Agent
    run: Run
    instance: Instance
    clone: git.Repo
    base_url: str
    key: str
    running: Running
    exhausted: Callable[[], bool] = lambda: False
    given_up: Callable[[], str] = lambda: ""
    rooms: Rooms | None = None
    shared_key: str = ""


class AgentFailed(A11yBenchError):
    """The agent's own fault: there is no answer of which one could say anything."""

    cause = "agent_error"
