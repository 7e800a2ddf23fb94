"""One task for one agent as a unit of work: what both ways of running an agent are given, and what comes of it.

Gold is in neither. The result is data in every case: what the agent left and how it ended, or why it could not work. A
provider's failure is no empty patch: the instance stays unanswered, with its cause, and a resume asks again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import format_exc
from typing import NamedTuple

from pipeline.core.concealed import conceal, conceal_text
from pipeline.core.errors import A11yBenchError
from pipeline.core.records import Environment, Task
from pipeline.core.work import Event, Tell
from pipeline.predict import said
from pipeline.predict.agents import Agent
from pipeline.sandbox.handle import Handle

log = logging.getLogger(__name__)
Say = Callable[[str], None]

#: sysexits.h: the agent says that what failed was not its own
EX_TEMPFAIL = 75
#: `runs_code` -> the module that runs such an agent
RUNNERS = {False: "pipeline.predict.host", True: "pipeline.predict.container"}


class AgentFailed(A11yBenchError):
    """The agent's own fault: there is no answer of which one could say anything."""

    cause = "agent_error"


class Room(NamedTuple):
    """Where an agent that runs code works: the image of the instance, of these commits, and the agent's tools."""

    sandbox: Handle
    tools: str
    environment: Environment
    manifests: str


@dataclass(frozen=True)
class Ask:
    """The request: a task, the commit it is about, the gateway and the keys of the task and of what serves several.

    `cache` is a folder in which an agent keeps what serves the run's other tasks: it can be made again, for the same
    money. `contexts` are the tokens that the models take, where the list says it, `choices` the most answers to one
    request, `answer` the name under which what is asked for is kept. `pictures` are the statement's, by name, for a
    model that sees.
    """

    agent: Agent
    model: str
    task: Task
    base: str
    clone: str
    base_url: str
    key: str = field(repr=False)
    cache: str
    shared_key: str = field(default="", repr=False)
    pictures: dict[str, bytes] = field(default_factory=dict, repr=False)
    room: Room | None = None
    attempt: int = 1
    contexts: Mapping[str, int] = field(default_factory=dict)
    choices: int = 1
    answer: str = ""

    @property
    def name(self) -> str:
        return self.task.instance_id if self.attempt == 1 else f"{self.task.instance_id} attempt {self.attempt}"

    @property
    def affinity(self) -> str:
        return ""

    def perform(self, tell: Tell) -> Left:
        run: Callable[[Ask, Path, Say], int] = import_module(RUNNERS[self.agent.runs_code]).run
        with TemporaryDirectory(prefix="a11y-bench-") as made:
            folder, failure, code = Path(made), None, 0
            try:
                code = run(self, folder, lambda text: tell(Event(self.name, text)))
            except Exception as error:  # what the agent left is kept all the same
                failure = failed(error)
                log.error("%s: %s", self.name, conceal_text(format_exc(), (self.key, self.shared_key)))
            keys = (self.key, self.shared_key)
            told = failure and failure._replace(message=conceal_text(failure.message, keys))
            return Left(_files(folder, keys), code, told)

    def failed(self, error: Exception) -> Left:
        return Left(failure=failed(error))


class Failure(NamedTuple):
    """Why a task has no answer."""

    cause: str
    message: str


class Answer(NamedTuple):
    """A patch, and the agent's own word for how it ended."""

    patch: str
    outcome: str


@dataclass(frozen=True)
class Left:
    """The result: the regular files that the agent left, by path, without any key; its exit code, or the failure."""

    files: dict[str, bytes] = field(default_factory=dict)
    code: int = 0
    failure: Failure | None = None

    def answer(self, given_up: str = "", *, believed: bool = True) -> Answer | Failure:
        """What comes of it; `given_up` says why the budget or the provider left the agent without an answer.

        Only an agent that is `believed` may say itself that its provider failed.
        """
        if self.failure:
            return self.failure
        if given_up:
            return Failure(given_up, "the agent was left without an answer")
        if self.code == EX_TEMPFAIL and believed:
            return Failure(*said.error(self.files.get("error.json")))
        if self.code or "patch.diff" not in self.files:
            return Failure(AgentFailed.cause, f"exit code {self.code}; see its agent.log")
        try:
            outcome = json.loads(self.files["metadata.json"])["outcome"]
            return Answer(self.files["patch.diff"].decode(), outcome)
        except (KeyError, ValueError) as error:
            return Failure(AgentFailed.cause, f"what the agent left cannot be read: {error!r}")


def failed(error: Exception) -> Failure:
    """What the machine, or this program, failed at."""
    return Failure(getattr(error, "cause", type(error).__name__), str(error))


def _files(folder: Path, keys: tuple[str, ...]) -> dict[str, bytes]:
    """What is in a folder, links left out, and folders that are called like files of ours; keys are taken out of it,
    names included, since some agents print their environment."""
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*"))}
    kept = {name: path for name, path in found.items() if name.parts[0] not in said.NAMES or len(name.parts) == 1}
    files = {str(name): path.read_bytes() for name, path in kept.items() if path.is_file() and not path.is_symlink()}
    return {conceal_text(name, keys): conceal(data, keys) for name, data in files.items()}
