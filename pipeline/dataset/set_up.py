"""Environments that a model proposed (`build --setup-agent`), in lists: without them, nobody can rebuild the instances.

Reads `02_dataset/<repo>/proposals.jsonl` for a list, and writes it from one; the build then uses the proposals as its
own. A list has only the fields that a proposal sets, not the model's text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tomli_w

from pipeline.build import proposals
from pipeline.build.proposals import ACCEPTED, Proposal
from pipeline.core.names import Repo
from pipeline.core.record import Record
from pipeline.core.records import Instance
from pipeline.core.store import Store
from pipeline.dataset.lock import Lock


def proposed(store: Store, repo: Repo, instances: Iterable[Instance]) -> dict[str, str]:
    """The fields that a model proposed, as a file of overrides, by the names of the instances that need them."""
    accepted = _accepted(store, repo)
    names = (instance.instance_id for instance in instances if instance.set_up_by)
    return {name: _toml(proposals.fields(accepted[name])) for name in names if name in accepted}


def restore(store: Store, repo: Repo, entries: Sequence[Lock]) -> None:
    """Add the proposals of a list to the repository's. Raises UserError for one that sets what no model may set."""
    listed = [entry for entry in entries if entry.proposed]
    for entry in listed:
        proposals.checked(entry.proposed)
    known = _accepted(store, repo)
    for entry in listed:
        if entry.instance_id not in known or _toml(proposals.fields(known[entry.instance_id])) != entry.proposed:
            proposals.keep(store, repo, _proposal(entry))


def _proposal(entry: Lock) -> Proposal:
    """The accepted proposal of an entry; which rejection it answered is not in a list."""
    fields: dict[str, Any] = {"instance_id": entry.instance_id, "model": entry.set_up_by, "text": entry.proposed}
    return Proposal(**fields, number=1, rejected="", ended=ACCEPTED)


def _accepted(store: Store, repo: Repo) -> dict[str, Proposal]:
    """The last accepted proposal by instance."""
    return {row.instance_id: row for row in proposals.read(store, repo) if row.ended == ACCEPTED}


def _toml(fields: Mapping[str, Any]) -> str:
    return tomli_w.dumps({"override": [{"set": json.loads(json.dumps(fields, default=_plain))}]})


def _plain(record: Record) -> dict[str, Any]:
    return record.model_dump(mode="json", exclude_defaults=True)
