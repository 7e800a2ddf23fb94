"""The record of a run of predictions, `run.json` in its folder: what it shows, and what shaped its answers.

Runs that were made elsewhere record less, and may have no such file. Reads one file and writes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from pipeline.core.record import Record
from pipeline.core.store import read_record
from pipeline.core.texts import is_there


class RunRecord(Record):
    """A run's view of the stored answers. `instances` are those that it is about, None for all; `digest` names what
    all its answers have in common. `renewed` are the runs that asked again for an instance's first, second, … answer;
    it shares the others with all runs. A run of an older version has an `origin`, itself by default, which asked again
    for all its answers if it is `fresh`. Further fields are for people."""

    model_config = ConfigDict(extra="allow")

    digest: str = ""
    instances: tuple[str, ...] | None = None
    attempts: int = Field(default=1, ge=1)
    renewed: dict[str, tuple[str, ...]] = {}
    fresh: bool = False
    origin: str = ""
    started: str = ""
    settings: str = ""
    experiment: str = ""
    shaped_by: dict[str, Any] = {}
    served_by: tuple[dict[str, Any], ...] = ()


def read_run(folder: Path) -> RunRecord:
    """The record of a run's folder; without one, nothing is known and all instances are meant. Raises UserError with
    file and field."""
    path = folder / "run.json"
    return read_record(path, RunRecord) if is_there(path) else RunRecord()
