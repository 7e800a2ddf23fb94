"""Exports: other benchmarks' fields and values, and the way back through `collect --source dataset`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from collecting import outcomes
from factories import REPO, make_instance
from tiny_library import QUALIFIED, Bench

from pipeline.collect.sources import Options, open_source
from pipeline.collect.stage import collect_from
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Instance
from pipeline.core.store import Store
from pipeline.dataset.forms import FORMATS, RESULTS, TRANSITIONS, lines

TESTS = {"a": "PFP", "b": "PPP", "c": "NSP", "d": "NNP", "e": "FFF"}


def export(form: str, *instances: Instance) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(form, instances).splitlines()]


def again(form: str, folder: Path, *instances: Instance) -> list[Candidate]:
    """The result of stage 01 for an export."""
    path, store = folder / "export.jsonl", Store(folder / "data")
    path.write_bytes(lines(form, instances))
    collect_from(store, REPO, open_source("dataset", REPO, Options(path)), [instance.number for instance in instances])
    return [outcome for outcome in outcomes(store).values() if isinstance(outcome, Candidate)]


def what_counts(one: Instance | Candidate) -> dict[str, Any]:
    """Everything about a pull request that an instance keeps."""
    fields = {"number", "title", "body", "base", "merge_sha", "merged_at", "statement_source", "resolved_issues"}
    return one.model_dump(include=fields | {"fix_patch", "test_patch"})


@pytest.mark.rule("export")
def test_multi_swe_bench_export_has_its_own_fields_and_ours() -> None:
    (row,) = export("multi-swe-bench", make_instance(tests=TESTS))
    assert (row["state"], row["number"], row["base"]["sha"]) == ("closed", 1, "b" * 40)
    assert row["f2p_tests"] == {"a": {"run": "PASS", "test": "FAIL", "fix": "PASS"}}
    assert row["s2p_tests"] == {"c": {"run": "NONE", "test": "SKIP", "fix": "PASS"}}
    assert set(row["fixed_tests"]) == {"a", "c", "d"}
    assert row["run_result"]["passed_tests"] == ["a", "b"]
    assert set(row) - set(Instance.model_fields) == {*TRANSITIONS, *RESULTS, "classes"}


@pytest.mark.rule("export")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x1e", "\x0c", "\r"])
def test_an_instance_is_one_line_for_every_reader(form: str, mark: str) -> None:
    """SWE-bench reads a file with `str.splitlines`, which also splits at characters other than line endings."""
    instance = make_instance(title=f"Menu{mark}mute", fix_patch=make_instance().fix_patch + f"+a{mark}b\n")
    (line,) = lines(form, [instance]).decode().splitlines()
    row = json.loads(line)
    assert row["fix_patch" if form == "multi-swe-bench" else "patch"] == instance.fix_patch


@pytest.mark.rule("export")
def test_swe_bench_has_its_fields() -> None:
    (row,) = export("swe-bench", make_instance(7, tests=TESTS))
    assert (row["instance_id"], row["repo"], row["base_commit"]) == ("acme__ui-7", "acme/ui", "b" * 40)
    assert row["problem_statement"] == "Menu has no name\nA screen reader says nothing."
    assert [json.loads(row[name]) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")] == [["a", "c", "d"], ["b"]]


def test_one_statement_is_made_of_several_issues() -> None:
    (issue,) = make_instance().resolved_issues
    both = (issue, issue.model_copy(update={"title": "Menu is mute", "body": ""}))
    (row,) = export("swe-bench", make_instance(resolved_issues=both))
    assert row["problem_statement"] == "Menu has no name\nA screen reader says nothing.\n\nMenu is mute"


@pytest.mark.rule("export")
def test_multi_swe_bench_is_read_back_without_loss(tiny: Bench, tmp_path: Path) -> None:
    instances = [tiny.instance(name) for name in QUALIFIED]
    assert [*map(what_counts, again("multi-swe-bench", tmp_path, *instances))] == [*map(what_counts, instances)]


@pytest.mark.rule("export")
def test_issues_of_multi_swe_bench_are_read_back(tmp_path: Path) -> None:
    (candidate,) = again("multi-swe-bench", tmp_path, make_instance(7))
    assert what_counts(candidate) == what_counts(make_instance(7))


@pytest.mark.rule("export")
def test_swe_bench_is_read_back_with_the_fields_it_has(tmp_path: Path) -> None:
    instance = make_instance(7)
    (candidate,) = again("swe-bench", tmp_path, instance)
    same = ("number", "fix_patch", "test_patch", "merged_at")
    assert [getattr(candidate, name) for name in same] == [getattr(instance, name) for name in same]
    assert candidate.base.sha == instance.base.sha
    (issue,) = candidate.resolved_issues
    assert (issue.title, issue.body) == ("Menu has no name", "A screen reader says nothing.")


@pytest.mark.rule("bad-input")
def test_an_unknown_format_lists_the_available_ones() -> None:
    with pytest.raises(UserError, match=f"available: {', '.join(sorted(FORMATS))}"):
        lines("parquet", [])
