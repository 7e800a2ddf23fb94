"""What an agent says of itself in `metadata.json` and `error.json`, read so that no content can end a step.

Agents that run code are untrusted: their files may be folders, not JSON, or of another form. What does not answer the
question counts as not said. An agent in a container is never believed about who failed.
"""

from __future__ import annotations

import json
import re
from typing import Any

#: files of a unit that are ours, or are read: each is a file, whatever an agent makes of its name
NAMES = ("manifest.json", "error.json", "metadata.json", "patch.diff", "agent.log")
#: how an end and a cause are written, at most
_WORD = re.compile(r"[\w][\w .:-]{0,63}")
#: characters that are kept of what an agent says of its failure
_MESSAGE = 2000


def metadata(data: bytes | None) -> dict[str, Any]:
    """What `metadata.json` says, without the fields that are of another form than asked for."""
    said = _object(data)
    return {name: value for name, value in said.items() if _FORMS.get(name, _any)(value)}


def error(data: bytes | None) -> tuple[str, str]:
    """The cause and the message of `error.json`; `provider` where it names none."""
    said = _object(data)
    cause, message = said.get("cause"), said.get("message", "")
    return (str(cause) if _is_word(cause) else "provider"), str(message)[:_MESSAGE]


def _object(data: bytes | None) -> dict[str, Any]:
    try:
        said = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _any(_: Any) -> bool:
    return True


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(_WORD.fullmatch(value))


def _is_funnel(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(count, int) for count in value.values())


def _is_sets(value: Any) -> bool:
    """Steps with the paths that each had."""
    return isinstance(value, list) and all(isinstance(one, dict) and all(map(_is_paths, one.values())) for one in value)


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(path, str) for path in value)


#: the fields that anybody reads, and their forms
_FORMS = {"outcome": _is_word, "funnel": _is_funnel, "sets": _is_sets}
