"""Reading the task and the settings."""

from __future__ import annotations

import json

import pytest
from magentless.causes import BadInput
from magentless.inputs import load_task, read_contexts

from pipeline.llm.models import SHIPPED, load_models
from pipeline.predict.agents import load_agent


def task_data(**changes):
    names = {"instance_id": "org__lib-1", "org": "org", "repo": "lib", "lang": "ts"}
    issue = {"number": 1, "title": "T", "body": "B", "labels": ["a11y"], "state": "closed"}
    return {"schema_version": 2, **names, "statement": [issue], "hints": "", **changes}


def loaded(tmp_path, data):
    path = tmp_path / "task.json"
    path.write_text(json.dumps(data))
    return load_task(path)


@pytest.mark.trap("null-body")
def test_null_bodies_labels_and_hints_are_empty(tmp_path):
    """In MagentLess an issue whose body is null crashes the run."""
    issue = {"number": 1, "title": "T", "body": None, "labels": None, "state": None}
    task = loaded(tmp_path, task_data(statement=[issue], hints=None))
    assert (task.statement[0].body, task.statement[0].labels, task.hints) == ("", (), "")


@pytest.mark.invariant(1)
def test_a_task_that_carries_a_patch_is_refused(tmp_path):
    """The gold patch never reaches an agent, not even by mistake."""
    with pytest.raises(BadInput, match="fix_patch"):
        loaded(tmp_path, task_data(fix_patch="diff"))


@pytest.mark.parametrize(
    "changes",
    [{"schema_version": 3}, {"statement": []}, {"statement": [{"title": 3}]}],
    ids=["version", "none", "type"],
)
def test_a_broken_task_is_refused_with_file_and_field(tmp_path, changes):
    with pytest.raises(BadInput, match=f"task.json: field '{next(iter(changes))}"):
        loaded(tmp_path, task_data(**changes))


def test_settings_replace_single_defaults(make_settings):
    settings, defaults = make_settings("[samples]\nsets = 1\n"), make_settings()
    assert (settings.samples.sets, settings.samples.per_set) == (1, 5)
    assert settings.digest() != defaults.digest()
    assert make_settings("[samples]\nsets = 2\n").digest() == defaults.digest()


def test_limits_are_those_of_the_model_list(make_settings):
    """The caller passes them; at most a million tokens are used."""
    context, listed = make_settings().context, {"big": 2_000_000, "small": 8192}
    assert [context.limit(name, listed) for name in ("big", "small", "other")] == [1_000_000, 8192, 128_000]


@pytest.mark.parametrize(
    ("toml", "model", "expected"),
    [
        ("", "GLM-4.6", "Qwen3-Embedding-4B"),
        ("", "ollama-qwen2.5-coder", "ollama-qwen3-embedding"),
        ('model = ""', "ollama-qwen2.5-coder", ""),
        ('model = "text-embedding-3-small"', "local", "text-embedding-3-small"),
        ('model = {"gpt-*" = "text-embedding-3-small"}', "gpt-5", "text-embedding-3-small"),
        ('model = {"gpt-*" = "small", "gpt-5" = ""}', "gpt-5", ""),
        ('model = {"gpt-*" = "small"}', "local", "local-embedding"),
    ],
)
def test_the_embedding_model_is_that_of_the_closest_pattern(make_settings, tmp_path, toml, model, expected):
    """Agent and pipeline use the same rule: the pipeline checks the model before the first paid request."""
    retrieval = make_settings(f"[retrieval]\n{toml}\n").retrieval.of(model, {expected: 512} if expected else {})
    assert (retrieval.model, retrieval.limit) == (expected, 512 if expected else 2000)
    asked = load_agent("magentless", tmp_path / "settings.toml").further(model)
    assert asked == ((expected,) if expected else ())


def test_every_model_of_the_list_has_an_embedding_model(make_settings):
    listed = load_models(SHIPPED).models
    found = {make_settings().retrieval.of(model.name, {}).model for model in listed.values() if model.kind == "chat"}
    assert all(listed[name].kind == "embedding" for name in found)


@pytest.mark.parametrize("text", ["", "[]", '{"m": 0}', '{"m": "many"}'])
def test_invalid_contexts_are_refused(text):
    with pytest.raises(BadInput, match="--contexts"):
        read_contexts(text)
