"""Records: typed, versioned, and without unknown fields."""

from __future__ import annotations

import json
import pickle

import factories
import pytest
from pydantic import BaseModel, ValidationError

import pipeline
from pipeline.analyze.measures.definition import definitions
from pipeline.analyze.plots import models
from pipeline.core import verdict
from pipeline.core.assessment import Assessment
from pipeline.core.audit import VerdictAudit
from pipeline.core.records import PUBLISHED, CostRow, Instance, Outcome, Prediction, Task
from pipeline.core.store import digest
from pipeline.dataset.forms import multi_swe_bench
from pipeline.dataset.lock import Lock
from pipeline.evaluate import final_report

#: a dataset record of Multi-SWE-bench, by its fields
MULTI_SWE_BENCH = [
    "org",
    "repo",
    "number",
    "state",
    "title",
    "body",
    "base",
    "resolved_issues",
    "fix_patch",
    "test_patch",
    "lang",
    "hints",
    "fixed_tests",
    "p2p_tests",
    "f2p_tests",
    "s2p_tests",
    "n2p_tests",
    "run_result",
    "test_patch_result",
    "fix_patch_result",
]
#: our additional fields: what decides a verdict, and where the instance comes from
OURS = {
    "schema_version",
    "environment_digest",
    "image",
    "files",
    "repeats",
    "quarantine",
    "classes",
    "tests",
    "ran",
    "law",
    "lacks",
    "stale",
    "tool",
    "a11y_reason",
    "statement_source",
    "deviations",
}


@pytest.mark.rule("instance-superset")
def test_an_instance_has_all_fields_of_multi_swe_bench() -> None:
    """Multi-SWE-bench's tools read our export, so we use their field names."""
    instance = multi_swe_bench(factories.make_instance())
    assert set(MULTI_SWE_BENCH) | OURS <= set(instance)
    assert {"test", "parser", "install", "evidence"} <= set(instance["environment"])
    assert set(instance["base"]) == {"label", "ref", "sha"}
    assert {"number", "title", "body"} <= set(instance["resolved_issues"][0])
    (triple,) = instance["f2p_tests"].values()
    assert triple == {"run": "PASS", "test": "FAIL", "fix": "PASS"}


@pytest.mark.parametrize("kind", PUBLISHED)
def test_every_published_record_has_a_closed_schema(kind: type[BaseModel]) -> None:
    schema = kind.model_json_schema()
    assert schema["title"] == kind.__name__
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("make", [factories.make_instance, factories.make_candidate, factories.make_prediction])
def test_records_survive_a_file(make) -> None:
    record = make()
    assert type(record).model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize("change", [{"typo": 1}, {"schema_version": 1}, {"instance_id": None}])
def test_unknown_fields_versions_and_types_are_refused(change: dict) -> None:
    with pytest.raises(ValidationError):
        Prediction(**factories.make_prediction().model_dump() | change)


def test_records_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        factories.make_instance().title = "other"


@pytest.mark.invariant(1)
def test_a_task_contains_nothing_of_the_solution() -> None:
    """A task is a record of its own, so no field of the gold side reaches an agent by accident."""
    instance = factories.make_instance(merge_sha="d" * 40)
    text = instance.task().model_dump_json()
    hidden = (instance.fix_patch, instance.test_patch, instance.merge_sha, instance.base.sha, *instance.expected)
    assert not any(json.dumps(secret)[1:-1] in text for secret in hidden)
    assert not set(type(instance.task()).model_fields) & {"fix_patch", "test_patch", "f2p_tests", "base", "merge_sha"}


@pytest.mark.rule("statement-source")
def test_the_statement_is_the_issue_if_there_is_one() -> None:
    """A pull request's own text can give the solution away, so it is used only if there is no issue."""
    instance = factories.make_instance(7, statement_source="issue")
    assert [issue.title for issue in instance.task().statement] == ["Menu has no name"]
    own = factories.make_instance(7, statement_source="pull_request", resolved_issues=()).task().statement
    assert [(issue.number, issue.title) for issue in own] == [(7, "Add aria-label to Menu")]


def test_expected_tests_are_all_that_must_pass() -> None:
    tests = {"a": "PPP", "b": "PFP", "c": "NSP", "d": "NNP", "e": "FFF", "f": "PNN"}
    instance = factories.make_instance(tests=tests)
    assert instance.expected == {"a", "b", "c", "d"}
    assert set(instance.fixed_tests) == set(instance.classes) == {"b", "c", "d"}
    assert Instance.model_validate_json(instance.model_dump_json()).expected == instance.expected


def test_each_test_name_is_stored_once() -> None:
    """A test's name is long; it used to be in up to six lists of an instance and twice in a verdict."""
    instance = factories.make_instance(tests={"a": "PPP", "b": "PFP snapshot", "c": "FFF"})
    verdict = factories.make_verdict(
        factories.make_prediction(), Outcome.UNRESOLVED, fixed=("x > 1",), unfixed={"x > 2": "FAILED"}
    )
    for record, names in ((instance, instance.tests), (verdict, verdict.tests)):
        text = record.model_dump_json()
        assert [text.count(json.dumps(name)) for name in names] == [1] * len(names)


def test_derived_values_follow_the_tests_of_an_instance() -> None:
    """Also in a copy with other tests, and after pickling, which copies derived values."""
    tests = {"a": "PPP", "b": "PFP snapshot", "c": "FFF", "d": "NSP"}
    instance = factories.make_instance(tests=tests)
    assert (list(instance.p2p_tests), list(instance.f2p_tests), list(instance.s2p_tests)) == (["a"], ["b"], ["d"])
    assert instance.classes == {"b": "snapshot_only", "d": "new_test"} and instance.snapshot_only == ("b",)
    assert instance.test_patch_result.failed_tests == ("b", "c") and instance.fix_patch_result.passed_count == 3
    other = instance.model_copy(update={"tests": tests | {"b": "PPP"}})
    assert list(other.p2p_tests) == ["a", "b"] and list(other.fixed_tests) == ["d"]
    assert pickle.loads(pickle.dumps(instance)) == instance == factories.make_instance(tests=tests)


@pytest.mark.parametrize("letters", ["PF", "PFX", "pfp", "PFP snap", "PFPP"])
def test_an_invalid_transition_is_refused(letters: str) -> None:
    with pytest.raises(ValidationError, match="pattern"):
        factories.make_instance(tests={"a": letters})


def test_the_outcomes_are_a_closed_set_and_every_table_covers_it() -> None:
    """A new outcome must not be missing from a report, a table or a figure."""
    words = "resolved unresolved empty not_applied no_prediction tampered crashed timeout not_evaluated"
    assert " ".join(Outcome) == words
    grouped = [final_report.GROUPS[name] for name in ("resolved", "unresolved", "empty_patch", "error", "incomplete")]
    assert sorted(outcome for group in grouped for outcome in group) == sorted(Outcome)
    assert models.MARKS.keys() == models.PATTERNS.keys() == set(Outcome)
    assert len({letter for _, letter in models.MARKS.values()}) == len(Outcome)
    (table,) = (definition for definition in definitions() if definition.name == "outcomes")
    columns = {column.name for column in table.dictionary} - {"model", "agent", "kind"}
    assert columns == {outcome.value.replace("empty", "empty_patch") for outcome in Outcome}


# -- digests ---------------------------------------------------------------------------------------------------------
class WiderTask(Task):
    """A task with the fields of a later version."""

    era: str = ""
    seen: tuple[str, ...] = ()


@pytest.mark.rule("digests")
def test_a_new_field_makes_nothing_stale() -> None:
    """Digests cover what a run can see. A field with a default, another schema or another tool version does not change
    them."""
    task = factories.make_instance().task()
    wider = WiderTask(**task.model_dump())
    assert digest(wider) == digest(task) == digest(task.model_copy(update={"tool": "9.9"}))
    assert digest([wider], {"task": wider}) == digest([task], {"task": task})
    assert digest(WiderTask(**task.model_dump(), era="late")) != digest(task)


@pytest.mark.rule("digests")
@pytest.mark.parametrize("change", [{"hints": "look"}, {"lang": "js"}, {"statement": ()}])
def test_a_changed_task_has_another_digest(change: dict) -> None:
    task = factories.make_instance().task()
    assert digest(task.model_copy(update=change)) != digest(task)


@pytest.mark.rule("digests")
@pytest.mark.parametrize("kind", [*PUBLISHED, Assessment, Lock, VerdictAudit])
def test_no_published_field_has_a_default_factory(kind: type[BaseModel]) -> None:
    """The digest would include such a default."""
    assert not [name for name, field in kind.model_fields.items() if field.default_factory]


@pytest.mark.rule("schema-version")
def test_records_have_the_version_that_made_them() -> None:
    assert factories.make_instance().tool == pipeline.__version__
    with pytest.raises(ValidationError):
        factories.make_prediction(schema_version=1)


@pytest.mark.rule("costs-columns")
def test_the_columns_of_costs() -> None:
    """Other programs read `costs.csv` by these names, in this order."""
    columns = "track repo model agent embed req_llm tok_llm cost_llm_usd req_emb tok_emb cost_emb_usd"
    assert list(CostRow.model_fields) == columns.split()
    assert (
        CostRow(repo="a/b", model="m", agent="x", cost_llm_usd="0.1").cost_llm_usd * 3
        == CostRow.model_validate({"repo": "a/b", "model": "m", "agent": "x", "cost_llm_usd": "0.3"}).cost_llm_usd
    )


def test_the_table_is_looked_up_once_per_kind_of_transition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking up each of thousands of tests eight times took most of the time of a report."""
    asked, table = list[int](), verdict.table
    monkeypatch.setattr(verdict, "table", lambda: asked.append(1) or table())
    tests = {f"t{number}": ("PPP", "PFP", "NNP snapshot", "FFF")[number % 4] for number in range(400)}
    instance = factories.make_instance(tests=tests)
    assert len(instance.expected) == 300 and len(instance.fixed_tests) == 200 and len(instance.p2p_tests) == 100
    assert len(asked) < 100
