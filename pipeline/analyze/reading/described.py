"""The content of a run's `run.json`: its agent and model, the instances that it is about, and what made its answers.

Predictions of another harness may have none, and an imported or older run records less. A file that cannot be read, or
has another form, counts as missing, with a note that says where the fault is; the answers beside it count all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from pipeline.analyze.reading.checks import valid
from pipeline.analyze.reading.metadata import Note, noted
from pipeline.core.options import MOST_ANSWERS


class Served(BaseModel):
    """The provider's name of a model that answered, with its fingerprint."""

    model: str = ""
    fingerprint: str = ""


class Entry(BaseModel):
    """A model's entry in the model list. Its key is the name of a variable, or says that none is needed."""

    name: str = Field(default="", alias="model_name")
    parameters: dict[str, Any] = Field(default={}, alias="litellm_params")
    info: dict[str, Any] = Field(default={}, alias="model_info")


class Shaping(BaseModel):
    """The versions of this program and of the agent, its settings as they were given, and the entries of the model and
    of further ones."""

    tool: str | None = None
    version: str | None = None
    settings_text: str | None = None
    model: Entry = Entry()
    further_models: tuple[Entry, ...] | None = None


class About(BaseModel):
    """The record. `agent` and `model` are the run's owners, `instances` those that it is about, None for all, and
    `experiment` is the one that paid for its answers, empty if the run does not record it."""

    agent: str
    model: str
    instances: frozenset[str] | None = None
    experiment: str = ""
    started: str | None = None
    settings: str | None = None
    attempts: int | None = Field(default=None, ge=1, le=MOST_ANSWERS)
    served_by: tuple[Served, ...] = ()
    shaped_by: Shaping = Shaping()


def described(path: Path, note: Note) -> About | None:
    """What a file says; None if it is missing, or is left out with a note."""
    return noted(path, note, lambda fields, _: valid(About, fields, path))
