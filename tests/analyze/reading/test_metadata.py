"""A `metadata.json` that cannot be read: reported with its path and left out; everything else is analyzed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analyze.conftest import UI, add_metadata, add_run
from factories import make_prediction

from pipeline import analyze
from pipeline.analyze.frames import Frames
from pipeline.core.store import Store, write_json

FUNNEL = {"located": 3, "shown": 2}


def said(frames: Frames, path: Path) -> str:
    """The only note about a file."""
    (note,) = (note for note in frames.notes if str(path) in note)
    return note


@pytest.mark.rule("missing-is-said")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n"funnel": {,}}', "metadata.json:2: invalid JSON"),
        ("", "metadata.json:1: invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        ('{"funnel": {"\\ud800": 1}}', "half of a character"),
        ('["located"]', "not a JSON object"),
        ('{"funnel": {"located": "many"}}', "field 'funnel'"),
        ('{"funnel": {"located": true}}', "field 'funnel'"),
        ('{"funnel": {"located": 1e999}}', "field 'funnel'"),
        (f'{{"funnel": {{"located": {10**30}}}}}', "field 'funnel'"),
        ('{"funnel": ["located"]}', "field 'funnel'"),
        ('{"funnel": null}', "field 'funnel'"),
        ('{"sets": {"located": ["a.ts"]}}', "field 'sets'"),
        ('{"sets": ["a.ts"]}', "field 'sets'"),
        ('{"sets": [{"located": "a.ts"}]}', "field 'sets'"),
        ('{"sets": [{"located": [1]}]}', "field 'sets'"),
        ('{"funnel": {"edited": 1, "matched": 1, "applied": 1, "parses": 1}, "samples": [{}]}', "field 'samples'"),
    ],
)
def test_unreadable_metadata_is_noted_and_left_out(store: Store, text: str, place: str) -> None:
    """One file with a mistake ended the whole analysis. Its answer, and the other files, still count."""
    before = analyze.load(store)
    add_metadata(store, "acme__ui-2", funnel=FUNNEL)
    path = add_metadata(store, "acme__ui-1")
    path.write_text(text, encoding="utf-8")
    frames = analyze.load(store)
    assert place in said(frames, path)
    assert set(frames.stages["instance_id"]) == {"acme__ui-2"}
    assert frames.predictions["resolved"].tolist() == before.predictions["resolved"].tolist()
    assert frames.predictions["gold_located"].isna().all()


def test_a_folder_in_place_of_the_file_is_noted(store: Store) -> None:
    path = add_metadata(store, "acme__ui-1")
    path.unlink()
    path.mkdir()
    assert "left out" in said(analyze.load(store), path)


@pytest.mark.rule("missing-is-said")
@pytest.mark.parametrize(
    ("content", "place"),
    [
        (["acme__ui-2"], "not a JSON object"),
        ({"unanswered": ["x"]}, "field 'unanswered'"),
        ({"unanswered": {"a": 3}}, "field 'unanswered'"),
    ],
)
def test_unreadable_causes_of_missing_answers_are_noted_and_unknown(store: Store, content: Any, place: str) -> None:
    path = add_run(store, UI, [make_prediction(1)]).with_name("metadata.json")
    write_json(path, content)
    frames = analyze.load(store)
    assert place in said(frames, path)
    assert not frames.predictions.query("model == 'model-a' and instance_id == 'acme__ui-2'")["ended"].notna().any()
