"""The output files of a run, each written atomically. `metadata.json` is last: if it exists, all do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

PATCH, TRAJECTORY, METADATA, ERROR = "patch.diff", "trajectory.jsonl", "metadata.json", "error.json"
#: the folder of the patches that were voted on: `1.diff` is the selected one
PROPOSALS = "proposals"


def clear(out: Path) -> None:
    """Create the folder and remove an earlier run's files."""
    out.mkdir(parents=True, exist_ok=True)
    for name in (METADATA, PATCH, TRAJECTORY, ERROR):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / PROPOSALS, ignore_errors=True)


def write_result(
    out: Path, patches: Sequence[bytes], trajectory: Iterable[Mapping[str, Any]], metadata: Mapping[str, Any]
) -> None:
    """Write the files of a finished run; `patches` are sorted by votes, the selected one first."""
    lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in trajectory)
    for number, patch in enumerate(patches, 1):
        _write(out / PROPOSALS / f"{number}.diff", patch)
    _write(out / PATCH, patches[0] if patches else b"")
    _write(out / TRAJECTORY, "".join(lines).encode())
    _write(out / METADATA, _document(metadata))


def write_error(out: Path, cause: str, message: str) -> None:
    """Write why there is no result."""
    _write(out / ERROR, _document({"cause": cause, "message": message}))


def _document(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_name(f".{path.name}.tmp")
    unfinished.write_bytes(content)
    unfinished.replace(path)
