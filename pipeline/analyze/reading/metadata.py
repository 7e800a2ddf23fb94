"""What agents say about themselves in `metadata.json`: the funnel, the files that they located and showed, the replies.

Programs and people write these files, and no verdict depends on them. A file that cannot be read, or has another form,
is therefore left out as a whole, with a note that says where the fault is; the answer beside it counts all the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.analyze.reading import replied
from pipeline.core.errors import UserError
from pipeline.core.store import is_list_of_texts, read_object
from pipeline.core.texts import is_there
from pipeline.llm.unanswered import failures

#: gets a note on each file that is left out
Note = Callable[[str], None]

#: the steps whose files are compared with those of the gold patch
STEPS = ("located", "shown")
#: the largest count, which every program can read
_MOST = 2**53


class Metadata(NamedTuple):
    """What an agent says about one answer: position, name and count of each stage of its funnel, the files of each
    step, and its replies (replied.py). Each is empty if the agent does not report it."""

    stages: tuple[tuple[int, str, int], ...] = ()
    files: Mapping[str, frozenset[str]] = {}
    replies: tuple[replied.Reply, ...] = ()

    def gold_seen(self, gold: frozenset[str]) -> dict[str, int]:
        """How many files of the gold patch the agent located and showed; empty if it does not report them."""
        return {step: len(gold & paths) for step, paths in self.files.items()}


def read_metadata(path: Path, note: Note) -> Metadata:
    """What a file says; nothing if it is missing, or is left out with a note."""
    return noted(path, note, _metadata) or Metadata()


def unanswered(path: Path, note: Note) -> dict[str, str]:
    """Why a run has no answer to some instances, by the run's own `metadata.json`; empty under the same conditions."""
    return noted(path, note, _causes) or {}


def failed(path: Path) -> frozenset[str]:
    """The names of the answers that the agent of a run failed to give, by the same file; its faults are noted above."""
    return noted(path, lambda _: None, lambda fields, _: frozenset(failures(fields))) or frozenset()


def noted(path: Path, note: Note, read: Callable[[dict[str, Any], Path], Any]) -> Any:
    """The result of `read` for a JSON object; None if there is no file, or if it is left out with a note."""
    if not is_there(path):
        return None
    try:
        return read(_encodable(read_object(path), path), path)
    except UserError as error:
        note(f"03 predict: left out, since it cannot be read: {' '.join(str(error).split())}")
        return None


def _encodable(fields: dict[str, Any], path: Path) -> dict[str, Any]:
    """The fields, if no text has half of a character, which no table can hold. Raises UserError."""
    try:
        json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UserError("it has half of a character", path=path, hint="correct or remove the file") from None
    return fields


def _metadata(fields: Mapping[str, Any], path: Path) -> Metadata:
    return Metadata(tuple(_stages(fields, path)), _files(fields, path), tuple(replied.replies(fields, path)))


def _causes(fields: Mapping[str, Any], path: Path) -> dict[str, str]:
    causes = fields.get("unanswered", {})
    if not isinstance(causes, dict) or not is_list_of_texts([*causes.values()]):
        raise _fault("not an object with a cause for each instance", path, "unanswered")
    return causes


def _stages(fields: Mapping[str, Any], path: Path) -> Iterator[tuple[int, str, int]]:
    """The agent's funnel, in its own order. Raises UserError if a value is not a count."""
    funnel = fields.get("funnel", {})
    if not isinstance(funnel, dict):
        raise _fault("a funnel maps stages to numbers", path, "funnel")
    for position, (stage, count) in enumerate(funnel.items(), 1):
        if type(count) is not int or not 0 <= count <= _MOST:
            raise _fault(f"stage '{stage}' has no number", path, "funnel")
        yield position, stage, count


def _files(fields: Mapping[str, Any], path: Path) -> dict[str, frozenset[str]]:
    """The files of each step, over all samples."""
    sets = fields.get("sets") or []
    if not isinstance(sets, list) or not all(map(_is_step, sets)):
        raise _fault("not a list of objects with the paths of each step", path, "sets")
    return {step: frozenset(name for files in sets for name in files.get(step, ())) for step in STEPS} if sets else {}


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and all(is_list_of_texts(value.get(step, [])) for step in STEPS)


def _fault(message: str, path: Path, field: str) -> UserError:
    return UserError(message, path=path, field=field, hint="correct the file, or predict again")
