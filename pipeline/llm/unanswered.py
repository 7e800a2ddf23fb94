"""Requests and answers that failed: who is to blame, and which answers an agent failed to give.

A run's `metadata.json` maps each of these instances to the cause (`unanswered`) and to the answer's name (`answers`),
under which its requests are booked. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.llm.ledger import CAP_REACHED

#: causes of a missing answer for which the agent is to blame; for all others, the machine or the provider is
OWN_FAULTS = ("agent_error", CAP_REACHED)
#: the status of an unpaid bill; and providers (LiteLLM's names) that give it another one, with the words that they use
UNPAID = "402"
BILLS = (("anthropic", "400", "credit balance is too low"),)


def booked_status(provider: str, status: str, text: str) -> str:
    """The status of a failed request as the ledger has it: that of the provider, except for an unpaid bill, which would
    look like a bad request of the agent."""
    is_unpaid = any((provider, status) == bill[:2] and bill[2] in text.lower() for bill in BILLS)
    return UNPAID if is_unpaid else status


def failures(metadata: Mapping[str, Any]) -> set[str]:
    """The names of the answers that an agent failed to give. They count as unresolved, and so does their money. Empty
    for the metadata of an earlier version."""
    causes, names = metadata.get("unanswered"), metadata.get("answers")
    if not isinstance(causes, Mapping) or not isinstance(names, Mapping):
        return set()
    return {str(names[instance]) for instance, cause in causes.items() if cause in OWN_FAULTS and instance in names}
