"""A `run.json` that cannot be read: reported with its path; the answers and verdicts beside it still count."""

from __future__ import annotations

from pathlib import Path

import pytest
from analyze.conftest import UI, add_run, add_verdicts
from factories import make_instance, make_prediction, make_verdict

from pipeline import analyze
from pipeline.core.records import Outcome
from pipeline.core.store import Store, write_json, write_records


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The run covers two of three instances: one is resolved, and one has no answer."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(number) for number in (1, 2, 3)])
    prediction = make_prediction(1)
    path = add_run(store, UI, [prediction])
    write_json(path.with_name("metadata.json"), {"outcomes": {}, "unanswered": {UI.instance_id(2): "provider_500"}})
    add_verdicts(store, UI, [make_verdict(prediction, Outcome.RESOLVED)])
    return store


@pytest.mark.rule("missing-is-said")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"agent": "magent', "run.json:1: invalid JSON"),
        ("", "run.json:1: invalid JSON"),
        ('["magentless"]', "not a JSON object"),
        ('{"agent": "magentless"}', "field 'model'"),
        ('{"agent": "magentless", "model": 3}', "field 'model'"),
        ('{"agent": "magentless", "model": "model-a", "instances": "all"}', "field 'instances'"),
        ('{"agent": "magentless", "model": "model-a", "experiment": null}', "field 'experiment'"),
        ('{"agent": "magentless", "model": "model-a", "attempts": 1000000000000}', "field 'attempts'"),
        ('{"agent": "magentless", "model": "model-a", "served_by": [1]}', "field 'served_by.0'"),
        ('{"agent": "magentless", "model": "model-a", "shaped_by": "by hand"}', "field 'shaped_by'"),
    ],
)
def test_an_unreadable_run_description_is_noted_and_the_run_counts(store: Store, text: str, place: str) -> None:
    """One such file ended the analysis of all models. The run still covers the same instances."""
    (path,) = store.root.rglob("run.json")
    path.write_text(text, encoding="utf-8")
    frames = analyze.load(store)
    (note,) = (note for note in frames.notes if str(path) in note)
    assert place in note and "left out" in note
    shown = frames.predictions[["agent", "model", "instance_id", "resolved", "ended"]].values.tolist()
    assert [row[:4] for row in shown] == [
        ["magentless", "model-a", UI.instance_id(1), True],
        ["magentless", "model-a", UI.instance_id(2), False],
    ]
    assert shown[1][4] == "provider_500"


def test_a_run_without_known_agent_and_model_is_left_out(store: Store) -> None:
    (path,) = store.root.rglob("run.json")
    path.write_text("", encoding="utf-8")
    write_records(path.with_name("predictions.jsonl"), [])
    frames = analyze.load(store)
    assert frames.runs.empty and any(str(path) in note for note in frames.notes)
