"""The demo's scripted models: which answer belongs to which prompt, and how the gateway reaches them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pipeline.core.records import Candidate
from pipeline.llm.models import PROXY_URL
from pipeline.llm.scripted import ScriptedModel, load_answers

#: text that is only in prompts for a judge
JUDGING = "You judge patches"


def scripted_model(demo: Path, candidates: Iterable[Candidate]) -> ScriptedModel:
    """The model of `model.toml`. A prompt is recognized by its step and by the title of the task's statement."""
    titles = {candidate.instance_id: _title(candidate) for candidate in candidates}
    return ScriptedModel(load_answers(demo / "model.toml", lambda name, step: (f"Step: {step}", titles[name])))


def scripted_judge(demo: Path, candidates: Iterable[Candidate]) -> ScriptedModel:
    """The judge of `judge.toml`. A prompt is recognized by the title of the task's statement."""
    titles = {candidate.instance_id: _title(candidate) for candidate in candidates}
    return ScriptedModel(load_answers(demo / "judge.toml", lambda name, _: (JUDGING, titles[name])))


def surroundings(model: ScriptedModel) -> dict[str, str]:
    """The environment variables with which the gateway finds the model. The gateway is embedded, whatever proxy the
    user has."""
    environment = {name: value for name, value in os.environ.items() if name != PROXY_URL}
    return {**environment, "A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": "scripted"}


def _title(candidate: Candidate) -> str:
    return candidate.resolved_issues[0].title if candidate.resolved_issues else candidate.title
