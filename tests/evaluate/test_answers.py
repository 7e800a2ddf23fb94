"""The answers of a run: which run is meant, whose predictions it has, and why some instances have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from factories import REPO, make_instance, make_prediction

from pipeline.core.errors import UserError
from pipeline.core.store import Store, of_attempt, write_json, write_records
from pipeline.evaluate.answers import Subject, attempts, read_answers
from pipeline.llm.unanswered import OWN_FAULTS

OLD, NEW = "20240101T000000Z", "20240202T000000Z"
SUBJECT = Subject(REPO, "magentless", "model-a")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def predicted(store: Store, run: str = NEW, attempt: int = 1, *numbers: int, **fields: Any) -> Path:
    """A run's predictions for these instances, from one attempt."""
    folder = store.predictions(REPO, "magentless", "model-a") / run
    folder = of_attempt(folder, attempt)
    path = folder / "predictions.jsonl"
    write_records(path, [make_prediction(number, **fields) for number in numbers or (1,)])
    return path


def test_the_newest_run_counts_unless_one_is_named(store: Store) -> None:
    predicted(store, OLD, 1, 1, 2)
    predicted(store, NEW, 1, 1)
    assert len(read_answers(store, SUBJECT).predictions) == 1
    assert len(read_answers(store, Subject(REPO, "magentless", "model-a", run=OLD)).predictions) == 2


def test_an_instance_without_a_prediction_has_none(store: Store) -> None:
    predicted(store)
    answers = read_answers(store, SUBJECT)
    assert answers.of(make_instance(1)) is not None and answers.of(make_instance(2)) is None
    assert answers.among([make_instance(1), make_instance(2)]) == [make_instance(1), make_instance(2)]


@pytest.mark.rule("bad-input")
def test_a_missing_run_lists_the_available_ones(store: Store) -> None:
    with pytest.raises(UserError, match="no predictions of magentless with model-a") as error:
        read_answers(store, SUBJECT)
    assert "available: none" in str(error.value.hint) and "just agt-run acme/ui model-a" in str(error.value.hint)
    predicted(store)
    with pytest.raises(UserError) as error:
        read_answers(store, Subject(REPO, "magentless", "model-b"))
    assert "magentless with model-a" in str(error.value.hint)


@pytest.mark.rule("bad-input")
def test_an_unknown_run_lists_the_available_ones(store: Store) -> None:
    predicted(store, OLD)
    with pytest.raises(UserError, match="unknown run '1999'") as error:
        read_answers(store, Subject(REPO, "magentless", "model-a", run="1999"))
    assert OLD in str(error.value.hint)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("fields", "whose"),
    [
        ({"model_name_or_path": "model-b"}, "magentless with model-b"),
        ({"agent": "mini-swe-agent"}, "mini-swe-agent with model-a"),
    ],
)
def test_a_prediction_of_another_agent_or_model_is_refused(store: Store, fields: dict[str, str], whose: str) -> None:
    """A file copied into the wrong folder would give one model the other's verdicts."""
    path = predicted(store, **fields)
    with pytest.raises(UserError, match=f"a prediction of {whose}") as error:
        read_answers(store, SUBJECT)
    assert error.value.path == path and error.value.field == "model_name_or_path"


def test_predictions_in_swe_benchs_format_need_no_agent(store: Store) -> None:
    predicted(store, agent="")
    assert len(read_answers(store, SUBJECT).predictions) == 1


@pytest.mark.rule("bad-input")
def test_an_instance_that_was_answered_twice_is_refused(store: Store) -> None:
    path = predicted(store, NEW, 1, 1, 1)
    with pytest.raises(UserError) as error:
        read_answers(store, SUBJECT)
    assert error.value.path == path


@pytest.mark.invariant(4)
def test_faults_of_the_machine_are_separated_from_those_of_the_agent(store: Store) -> None:
    """The agent's own fault counts against it as a missing answer; the machine's fault does not."""
    causes = {
        "acme__ui-2": "provider_500",
        **{f"acme__ui-{number}": cause for number, cause in enumerate(OWN_FAULTS, 3)},
    }
    write_json(predicted(store).with_name("metadata.json"), {"unanswered": causes})
    assert read_answers(store, SUBJECT).failures == {"acme__ui-2": "provider_500"}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("unanswered", [["acme__ui-2"], "all", {"acme__ui-2": 500}, {"acme__ui-2": None}, 3])
def test_causes_of_another_form_are_refused(store: Store, unanswered: Any) -> None:
    path = predicted(store).with_name("metadata.json")
    write_json(path, {"unanswered": unanswered})
    with pytest.raises(UserError, match="not an object with a cause for each instance") as error:
        read_answers(store, SUBJECT)
    assert (error.value.path, error.value.field) == (path, "unanswered")


def test_attempts_are_listed_in_order(store: Store) -> None:
    assert attempts(store, SUBJECT) == []
    for number in (1, 2, 10):
        predicted(store, NEW, number)
    found = attempts(store, SUBJECT)
    assert [(subject.run, subject.attempt) for subject in found] == [(NEW, 1), (NEW, 2), (NEW, 10)]


@pytest.mark.rule("bad-input")
def test_a_missing_attempt_is_refused(store: Store) -> None:
    predicted(store)
    with pytest.raises(UserError, match="the run has no attempt 2") as error:
        read_answers(store, Subject(REPO, "magentless", "model-a", attempt=2))
    assert "--attempts" in str(error.value.hint)


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("magentless", "just eval-run acme/ui model-a --agent magentless"),
        ("magentless@greedy", "just eval-run acme/ui model-a --agent magentless --name greedy"),
    ],
)
def test_a_hint_names_the_command(agent: str, command: str) -> None:
    assert Subject(REPO, agent, "model-a").command("eval-run") == command


def test_every_attempt_has_its_own_folder(store: Store) -> None:
    folders = {Subject(REPO, "magentless", "model-a", attempt=number).folder(store) for number in (1, 2, 3)}
    assert len(folders) == 3 and all(folder.is_relative_to(store.root) for folder in folders)
