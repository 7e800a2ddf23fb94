"""Runs of the page track: what is asked, under which name it is kept, and when two runs are the same."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pages_bench import make_case, make_run

from pipeline.core.errors import UserError
from pipeline.core.store import Store, write_json, write_records
from pipeline.pages.cases import Case, load_cases
from pipeline.pages.records import PageAnswer
from pipeline.pages.runs import Asked, Run, load_run, open_run, require_run_name, with_cases

ENTRIES = {"m": {"model": "openai/m"}}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")


@pytest.fixture
def cases(tmp_path: Path) -> list[Case]:
    make_case(tmp_path / "cases/harbour")
    make_case(tmp_path / "cases/menu")
    return load_cases(tmp_path / "cases")


def opened(store: Store, cases: list[Case], name: str = "", entries: Any = ENTRIES, **asked: Any) -> Run:
    return open_run(store, "own", cases, Asked(**{"models": ("m",)} | asked), entries, name)


def answered(run: Run) -> None:
    """Answers to all questions of a run."""
    rows = [PageAnswer(case=case, model=model, sample=n, html="x", digest="d") for case, model, n in run.keys]
    write_records(run.folder / "answers.jsonl", rows)


# -- what is asked -----------------------------------------------------------------------------------------------------
def test_models_and_ks_are_unique_and_in_order() -> None:
    asked = Asked(("b", "a", "b"), samples=5, ks=(5, 1, 5)).checked()
    assert (asked.models, asked.ks) == (("b", "a"), (1, 5))


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("asked", "field", "says"),
    [
        ({"ks": (0,)}, "k", "at least 1"),
        ({"ks": (-1,)}, "k", "at least 1"),
        ({"ks": (1, 3), "samples": 2}, "k", "pass@3 needs at least 3 samples"),
        ({"temperature": -0.1}, "temperature", "is not a temperature"),
        ({"temperature": float("nan")}, "temperature", "is not a temperature"),
        ({"temperature": float("inf")}, "temperature", "is not a temperature"),
    ],
)
def test_invalid_settings_of_a_run_are_refused(asked: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as error:
        Asked(("m",), **asked).checked()
    assert error.value.field == field and error.value.hint


def test_the_message_counts_samples_as_people_do() -> None:
    with pytest.raises(UserError, match="the run has 1 sample;"):
        Asked(("m",), ks=(2,)).checked()


@pytest.mark.parametrize(
    ("asked", "parameters"),
    [
        ({}, {}),
        ({"seed": 42}, {"seed": 44}),
        ({"seed": 0, "temperature": 0.0}, {"seed": 2, "temperature": 0.0}),
        ({"max_tokens": 100}, {"max_tokens": 100}),
    ],
)
def test_every_sample_has_its_own_seed(asked: dict[str, Any], parameters: dict[str, Any]) -> None:
    assert Asked(("m",), samples=3, **asked).parameters(2) == parameters


# -- paths -------------------------------------------------------------------------------------------------------------
def test_a_single_sample_has_no_number_in_its_name(store: Store, cases: list[Case]) -> None:
    one, many = opened(store, cases, "one"), opened(store, cases, "many", samples=2)
    assert one.html("menu", "m", 0) == Path("raw/menu/m.html")
    assert many.html("menu", "m", 1) == Path("raw/menu/m__s1.html")
    assert one.screenshot("menu", "m", 0) == Path("screenshots/menu__m.png")


@pytest.mark.rule("names")
def test_no_two_pages_share_a_screenshot(store: Store, cases: list[Case]) -> None:
    run = opened(store, cases, "one")
    names = [("a b", "c"), ("a", "b c"), ("a__b", "c"), ("a", "b__c"), ("a", "b/c"), ("A", "b_c")]
    assert len({run.screenshot(*name, 0) for name in names}) == len(names)


def test_pages_have_keys_of_case_model_and_number(store: Store, cases: list[Case]) -> None:
    run = opened(store, cases, "one", models=("m", "n"), samples=2)
    assert len(run.keys) == 8 and run.keys[:3] == [("harbour", "m", 0), ("harbour", "m", 1), ("harbour", "n", 0)]
    assert set(run.by_name) == {"harbour", "menu"}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("name", ["kept", "KEPT", "Opinions", "a/b", "..", "", "a b"])
def test_reserved_and_invalid_names_of_runs_are_refused(name: str) -> None:
    with pytest.raises(UserError):
        require_run_name(name)


# -- the same run ------------------------------------------------------------------------------------------------------
def test_the_same_questions_are_the_same_run(store: Store, cases: list[Case]) -> None:
    first = opened(store, cases)
    assert opened(store, cases).name == first.name
    assert opened(store, cases, seed=1).name != first.name
    assert opened(store, cases, entries={"m": {"model": "openai/other"}}).name not in (first.name,)
    assert opened(store, cases[:1]).name != first.name


@pytest.mark.rule("bad-input")
def test_a_name_cannot_be_reused_for_another_run(store: Store, cases: list[Case]) -> None:
    opened(store, cases, "mine")
    assert opened(store, cases, "mine").name == "mine"
    with pytest.raises(UserError, match="a different run has this name") as error:
        opened(store, cases, "mine", seed=1)
    assert error.value.path == store.pages("mine") / "run.json"


def test_fresh_answers_are_a_new_run_once_the_last_one_is_complete(store: Store, cases: list[Case]) -> None:
    first = opened(store, cases, fresh=True)
    assert opened(store, cases, fresh=True).name == first.name
    answered(first)
    assert opened(store, cases, fresh=True).name != first.name


def test_a_run_keeps_its_cases_as_they_were(store: Store, cases: list[Case]) -> None:
    run = opened(store, cases, "one")
    (cases[0].folder / "prompt.md").write_text("Another prompt")
    assert load_run(store, "one").by_name[cases[0].name].prompt == run.by_name[cases[0].name].prompt


def test_a_loaded_run_equals_the_opened_one(store: Store, cases: list[Case]) -> None:
    run = opened(store, cases, "one", samples=3, ks=(1, 3), temperature=0.5)
    loaded = load_run(store, "one")
    assert (loaded.asked, loaded.case_set, loaded.keys) == (run.asked, "own", run.keys)


def test_the_newest_run_is_the_one_that_started_last(store: Store, cases: list[Case]) -> None:
    for name, started in (("z", "2026-01-01T00:00:00Z"), ("a", "2026-02-02T00:00:00Z")):
        run = opened(store, cases, name, seed=ord(name))
        about = {"track": "pages", "case_set": "own", "cases": [], "asked": {"models": ["m"]}, "digest": name}
        write_json(run.folder / "run.json", about | {"started": started})
    assert load_run(store).name == "a"


@pytest.mark.rule("bad-input")
def test_a_missing_run_is_refused_with_a_hint(store: Store, cases: list[Case]) -> None:
    with pytest.raises(UserError, match="there is no page run"):
        load_run(store)
    opened(store, cases, "mine")
    with pytest.raises(UserError, match="unknown run of pages 'yours'") as error:
        load_run(store, "yours")
    assert "mine" in str(error.value.hint)


@pytest.mark.rule("bad-input")
def test_cases_of_another_folder_must_have_the_same_names(store: Store, cases: list[Case], tmp_path: Path) -> None:
    run = opened(store, cases, "one")
    make_case(tmp_path / "others/menu", prompt="Another prompt about a ferry and a harbour.")
    with pytest.raises(UserError, match="no case harbour"):
        with_cases(run, tmp_path / "others")
    same = with_cases(replace(run, cases=(run.by_name["menu"],)), tmp_path / "others")
    assert same.by_name["menu"].prompt.startswith("Another prompt")


def test_an_interrupted_run_of_fresh_answers_is_resumed(store: Store, cases: list[Case]) -> None:
    answered(opened(store, cases, "zeta", fresh=True))
    interrupted = opened(store, cases, fresh=True)
    assert interrupted.name != "zeta"
    assert opened(store, cases, fresh=True).name == interrupted.name


@pytest.mark.rule("bad-input")
def test_a_run_without_a_case_of_its_copy_is_refused(store: Store, cases: list[Case]) -> None:
    run = opened(store, cases)
    shutil.rmtree(run.folder / "cases/menu")
    with pytest.raises(UserError, match="lacks menu"):
        load_run(store, run.name)


@pytest.mark.rule("bad-input")
def test_a_run_with_unknown_settings_is_refused(store: Store, cases: list[Case]) -> None:
    path = opened(store, cases).folder / "run.json"
    write_json(path, json.loads(path.read_text()) | {"asked": {"unheard": 1}})
    with pytest.raises(UserError, match="does not say what was asked"):
        load_run(store)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("asked", "field"), [({"samples": "many"}, "samples"), ({"ks": 5}, "ks"), ({"models": [1]}, "models.0")]
)
def test_a_run_with_settings_of_another_type_is_refused(
    asked: dict[str, Any], field: str, store: Store, cases: list[Case]
) -> None:
    path = opened(store, cases).folder / "run.json"
    about = json.loads(path.read_text())
    write_json(path, about | {"asked": about["asked"] | asked})
    with pytest.raises(UserError, match="does not say what was asked") as refused:
        load_run(store)
    assert refused.value.field == f"asked.{field}"


# -- its answers -------------------------------------------------------------------------------------------------------
@pytest.mark.rule("bad-input")
def test_an_answer_counts_once(store: Store, cases: list[Case]) -> None:
    """Each repetition would add to the n of pass@k, and to the cost."""
    run = opened(store, cases)
    answered(run)
    path = run.folder / "answers.jsonl"
    path.write_bytes(2 * path.read_bytes())
    with pytest.raises(UserError, match="harbour m 0 is in this file twice, as record 1 and 3"):
        run.answers()


@pytest.mark.rule("bad-input")
def test_an_answer_that_was_not_requested_is_refused(store: Store, cases: list[Case]) -> None:
    run = opened(store, cases)
    answered(replace(run, asked=Asked(("m", "other"))))
    with pytest.raises(UserError, match="the run did not ask for harbour other 0"):
        run.answers()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("data", [b"<h1>another</h1>", b"\xff", None])
def test_a_page_that_is_not_the_answers_is_refused(data: bytes | None, tmp_path: Path) -> None:
    """Its observation would be stored as that of the answer, for all runs."""
    run = make_run(Store(tmp_path / "data"), tmp_path / "cases")
    answer, path = run.answers()[0], run.folder / run.answers()[0].html
    assert run.page(answer) == path.read_text()
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UserError, match="this is not the page of the answer") as refused:
        run.page(answer)
    assert (refused.value.path, "--run run" in str(refused.value)) == (path, True)
