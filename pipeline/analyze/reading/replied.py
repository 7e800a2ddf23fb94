"""The result of each of an agent's replies in every attempt: whether it was read, matched, applied and parsed.

Reads `samples` of an agent's `metadata.json`, if there are any: each records the stage of the agent's funnel that its
replies reached. Does not read trajectories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from pipeline.core.errors import UserError

#: the stages of the funnel that a reply passes, in order
STAGES = ("edited", "matched", "applied", "parses")
#: the ways of matching of an edit that fits its file verbatim, or creates a file
VERBATIM = ("exact", "new file")
#: sample, number of the reply from 1, the stages that it passed, whether every edit matched verbatim (None if it did
#: not match), and why it ended
Reply = tuple[int, int, bool, bool, bool, bool, bool | None, str]


def replies(metadata: Mapping[str, Any], path: Path) -> Iterator[Reply]:
    """The replies of an answer.

    Raises UserError for samples without these fields. A record without `replies` has only the reply that counted.
    """
    funnel = set(metadata.get("funnel", ()))
    if not funnel.issuperset(STAGES):
        return
    try:
        for sample in metadata.get("samples", ()):
            for number, reply in enumerate(sample.get("replies") or [sample], 1):
                yield _whole(sample["number"]), number, *_reply(funnel, reply)
    except (KeyError, TypeError, ValueError, AttributeError):
        hint = "a sample has a number, and each of its replies the stage it reached; correct it, or predict again"
        raise UserError(
            "a sample does not state which steps it reached", path=path, field="samples", hint=hint
        ) from None


def _reply(funnel: Set[str], reply: Mapping[str, Any]) -> tuple[bool, bool, bool, bool, bool | None, str]:
    reached = reply["reached"]
    if reached not in funnel:
        raise ValueError(reached)
    passed = STAGES[: STAGES.index(reached) + 1] if reached in STAGES else ()
    edited, matched, applied, parses = (stage in passed for stage in STAGES)
    verbatim = all(edit["match"] in VERBATIM for edit in reply.get("edits", ())) if matched else None
    return edited, matched, applied, parses, verbatim, _text(reply.get("cause") or "")


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
