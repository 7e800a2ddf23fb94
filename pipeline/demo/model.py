"""The demo's scripted model: which answer belongs to which prompt."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.llm.scripted import ScriptedModel, load_answers
from pipeline.core.records import Candidate


def scripted_model(demo: Path, candidates: list[Candidate]) -> ScriptedModel:
    """The model of `model.toml`. A prompt is known by its step and by the title of the task's statement."""
    titles = {one.instance_id: _title(one) for one in candidates}
    return ScriptedModel(load_answers(demo / "model.toml", lambda name, step: (f"Step: {step}", titles[name])))


def _title(candidate: Candidate) -> str:
    return candidate.resolved_issues[0].title if candidate.resolved_issues else candidate.title
