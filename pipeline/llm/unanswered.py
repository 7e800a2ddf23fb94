"""Answers that a run has no prediction for: who is to blame, and which ones the agent failed to give.

A run's `metadata.json` maps each of these instances to the cause (`unanswered`) and to the answer's name (`answers`),
under which its requests are booked. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.llm.ledger import CAP_REACHED

#: causes of a missing answer for which the agent is to blame; for all others, the machine or the provider is
OWN_FAULTS = ("agent_error", CAP_REACHED)


def failures(metadata: Mapping[str, Any]) -> set[str]:
    """The names of the answers that an agent failed to give. They count as unresolved, and so does their money. Empty
    for the metadata of an earlier version."""
    causes, names = metadata.get("unanswered"), metadata.get("answers")
    if not isinstance(causes, Mapping) or not isinstance(names, Mapping):
        return set()
    return {str(names[instance]) for instance, cause in causes.items() if cause in OWN_FAULTS and instance in names}
