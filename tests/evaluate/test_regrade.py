"""Regrading more instances than one process takes. `test_stage` covers what a verdict says."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import REPO, make_instance, make_prediction

from pipeline.core.errors import UserError
from pipeline.core.records import Outcome
from pipeline.core.store import Store, write_json, write_records
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.regrade import SHARE, regrade

SUBJECT = Subject(REPO, "magentless", "model-a")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A dataset with an empty patch for every second instance."""
    store = Store(tmp_path)
    instances = [make_instance(number) for number in range(1, 2 * SHARE + 2)]
    empty = [
        make_prediction(instance.number, model_name_or_path="model-a", model_patch="") for instance in instances[::2]
    ]
    write_records(store.dataset(REPO), instances)
    write_records(store.predictions(REPO, "magentless", "model-a") / "20240506T070809Z" / "predictions.jsonl", empty)
    names = {instance.instance_id: "0" for instance in instances}
    write_json(store.evaluation(REPO, "magentless", "model-a") / "runs.json", names)
    return store


@pytest.mark.rule("regrade")
def test_verdicts_have_the_order_of_the_dataset(store: Store) -> None:
    verdicts = regrade(store, SUBJECT)
    assert [verdict.instance_id for verdict in verdicts] == [REPO.instance_id(n) for n in range(1, 2 * SHARE + 2)]
    assert {verdict.outcome for verdict in verdicts[::2]} == {Outcome.EMPTY}
    assert {verdict.outcome for verdict in verdicts[1::2]} == {Outcome.NO_PREDICTION}


@pytest.mark.rule("bad-input")
def test_a_broken_line_is_refused_with_its_number(store: Store) -> None:
    path = store.dataset(REPO)
    path.write_text(path.read_text().replace('"number":70,', '"number":"seventy",'))
    with pytest.raises(UserError, match="valid integer") as error:
        regrade(store, SUBJECT)
    assert (error.value.path, error.value.line, error.value.field) == (path, 70, "number")


@pytest.mark.rule("bad-input")
def test_an_instance_that_occurs_in_two_parts_is_refused(store: Store) -> None:
    path = store.dataset(REPO)
    path.write_text(path.read_text() + path.read_text().splitlines(keepends=True)[0])
    with pytest.raises(UserError, match="is in this file twice") as error:
        regrade(store, SUBJECT)
    assert error.value.path == path


@pytest.mark.rule("bad-input")
def test_a_missing_dataset_is_refused(store: Store) -> None:
    store.dataset(REPO).unlink()
    with pytest.raises(UserError, match="has no dataset"):
        regrade(store, SUBJECT)
    assert not (store.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl").exists()
