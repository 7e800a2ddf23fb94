"""Sheets for checking patches by hand: what is sampled, that nothing reveals whose a patch is, and how they are
read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import get_args

import pytest
from analysis_data import Size, generate
from analyze.conftest import OTHER_PATCH, UI, add_run
from click.testing import CliRunner
from factories import FIX_PATCH, make_prediction

from pipeline import analyze
from pipeline.analyze.handcheck import sheet
from pipeline.analyze.handcheck.cli import command
from pipeline.analyze.handcheck.records import RATINGS, HandCheck, Rating, patch_key
from pipeline.analyze.handcheck.sheet import MARK
from pipeline.core.errors import UserError
from pipeline.core.store import Store, read_records, write_records

FIRST = patch_key("acme__ui-1", FIX_PATCH)


def fill(path: Path, ratings: dict[str, str]) -> None:
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    with path.open("w", newline="", encoding="utf-8") as lines:
        table = csv.DictWriter(lines, sheet.HEADER)
        table.writeheader()
        table.writerows(row | {"rating": ratings.get(row["check"].removeprefix(MARK), "")} for row in rows)


@pytest.fixture
def exported(store, tmp_path) -> Path:
    return sheet.export(sheet.sample(analyze.load(store), 30, 1), tmp_path / "sheet")


def refusal(store: Store, path: Path) -> UserError:
    with pytest.raises(UserError) as caught:
        sheet.read(path, analyze.load(store), "ann")
    return caught.value


def test_every_rating_is_explained():
    assert set(RATINGS) == set(get_args(Rating))


def test_equal_patches_of_several_models_are_one_check_and_empty_patches_are_omitted(store):
    checks = sheet.sample(analyze.load(store), 30, 1)
    assert {(check.instance_id, check.patch) for check in checks} == {
        ("acme__ui-1", FIX_PATCH),
        ("acme__ui-2", FIX_PATCH),
        ("acme__ui-3", OTHER_PATCH),
        ("acme__forms-1", FIX_PATCH),
    }


def test_a_sample_has_every_model_and_is_the_same_for_the_same_seed(tmp_path):
    frames = analyze.load(generate(Store(tmp_path), Size(12, 3, 6)))
    checks = sheet.sample(frames, 6, 1)
    assert len(checks) == 6 and checks == sheet.sample(frames, 6, 1) != sheet.sample(frames, 6, 2)
    models = {model for check in checks for (_, model, name), patch in frames.patches.items() if patch == check.patch}
    assert {"model-a", "model-b", "model-c"} <= models


def test_references_are_not_sampled(store):
    add_run(store, UI, [make_prediction(2, agent="oracle", model_name_or_path="oracle", model_patch="+gold only")])
    assert "+gold only" not in {check.patch for check in sheet.sample(analyze.load(store), 30, 1)}


@pytest.mark.rule("blinded")
def test_a_sheet_does_not_name_the_models(exported):
    """RULES, Analysis: a rater who knows the model rates the model."""
    text = exported.read_text(encoding="utf-8") + exported.with_name("sheet.html").read_text(encoding="utf-8")
    assert not [word for word in ("model-a", "model-b", "magentless", "resolved on") if word in text]
    assert "Menu has no name" in text


def test_ratings_are_read_back_into_their_own_columns(store, exported):
    fill(exported, {FIRST: "Fixes ", patch_key("acme__ui-3", OTHER_PATCH): "harms"})
    sheet.add(store, sheet.read(exported, analyze.load(store), "ann"))
    rows = analyze.load(store).predictions.dropna(subset="hand_checks")
    assert rows[["model", "instance_id", "hand_checks", "hand_fixes"]].to_numpy().tolist() == [
        ["lab/model-b", "acme__ui-1", 1, True],
        ["model-a", "acme__ui-1", 1, True],
        ["model-a", "acme__ui-3", 1, False],
    ]


@pytest.mark.rule("reviews-append-only")
def test_a_later_rating_of_the_same_person_counts_and_the_earlier_stays(store):
    for rating in ("no", "fixes", "fixes"):
        counting = sheet.add(store, [HandCheck(instance_id="acme__ui-1", patch=FIRST, rater="ann", rating=rating)])
        assert [check.rating for check in counting] == [rating]
    assert [hand_check.rating for hand_check in read_records(store.handchecks, HandCheck)] == ["no", "fixes"]


def test_an_unknown_rating_is_refused_with_its_line(store, exported):
    fill(exported, {FIRST: "great"})
    error = refusal(store, exported)
    assert (error.path, error.field, error.hint) == (exported, "rating", "it is one of: fixes, partly, no, harms")
    assert exported.read_text(encoding="utf-8").splitlines()[error.line - 1].startswith(MARK + FIRST)


def test_no_name_of_a_check_is_a_number(store, exported):
    """A spreadsheet saved 1234e5678901 as 1.234E+5678904, and lost the zero of 012345678901: the ratings were refused.
    Sheets with keys are still read."""
    with exported.open(encoding="utf-8") as lines:
        names = [row["check"] for row in csv.DictReader(lines)]
    assert len(names) == 4 and all(name.startswith("p") for name in names)
    assert all(name in exported.with_name("sheet.html").read_text(encoding="utf-8") for name in names)
    exported.write_text(f"check,rating,note\n{FIRST},no,\n", encoding="utf-8")
    assert [check.patch for check in sheet.read(exported, analyze.load(store), "ann")] == [FIRST]


@pytest.mark.rule("bad-input")
def test_a_rater_has_a_name(store, exported):
    fill(exported, {FIRST: "no"})
    with pytest.raises(UserError, match="no name"):
        sheet.read(exported, analyze.load(store), " ")


@pytest.mark.rule("bad-input")
def test_a_sheet_with_other_separators_is_refused(store, exported):
    """Its ratings were silently skipped, as if every row were unrated."""
    exported.write_text(exported.read_text(encoding="utf-8").replace(",", ";"), encoding="utf-8")
    error = refusal(store, exported)
    assert (error.line, error.field) == (1, "check") and "commas" in error.hint


def test_a_patch_that_was_removed_from_the_predictions_is_refused(store, exported):
    fill(exported, {FIRST: "no"})
    for path in store.root.glob("03_predictions/repair/*/acme__ui/*/*/predictions.jsonl"):
        write_records(path, [])
    assert refusal(store, exported).field == "check"


def test_a_check_that_occurs_twice_is_refused(store, exported):
    with exported.open("a", encoding="utf-8") as lines:
        lines.write(f"{FIRST},acme__ui-1,no,\n{FIRST},acme__ui-1,fixes,\n")
    assert "occurs twice" in refusal(store, exported).message


def test_a_sheet_with_ratings_is_not_overwritten(store, exported):
    with pytest.raises(UserError, match="already exists"):
        sheet.export(sheet.sample(analyze.load(store), 30, 1), exported.parent)


def test_a_sample_without_patches_is_refused(store):
    for path in store.root.glob("03_predictions/**/predictions.jsonl"):
        path.unlink()
    with pytest.raises(UserError, match="no patch to check"):
        sheet.sample(analyze.load(store), 30, 1)


def test_export_and_import_on_the_command_line(store, tmp_path):
    arguments = ["export", str(tmp_path / "sheet"), "--size", "2", "--data", str(store.root)]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    path = tmp_path / "sheet" / "sheet.csv"
    assert done.stdout.splitlines()[-1] == f"fill in {path}"
    (one, _) = [line.split(",")[0].removeprefix(MARK) for line in path.read_text().splitlines()[1:]]
    fill(path, {one: "partly"})
    done = CliRunner().invoke(command, ["import", str(path), "--by", "ann", "--data", str(store.root)])
    assert done.stdout == "1 ratings by ann read; 1 in all\n"
