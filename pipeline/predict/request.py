"""One task for one agent as a unit of work: the input and the result of both ways of running an agent.

Neither contains gold. The result is data in every case: the agent's files and how it ended, or why it could not work. A
failure of the provider is not an empty patch: the instance stays unanswered, with its cause, and a resume asks again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory
from traceback import format_exc
from typing import NamedTuple

from pipeline.core.concealed import conceal, conceal_text
from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.records import Environment, Task
from pipeline.core.work import Event, Tell
from pipeline.predict import reported
from pipeline.predict.agents import Agent
from pipeline.sandbox.handle import Handle
from pipeline.sandbox.images import Kit

log = logging.getLogger(__name__)
Say = Callable[[str], None]

#: from sysexits.h: the agent reports that the failure was not its own
EX_TEMPFAIL = 75
#: the agent reports that its settings, its environment or the task cannot be used; and the cause that is recorded
EX_INPUT, BAD_INPUT = 2, "bad_input"
#: `runs_code` -> the module that runs such an agent
RUNNERS = {False: "pipeline.predict.host", True: "pipeline.predict.container"}


class AgentFailed(A11yBenchError):
    """The agent's own fault: it has no answer that could be graded."""

    cause = "agent_error"


class Room(NamedTuple):
    """Where an agent that runs code works: what its instance's image and the agent's tools are made of."""

    sandbox: Handle
    kit: Kit
    environment: Environment
    manifests: str


@dataclass(frozen=True)
class Ask:
    """The request: a task, its base commit, the gateway, the key of the task, and one for requests that several tasks
    share.

    `cache` is a folder in which an agent keeps results for its other tasks in the repository; they can be made again,
    at the same cost. `contexts` are the models' context lengths in tokens, if the list has them, `choices` is the
    largest number of answers to one request, and `answer` the name under which the answer is stored. `pictures` are the
    statement's, by name, for models with vision. `settings` is the content of the agent's settings file, and `version`
    the digest of its own files: a worker must have the same. An empty one is not checked.
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
    settings: bytes = b""
    version: str = ""

    @property
    def name(self) -> str:
        return self.task.instance_id if self.attempt == 1 else f"{self.task.instance_id} attempt {self.attempt}"

    @property
    def affinity(self) -> str:
        return ""

    def perform(self, tell: Tell) -> AgentResult:
        with TemporaryDirectory(prefix="a11y-bench-") as temporary:
            folder, failure, code = Path(temporary), None, 0
            try:
                code = self._run(folder, lambda text: tell(Event(self.name, text)))
            except Exception as error:  # the agent's files are kept all the same
                failure = failed(error)
                log.error("%s: %s", self.name, conceal_text(format_exc(), (self.key, self.shared_key)))
            keys = (self.key, self.shared_key)
            concealed = failure and failure._replace(message=conceal_text(failure.message, keys))
            return AgentResult(_files(folder, keys), code, concealed)

    def _run(self, folder: Path, say: Say) -> int:
        """Let the agent work; returns its exit code. Raises InfrastructureError if another agent is here."""
        if self.version and self.version != self.agent.digest:
            hint = "send the same version there: just remote-push HOST --without-data"
            raise InfrastructureError(
                f"the agent '{self.agent.name}' has another version on {gethostname()}; {hint}", cause="worker"
            )
        run: Callable[[Ask, Path, Say], int] = import_module(RUNNERS[self.agent.runs_code]).run
        return run(self, folder, say)

    def failed(self, error: Exception) -> AgentResult:
        return AgentResult(failure=failed(error))


class Failure(NamedTuple):
    """Why a task has no answer."""

    cause: str
    message: str


class Answer(NamedTuple):
    """A patch, and the outcome that the agent reports."""

    patch: str
    outcome: str


@dataclass(frozen=True)
class AgentResult:
    """The result: the regular files that the agent left, by path, without any key; its exit code; or the failure. The
    failure of an agent that was not even `begun` says nothing about it."""

    files: dict[str, bytes] = field(default_factory=dict)
    code: int = 0
    failure: Failure | None = None
    begun: bool = True

    def answer(self, given_up: str = "", *, believed: bool = True) -> Answer | Failure:
        """The answer or the failure. `given_up` is the cause if the budget or the provider left the agent without an
        answer.

        Only an agent that is `believed` may report itself that its provider failed, or that its input is unusable.
        """
        if self.failure:
            return self.failure
        if given_up:
            return Failure(given_up, "the agent was left without an answer")
        if self.code == EX_TEMPFAIL and believed:
            return Failure(*reported.error(self.files.get("error.json")))
        if believed and (refusal := self.refusal):
            return refusal
        if self.code or "patch.diff" not in self.files:
            return Failure(AgentFailed.cause, f"exit code {self.code}; see its agent.log")
        try:
            outcome = reported.metadata(self.files["metadata.json"])["outcome"]
            return Answer(self.files["patch.diff"].decode(), outcome)
        except (KeyError, ValueError) as error:
            return Failure(AgentFailed.cause, f"what the agent left cannot be read: {error!r}")

    @property
    def refusal(self) -> Failure | None:
        """The failure of an agent that found its input unusable, with the last line that it printed."""
        if self.failure or self.code != EX_INPUT:
            return None
        lines = self.files.get("agent.log", b"").decode(errors="replace").strip().splitlines()
        return Failure(BAD_INPUT, f"the agent cannot use its input: {lines[-1] if lines else 'it does not say why'}")


def failed(error: Exception) -> Failure:
    """A failure of the machine or of this program."""
    return Failure(getattr(error, "cause", type(error).__name__), str(error))


def _files(folder: Path, keys: tuple[str, ...]) -> dict[str, bytes]:
    """The files in a folder, without links, and without folders that are named like our files. Keys are removed from
    contents and names, since some agents print their environment."""
    paths = {path.relative_to(folder): path for path in sorted(folder.rglob("*"))}
    kept = {name: path for name, path in paths.items() if name.parts[0] not in reported.NAMES or len(name.parts) == 1}
    files = {str(name): path.read_bytes() for name, path in kept.items() if path.is_file() and not path.is_symlink()}
    return {conceal_text(name, keys): conceal(data, keys) for name, data in files.items()}
