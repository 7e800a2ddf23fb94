"""A model that reads why an environment was rejected and proposes another one, a bounded number of times.

Off unless `build --setup-agent MODEL` turns it on. Its answer is a file of overrides (`proposals`), and a candidate is
qualified with it by the same three runs as any other. Answers are in `02_dataset/<repo>/answers/`; the cost is in the
ledger and in `costs.csv` under the agent `setup`. Reads the logs of the rejected units. A proposal that does not
qualify leaves only its line in `proposals.jsonl`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel

from pipeline.build import proposals
from pipeline.build.environments import environment_of, tree_of
from pipeline.build.infer import Unsupported
from pipeline.build.plan import Planned
from pipeline.build.proposals import Proposal
from pipeline.build.qualify import NOT_EVALUATED, Outcome, Qualified, kind
from pipeline.build.reasons import ENVIRONMENTAL
from pipeline.core.errors import UserError
from pipeline.core.git import Clone
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Candidate, Rejection
from pipeline.core.store import Store, digest
from pipeline.core.texts import unzipped
from pipeline.core.work import Interrupts, each
from pipeline.execution import scope
from pipeline.llm import panel
from pipeline.llm.asking import BadAnswer
from pipeline.llm.chat import Message
from pipeline.llm.gateway import Gateway
from pipeline.llm.panel import Asked, Panel, Rubric

#: the agent's name in the ledger and in costs.csv
AGENT = "setup"
#: increased whenever the questions or the reading of answers change: older answers are then stale
VERSION = 1
#: characters that are shown: the end of a log, the beginning of a manifest, the end of an earlier try's log
LOG, MANIFEST, EARLIER = 6000, 4000, 1500
PARAMETERS = {"temperature": 0.2, "max_tokens": 1024}

PROMPT = files(__package__).joinpath("setup_agent.md").read_text(encoding="utf-8")
AGAIN = "This cannot be used: {}. Answer again, with one file of overrides between ```toml and ```."
_FENCE = re.compile(r"```(?:toml)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
#: fields of a package.json that describe its set-up
_TELLING = (
    "packageManager", "engines", "volta", "workspaces", "scripts", "jest", "mocha", "devDependencies", "dependencies",
)  # fmt: skip


@dataclass(frozen=True)
class Setup:
    """The model and its settings, and the number of tries for one rejection."""

    settings: Asked
    tries: int = 2


class Question(NamedTuple):
    """What the model sees of one rejected candidate; `earlier` are its own proposals and their outcomes."""

    instance_id: str
    environment: str
    ended: str
    log: str
    repository: str
    earlier: tuple[tuple[str, str], ...] = ()


class Reply(BaseModel):
    """The part of an answer that is used: the text of a valid file of overrides."""

    text: str


def messages(question: Question) -> list[Message]:
    """The system message says which fields may be set; the user message holds the material."""
    earlier = [
        part
        for text, ended in question.earlier
        for part in (("Your proposal", text), ("How your proposal ended", ended))
    ]
    parts = [
        ("The environment that was tried", question.environment),
        ("How it ended", question.ended),
        ("The end of the log", question.log),
        ("The repository", question.repository),
        *earlier,
    ]
    material = "\n\n".join(f"# {title}\n\n{text}" for title, text in parts if text)
    return [{"role": "system", "content": PROMPT}, {"role": "user", "content": material}]


def read(text: str) -> Reply:
    """The last file of overrides in an answer. Raises BadAnswer."""
    found = _FENCE.findall(text)
    written = (found[-1] if found else text).strip() + "\n"
    try:
        proposals.checked(written)
    except UserError as error:
        raise BadAnswer(" ".join(str(error).split())) from None
    return Reply(text=written)


RUBRIC: Rubric[Question] = Rubric(
    agent=AGENT,
    decisive=(PROMPT, AGAIN, VERSION),
    messages=messages,
    again=AGAIN,
    read=read,
    holder=lambda question: question.instance_id,
    inputs=lambda question: {"question": digest(question)},
)


class SetupAgent:
    """One model for one repository. Raises UserError for a model that cannot be used."""

    def __init__(self, store: Store, repo: Repo, clone: Clone, setup: Setup, progress: Progress) -> None:
        self.store, self.repo, self.clone, self.progress = store, repo, clone, progress
        self.tries, self.model = setup.tries, setup.settings.model
        root, settings = store.qualification(repo) / "answers", replace(setup.settings, samples=1)
        self.panel: Panel[Question] = panel.Panel(store, repo, root, RUBRIC, settings, PARAMETERS)

    def wants(self, outcome: Outcome | None) -> bool:
        """Whether a proposal may help: the environment may be the reason for the rejection, and tries are left."""
        if not isinstance(outcome, Rejection) or outcome.reason not in ENVIRONMENTAL:
            return False
        return len(self._tried(outcome)) < self.tries

    def tried(self, gateway: Gateway, unit: Planned, rejection: Rejection) -> Iterator[Qualified]:
        """The result of each proposal, until one qualifies. A failure of the machine ends the tries and is not one."""
        folder = unit.unit.folder
        last = {path.name: unzipped(path) for path in folder.glob("*.log.gz")} if folder.is_dir() else {}
        question = self._question(unit.request.candidate, rejection, log_of(last))
        made = {proposal.number: proposal for proposal in self._tried(rejection)}
        for number in range(1, self.tries + 1):
            if number not in made:
                text, why = self._ask(gateway, question)
                if why:
                    self.progress.note(unit.name, f"the setup agent gives no answer: {why}")
                    return
                result = self._qualified(unit, text)
                if kind(result.outcome) == NOT_EVALUATED:
                    return
                made[number] = self._keep(rejection, number, text, result)
                yield result
                if not isinstance(result.outcome, Rejection):
                    return
            question = question._replace(earlier=(*question.earlier, (made[number].text, told(made[number]))))

    def _ask(self, gateway: Gateway, question: Question) -> tuple[str, str]:
        """The text of the proposal, empty for an unusable answer; and why there is no answer, if there is none."""
        unanswered = self.panel.ask(gateway, [question], self.progress, jobs=1) if self._missing(question) else {}
        answers = self.panel.samples(question).ratings()
        return (answers[0]["text"] if answers else ""), "".join(unanswered.values())

    def _missing(self, question: Question) -> bool:
        return bool(self.panel.samples(question).missing())

    def _qualified(self, unit: Planned, text: str) -> Qualified:
        """The candidate with the proposed fields, by the same three runs."""
        if not text:
            return Qualified(unit.request.rejected("environment_failed", "the answer was no file of overrides"))
        fields = proposals.checked(text)
        request = replace(unit.request, proposed=fields, set_up_by=self.model, learned=(), environment=digest(text))
        interrupts = Interrupts(self.progress.stopping, unit.request.sandbox.sandbox().abort)
        ((_, result),) = each([request], jobs=1, hear=self.progress.hear, interrupts=interrupts)
        return result

    def _keep(self, rejection: Rejection, number: int, text: str, result: Qualified) -> Proposal:
        outcome = result.outcome
        detail = outcome.detail[-EARLIER:] if isinstance(outcome, Rejection) else ""
        logs = {name: gzip.decompress(data) for name, data in result.files.items() if name.endswith(".log.gz")}
        proposal = Proposal(
            instance_id=rejection.instance_id,
            model=self.model,
            number=number,
            rejected=_digest(rejection),
            text=text,
            ended=kind(outcome),
            detail=detail,
            shown=f"{kind(outcome)}: {log_of(logs)[-EARLIER:] or detail}",
        )
        proposals.keep(self.store, self.repo, proposal)
        return proposal

    def _tried(self, rejection: Rejection) -> list[Proposal]:
        """This model's tries for this rejection."""
        key = (rejection.instance_id, self.model, _digest(rejection))
        rows = proposals.read(self.store, self.repo)
        return [proposal for proposal in rows if (proposal.instance_id, proposal.model, proposal.rejected) == key]

    def _question(self, candidate: Candidate, rejection: Rejection, log: str) -> Question:
        try:
            inferred = environment_of(self.clone, candidate).model_dump(mode="json", exclude={"evidence"})
            environment = json.dumps({name: value for name, value in inferred.items() if value}, indent=1)
        except Unsupported as error:
            environment = f"none could be inferred: {error}"
        ended = f"{rejection.reason}: {rejection.detail[:EARLIER]}"
        return Question(candidate.instance_id, environment, ended, log, described(self.clone, candidate))


def described(clone: Clone, candidate: Candidate) -> str:
    """What shows how a repository is set up: the names at its root, its package.json, the candidate's tests."""
    tree = tree_of(clone, candidate)
    root = sorted({path.partition("/")[0] for path in tree.paths})
    manifest = tree.manifest("")
    telling = {name: manifest.data[name] for name in _TELLING if name in manifest.data} if manifest else {}
    tests = "\n".join(scope.touched(tree.paths, candidate.test_patch, tree.text("package.json")))
    parts = (f"At its root: {', '.join(root)[:EARLIER]}", f"package.json: {json.dumps(telling)[:MANIFEST]}")
    return "\n\n".join((*parts, f"Tests:\n{tests}"))


def log_of(logs: Mapping[str, bytes]) -> str:
    """The end of a unit's most telling log: the install's, else that of `fix`, `test` or `run`."""
    names = ("install", "fix.1", "test.1", "run.1")
    found = next((logs[file] for name in names if (file := f"{name}.log.gz") in logs), b"")
    return _COLOURS.sub("", found.decode(errors="replace"))[-LOG:]


def told(proposal: Proposal) -> str:
    """How a proposal ended, as the model is told. Earlier versions of this program did not store that."""
    return proposal.shown or f"{proposal.ended}: {proposal.detail[-EARLIER:]}"


def _digest(rejection: Rejection) -> str:
    """The digest of candidate and reason: another reason gets its own tries."""
    return digest(rejection.instance_id, rejection.reason)


def set_up(
    agent: SetupAgent,
    opened: Callable[[], AbstractContextManager[Gateway]],
    rejected: Sequence[tuple[Planned, Rejection]],
) -> Iterator[tuple[Planned, Qualified]]:
    """Try the model's proposals for these units; yields each unit that qualifies, with its result."""
    if not rejected:
        return
    with opened() as gateway:
        for unit, rejection in rejected:
            for result in agent.tried(gateway, unit, rejection):
                if not isinstance(result.outcome, Rejection):
                    yield unit, result
