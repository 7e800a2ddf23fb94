"""A model's proposals for rejected environments: `02_dataset/<repo>/proposals.jsonl`, one try per line.

A proposal is the text of a file of overrides, so it is data, and only sets fields of an environment in the sandbox. It
must not set how tests are called or read, since that could decide their results. The proposal with which a candidate
qualified becomes part of its inference. `setup_agent` asks the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from pipeline.build import overrides
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.record import Versioned
from pipeline.core.records import Candidate
from pipeline.core.store import Store, read_records, write_records
from pipeline.ecosystems import all_managers

#: fields that a model may set
FIELDS = (
    "node", "manager", "manager_version", "install", "install_env", "runner", "runner_version", "folder",
    "configuration", "test_env", "edits", "rebuild", "browser",
)  # fmt: skip
#: the outcome of a proposal with which the candidate became an instance
ACCEPTED = "qualified"


class Proposal(Versioned):
    """One try of one model for one candidate, and how the candidate ended with it."""

    instance_id: str
    model: str
    number: int = Field(ge=1, description="of the tries for the same rejection, from 1")
    rejected: str = Field(description="digest of the rejection that it answers")
    text: str = Field(description="the file of overrides, empty where the answer was none")
    ended: str = Field(description="qualified, or the reason of the rejection")
    detail: str = ""
    shown: str = Field(default="", description="how it ended, as the model was told")


def path(store: Store, repo: Repo) -> Path:
    return store.qualification(repo) / "proposals.jsonl"


def read(store: Store, repo: Repo) -> list[Proposal]:
    """All proposals of a repository, in their order."""
    return read_records(path(store, repo), Proposal)


def keep(store: Store, repo: Repo, proposal: Proposal) -> None:
    """Add a proposal to the file."""
    write_records(path(store, repo), [*read(store, repo), proposal])


def accepted(rows: Sequence[Proposal], candidate: Candidate) -> Proposal | None:
    """The last proposal with which a candidate qualified."""
    own = (proposal for proposal in reversed(rows) if proposal.instance_id == candidate.instance_id)
    return next((proposal for proposal in own if proposal.ended == ACCEPTED), None)


def fixed(store: Store, candidate: Candidate) -> dict[str, tuple[Any, str]]:
    """The fields of a candidate's environment that were proposed and accepted, with their evidence."""
    proposal = accepted(read(store, candidate.repository), candidate)
    return with_evidence(fields(proposal), proposal.model) if proposal else {}


def fields(proposal: Proposal) -> dict[str, Any]:
    """The fields that a proposal sets. Raises UserError."""
    return checked(proposal.text)


def with_evidence(proposed: Mapping[str, Any], model: str) -> dict[str, tuple[Any, str]]:
    """Proposed fields with their evidence."""
    return {name: (value, f"proposed by {model}") for name, value in proposed.items()}


def checked(text: str) -> dict[str, Any]:
    """The fields that the text of a file of overrides sets, for any candidate. Raises UserError."""
    name = Path("proposal.toml")
    found = {key: value for override in overrides.parse(text, name) for key, value in override.fields.items()}
    if not found:
        raise UserError("it sets no field", path=name)
    for key in found:
        if key not in FIELDS:
            raise unknown("field of a proposal", key, list(FIELDS))
    _refuse_code(name, found)
    return found


def _refuse_code(name: Path, found: Mapping[str, Any]) -> None:
    """Raise UserError for an install that calls no package manager, and for values that contain a program."""
    words = found.get("install", ())
    if words and words[0] not in all_managers():
        hint = f"it begins with one of: {', '.join(all_managers())}"
        raise UserError(f"install calls '{words[0]}'", path=name, field="install", hint=hint)
    if any(_is_code(text) for text in _texts(found)):
        raise UserError("a value contains a program (data:, javascript, a shell)", path=name)


def _texts(found: Mapping[str, Any]) -> Iterable[str]:
    tables = (found.get(name) or {} for name in ("test_env", "install_env"))
    return [*found.get("install", ()), *(text for table in tables for text in table.values())]


def _is_code(text: str) -> bool:
    return any(word in text.lower() for word in ("data:", "javascript", "--eval", "-c ", "$(", "`"))
