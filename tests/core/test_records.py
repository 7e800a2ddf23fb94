"""Records: typed, versioned, and closed to what they do not know."""

from __future__ import annotations

import json

import factories
import pytest
from pydantic import ValidationError

from pipeline.core.records import PUBLISHED, CostRow, Instance, Prediction

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
#: ours beside them: what decides a verdict, and where the instance is from
OURS = {
    "schema_version",
    "environment_digest",
    "image",
    "files",
    "repeats",
    "quarantine",
    "classes",
    "a11y_reason",
    "statement_source",
    "deviations",
}


@pytest.mark.rule("instance-superset")
def test_an_instance_has_all_fields_of_multi_swe_bench() -> None:
    """Their tools read our export, so their names are ours."""
    instance = json.loads(factories.make_instance().model_dump_json())
    assert set(MULTI_SWE_BENCH) | OURS <= set(instance)
    assert {"test", "parser", "install", "evidence"} <= set(instance["environment"])
    assert set(instance["base"]) == {"label", "ref", "sha"}
    assert {"number", "title", "body"} <= set(instance["resolved_issues"][0])
    (triple,) = instance["f2p_tests"].values()
    assert triple == {"run": "PASSED", "test": "FAILED", "fix": "PASSED"}


@pytest.mark.parametrize("kind", PUBLISHED)
def test_every_published_record_has_a_closed_schema(kind: type) -> None:
    schema = kind.model_json_schema()
    assert schema["title"] == kind.__name__
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("make", [factories.make_instance, factories.make_candidate, factories.make_prediction])
def test_records_survive_a_file(make) -> None:
    record = make()
    assert type(record).model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize("change", [{"typo": 1}, {"schema_version": 2}, {"instance_id": None}])
def test_unknown_fields_versions_and_types_are_refused(change: dict) -> None:
    with pytest.raises(ValidationError):
        Prediction(**factories.make_prediction().model_dump() | change)


def test_records_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        factories.make_instance().title = "other"


@pytest.mark.invariant(1)
def test_a_task_holds_nothing_that_gives_the_solution_away() -> None:
    """What an agent may see is a record of its own, so that no field of the gold side reaches it by accident."""
    instance = factories.make_instance(merge_sha="d" * 40)
    text = instance.task().model_dump_json()
    hidden = (instance.fix_patch, instance.test_patch, instance.merge_sha, instance.base.sha, *instance.expected)
    assert not any(json.dumps(secret)[1:-1] in text for secret in hidden)
    assert not set(type(instance.task()).model_fields) & {"fix_patch", "test_patch", "f2p_tests", "base", "merge_sha"}


@pytest.mark.rule("statement-source")
def test_the_statement_is_the_issue_where_there_is_one() -> None:
    """A pull request's own text can give the solution away: it stands in for an issue only where there is none."""
    instance = factories.make_instance(7, statement_source="issue")
    assert [issue.title for issue in instance.task().statement] == ["Menu has no name"]
    own = factories.make_instance(7, statement_source="pull_request", resolved_issues=()).task().statement
    assert [(issue.number, issue.title) for issue in own] == [(7, "Add aria-label to Menu")]


def test_what_is_expected_is_all_that_must_pass() -> None:
    tests = {"a": "PPP", "b": "PFP", "c": "NSP", "d": "NNP", "e": "FFF", "f": "PNN"}
    instance = factories.make_instance(tests=tests)
    assert instance.expected == {"a", "b", "c", "d"}
    assert set(instance.fixed_tests) == set(instance.classes) == {"b", "c", "d"}
    assert Instance.model_validate_json(instance.model_dump_json()).expected == instance.expected


@pytest.mark.rule("costs-columns")
def test_the_columns_of_costs() -> None:
    """`costs.csv` is read by other programs, by these names in this order."""
    columns = "track repo model agent embed req_llm tok_llm cost_llm_usd req_emb tok_emb cost_emb_usd"
    assert list(CostRow.model_fields) == columns.split()
    assert (
        CostRow(repo="a/b", model="m", agent="x", cost_llm_usd="0.1").cost_llm_usd * 3
        == CostRow.model_validate({"repo": "a/b", "model": "m", "agent": "x", "cost_llm_usd": "0.3"}).cost_llm_usd
    )
