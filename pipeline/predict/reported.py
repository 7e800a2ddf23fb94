"""What an agent reports about itself in `metadata.json` and `error.json`, read so that no content can end a step.

Agents that run code are untrusted: their files may be folders, not JSON, or have another form. Fields of another form
are ignored, and so are `samples`, which only agents on this machine report. An agent in a container is never believed
about who failed.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pipeline.core.store import MANIFEST

#: files of a unit that we write or read; an agent's folders with these names are left out
NAMES = (MANIFEST, "error.json", "metadata.json", "patch.diff", "agent.log")
#: the form of an outcome and of a cause
_WORD = re.compile(r"[\w][\w .:-]{0,63}")
#: the largest count, which every program can read
_MOST = 2**53
#: the most characters that are kept of an agent's error message
_MESSAGE = 2000


def metadata(data: bytes | None) -> dict[str, Any]:
    """The fields of `metadata.json`, without those that have another form than expected."""
    fields = _object(data)
    return {name: value for name, value in fields.items() if _FORMS.get(name, _any)(value)}


def error(data: bytes | None) -> tuple[str, str]:
    """The cause and the message of `error.json`; the cause is `provider` if it names none."""
    fields = _object(data)
    cause, message = fields.get("cause"), fields.get("message", "")
    return (str(cause) if _is_word(cause) else "provider"), str(message)[:_MESSAGE]


def _object(data: bytes | None) -> dict[str, Any]:
    """The object in a file, empty if there is none. Halves of characters, which no record can hold, are replaced."""
    try:
        value = json.loads(json.dumps(json.loads(data or b"{}"), ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _any(_: Any) -> bool:
    return True


def _none(_: Any) -> bool:
    return False


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(_WORD.fullmatch(value))


def _is_funnel(value: Any) -> bool:
    """Whether this maps stages to counts."""
    return isinstance(value, dict) and all(map(_is_word, value)) and all(map(_is_count, value.values()))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _is_sets(value: Any) -> bool:
    """Whether this is a list of steps with the paths of each."""
    return isinstance(value, list) and all(
        isinstance(step, dict) and all(map(_is_paths, step.values())) for step in value
    )


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(path, str) for path in value)


#: the fields that are read, and their forms
_FORMS = {"outcome": _is_word, "funnel": _is_funnel, "sets": _is_sets, "samples": _none}
