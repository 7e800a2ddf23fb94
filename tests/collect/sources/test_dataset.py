"""The source `dataset`: records of Multi-SWE-bench and of SWE-bench become the same records as any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from collecting import outcomes, reasons
from factories import FIX_PATCH, REPO, TEST_PATCH

from pipeline.collect.sources import Options, open_source
from pipeline.collect.stage import collect_from
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate
from pipeline.core.store import Store, read_json

MULTI = {
    "org": "acme",
    "repo": "ui",
    "number": 7,
    "state": "closed",
    "title": "Name the menu",
    "body": None,
    "base": {"label": "acme:main", "ref": "main", "sha": "b" * 40},
    "resolved_issues": [{"number": 3, "title": "No keyboard navigation", "body": None}],
    "fix_patch": FIX_PATCH,
    "test_patch": TEST_PATCH,
    "fixed_tests": {"a": {"run": "FAIL", "test": "FAIL", "fix": "PASS"}},
}
SWE = {
    "repo": "acme/ui",
    "instance_id": "acme__ui-8",
    "base_commit": "d" * 40,
    "patch": FIX_PATCH,
    "test_patch": TEST_PATCH,
    "problem_statement": "Menu: no aria-label\nA screen reader says nothing.",
    "hints_text": "",
    "created_at": "2024-01-02T03:04:05Z",
    "version": "1.0",
}


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "dataset.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def collect(store: Store, path: Path, *numbers: int) -> None:
    collect_from(store, REPO, open_source("dataset", REPO, Options(path)), numbers)


def test_both_forms_become_candidates(store: Store, tmp_path: Path) -> None:
    collect(store, write(tmp_path, MULTI, SWE, "", MULTI | {"repo": "other"}))
    found = outcomes(store)
    assert sorted(found) == [7, 8]
    multi, swe = found[7], found[8]
    assert isinstance(multi, Candidate) and isinstance(swe, Candidate)
    assert (multi.fix_patch, multi.test_patch, multi.base.sha) == (FIX_PATCH, TEST_PATCH, "b" * 40)
    assert (multi.body, multi.resolved_issues[0].number, multi.statement_source) == ("", 3, "issue")
    assert {one.field for one in multi.a11y_reason} == {"issue 3 title"}
    assert (swe.title, swe.resolved_issues[0].body) == ("Menu: no aria-label", "A screen reader says nothing.")
    assert read_json(store.raw(REPO) / "source.json") == {"kind": "dataset", "file": "dataset.jsonl"}


def test_the_funnel_is_the_same(store: Store, tmp_path: Path) -> None:
    quiet = MULTI["resolved_issues"][0] | {"title": "Menu is slow"}
    collect(store, write(tmp_path, MULTI | {"resolved_issues": [quiet]}, MULTI | {"number": 9, "test_patch": ""}))
    assert reasons(store) == {7: "no_a11y_evidence", 9: "no_test_changes"}


@pytest.mark.trap("unmerged-kept")
def test_an_open_pull_request_is_left_out(store: Store, tmp_path: Path) -> None:
    """Multi-SWE-bench's collection keeps what was never merged."""
    collect(store, write(tmp_path, MULTI, MULTI | {"number": 9, "state": "open"}))
    assert sorted(reasons(store)) == [7]


def test_issues_without_a_number_do_not_run_into_each_other(store: Store, tmp_path: Path) -> None:
    other = SWE | {"instance_id": "acme__ui-9", "problem_statement": "Dialog: focus trap"}
    collect(store, write(tmp_path, SWE, other))
    titles = [one.resolved_issues[0].title for one in outcomes(store).values() if isinstance(one, Candidate)]
    assert titles == ["Menu: no aria-label", "Dialog: focus trap"]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([MULTI, "{"], r"dataset\.jsonl:2: no record of a dataset"),
        ([{"a": 1}], r"dataset\.jsonl:1: no record of a dataset"),
        (["[]"], r"dataset\.jsonl:1: no record of a dataset"),
        ([MULTI | {"number": "x"}], r"dataset\.jsonl:1: field 'number'"),
        ([MULTI | {"base": {"sha": 1}}], r"dataset\.jsonl:1: field 'base\."),
        ([MULTI | {"repo": "other"}], "the file holds nothing of acme/ui"),
        ([], "the file holds nothing of acme/ui"),
    ],
)
def test_a_broken_file_is_refused(store: Store, tmp_path: Path, rows: list[Any], says: str) -> None:
    """File, line and field; what was collected before is untouched."""
    with pytest.raises(UserError, match=says):
        collect(store, write(tmp_path, *rows))
    assert list(store.root.rglob("*.jsonl")) == []


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("path", [None, Path("missing.jsonl")])
def test_a_file_that_is_not_there(path: Path | None) -> None:
    with pytest.raises(UserError, match="no such file"):
        open_source("dataset", REPO, Options(path))
