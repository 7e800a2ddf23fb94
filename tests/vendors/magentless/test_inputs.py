"""The task and the settings as they are read."""

from __future__ import annotations

import json

import pytest
from magentless.causes import BadInput
from magentless.inputs import load_task

from pipeline.llm.models import SHIPPED, load_models


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
    """The gold patch never reaches an agent: not even by mistake."""
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


def test_given_settings_replace_single_defaults(make_settings):
    settings, defaults = make_settings("[samples]\nsets = 1\n"), make_settings()
    assert (settings.samples.sets, settings.samples.per_set) == (1, 5)
    assert settings.digest() != defaults.digest()
    assert make_settings("[samples]\nsets = 2\n").digest() == defaults.digest()


def test_limits_of_context_are_those_of_the_model_list(make_settings):
    """What the gateway's list says of a model's context, the agent knows; a million tokens are the most it uses."""
    listed = load_models(SHIPPED).models.values()
    context, retrieval = make_settings().context, make_settings().retrieval
    given = {one.name: min(one.context, 1_000_000) for one in listed if one.context}
    assert context.models | retrieval.limits == given


def test_a_model_may_have_a_context_of_its_own(make_settings):
    context = make_settings('[context.models]\n"big" = 1000000\n').context
    assert (context.limit("big"), context.limit("other")) == (1_000_000, 128_000)
