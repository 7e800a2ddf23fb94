"""The run that the options of `agt-run` name: the newest one with these settings and this model's entry.

Reads the runs' `run.json` and the model list; writes nothing. Runs made elsewhere record neither, and are never meant.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.core.errors import UserError
from pipeline.core.run_record import read_run
from pipeline.core.store import Store
from pipeline.core.texts import read_text
from pipeline.evaluate.answers import Subject


def chosen(store: Store, subject: Subject, settings: Path | None, models: Path | None) -> Subject:
    """The subject with the newest run whose settings say the same as this file, and whose model has the entry of this
    list as far as it shapes answers. Without either, or with a run, the subject itself. Raises UserError."""
    if subject.run or not (settings or models):
        return subject
    meaning = _meaning(read_text(settings)) if settings else None
    shaping = _listed(models, subject.model) if models else None
    folder = store.predictions(subject.repo, subject.agent, subject.model)
    for path in sorted(folder.glob("*/run.json"), reverse=True):
        shaped = read_run(path.parent).shaped_by
        has_settings = meaning is None or _meaning(str(shaped.get("settings_text"))) == meaning
        if has_settings and (shaping is None or _shaping(shaped.get("model")) == shaping):
            return replace(subject, run=path.parent.name)
    names = [f"--{name} {file}" for name, file in (("settings", settings), ("models", models)) if file]
    hint = f"leave it out to evaluate the newest run, or run: {subject.command('agt-run')} {' '.join(names)}"
    raise UserError(f"no run of {subject.agent} with {subject.model} was made with {' '.join(names)}", hint=hint)


def _meaning(text: str) -> Any:
    """What settings say: TOML without comments and order, other texts as they are."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return text


def _listed(models: Path, name: str) -> Any:
    from pipeline.llm.models import load_models

    return load_models(models).get(name).shaping


def _shaping(entry: Any) -> Any:
    """The part of a recorded entry that shapes answers; None for an entry of another form."""
    from pipeline.llm.models import shaping

    tables = ("litellm_params", "model_info")
    return shaping(entry) if isinstance(entry, dict) and all(isinstance(entry.get(t), dict) for t in tables) else None
