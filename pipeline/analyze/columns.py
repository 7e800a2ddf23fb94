"""The dictionary of columns: every column of every frame and table, with type, unit and source, as one table.

A frame is one row per thing that a stage recorded; a table (`tables/…`) is computed from frames. A new metric is one
function in `about_*.py` and its rows here. Types are pandas names, and `decimal` for exact amounts of money.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from pipeline.core.records import Outcome


class Column(NamedTuple):
    name: str
    type: str
    unit: str
    source: str


_WHO = (Column("agent", "string", "", "run.json"), Column("model", "string", "", "run.json"))
_WHERE = (Column("instance_id", "string", "", "record"), Column("repo", "string", "", "from instance_id"))
_COUNTED_REPO = Column("repo", "string", "", "repository, or 'all'")
_SPENT = (
    Column("req_llm", "Int64", "requests", "costs.csv"),
    Column("tok_llm", "Int64", "tokens", "costs.csv"),
    Column("cost_llm_usd", "decimal", "USD", "costs.csv"),
    Column("req_emb", "Int64", "requests", "costs.csv"),
    Column("tok_emb", "Int64", "tokens", "costs.csv"),
    Column("cost_emb_usd", "decimal", "USD", "costs.csv"),
)
_SCORES = (
    Column("criteria", "Int64", "assigned criteria", "criteria, of instances in the dataset"),
    Column("instances", "Int64", "instances", "instances with a criterion of the principle"),
)
_FUNNEL = (
    Column("total", "Int64", "pull requests", "funnel.json: looked at"),
    Column("tests", "Int64", "pull requests", "funnel.json: change a test file and a source file"),
    Column("a11y", "Int64", "pull requests", "funnel.json: candidates with evidence in the pull request itself"),
    Column("issues", "Int64", "pull requests", "funnel.json: of those with tests, linked to an issue"),
    Column("sample", "Int64", "candidates", "funnel.json: candidates linked to an issue"),
    Column("without_issue", "Int64", "candidates", "funnel.json: the pull request's text is the statement"),
)

COLUMNS: dict[str, tuple[Column, ...]] = {
    "funnel": (Column("repo", "string", "", "funnel.json"), *_FUNNEL),
    "candidates": (
        *_WHERE,
        Column("number", "Int64", "", "Candidate.number"),
        Column("title", "string", "", "Candidate.title"),
        Column("merged_at", "string", "UTC", "Candidate.merged_at"),
        Column("statement_source", "string", "", "Candidate.statement_source"),
        Column("chosen_by_hand", "boolean", "", "Candidate.chosen_by_hand"),
        Column("evidence", "string", "patterns", "Candidate.a11y_reason"),
    ),
    "rejections": (
        *_WHERE,
        Column("stage", "string", "", "Rejection.stage"),
        Column("reason", "string", "", "Rejection.reason"),
        Column("detail", "string", "", "Rejection.detail"),
    ),
    "criteria": (
        *_WHERE,
        Column("principle", "string", "", "Review.principles, or the criterion's first digit"),
        Column("criterion", "string", "WCAG", "Review.success_criteria; empty: only the principle was named"),
    ),
    "instances": (
        *_WHERE,
        Column("number", "Int64", "", "Instance.number"),
        Column("title", "string", "", "Instance.title"),
        Column("merged_at", "string", "UTC", "Instance.merged_at"),
        Column("statement_source", "string", "", "Instance.statement_source"),
        Column("chosen_by_hand", "boolean", "", "Instance.chosen_by_hand"),
        Column("fail_to_pass", "Int64", "tests", "Instance.f2p_tests"),
        Column("expected", "Int64", "tests", "Instance.expected"),
        Column("quarantined", "Int64", "tests", "Instance.quarantine"),
        Column("snapshot_only", "Int64", "tests", "Instance.snapshot_only"),
        Column("repeats", "Int64", "runs", "Instance.repeats"),
        Column("deviations", "Int64", "deviations", "Instance.deviations"),
    ),
    "transitions": (
        *_WHERE,
        Column("name", "string", "", "test's file and full name"),
        Column("run", "string", "", "Triple.run: base commit"),
        Column("test", "string", "", "Triple.test: with the test patch"),
        Column("fix", "string", "", "Triple.fix: with test and gold patch"),
        Column("kind", "string", "", "core/transitions.csv: class"),
        Column("must_pass", "boolean", "", "core/transitions.csv: evaluation"),
    ),
    "predictions": (
        *_WHERE,
        *_WHO,
        Column("run", "string", "", "Prediction.run"),
        Column("outcome", "string", "", "Prediction.outcome"),
        Column("empty", "boolean", "", "Prediction.model_patch is blank"),
        Column("patch_lines", "Int64", "lines", "Prediction.model_patch"),
        Column("trusted", "boolean", "", "Prediction.trusted"),
    ),
    "verdicts": (
        *_WHERE,
        *_WHO,
        Column("run", "string", "", "Verdict.run"),
        Column("outcome", "string", "", "Verdict.outcome"),
        Column("cause", "string", "", "Verdict.cause"),
        Column("expected", "Int64", "tests", "Verdict.expected"),
        Column("fixed", "Int64", "tests", "Verdict.fixed"),
        Column("unfixed", "Int64", "tests", "Verdict.unfixed"),
        Column("broken", "Int64", "tests", "Verdict.broken"),
        Column("restored", "Int64", "files", "Verdict.restored"),
    ),
    "costs": (
        Column("repo", "string", "", "costs.csv"),
        Column("model", "string", "", "costs.csv"),
        Column("agent", "string", "", "costs.csv"),
        Column("embed", "string", "", "costs.csv"),
        *_SPENT,
    ),
    "requests": (
        Column("time", "string", "UTC", "ledger"),
        Column("repo", "string", "", "ledger"),
        Column("model", "string", "", "ledger: the experiment's"),
        Column("agent", "string", "", "ledger"),
        Column("holder", "string", "", "ledger: instance_id, or 'shared'"),
        Column("kind", "string", "", "ledger: llm or embedding"),
        Column("served_by", "string", "", "ledger: the model that was asked"),
        Column("tokens_in", "Int64", "tokens", "ledger"),
        Column("tokens_out", "Int64", "tokens", "ledger"),
        Column("tokens_cached", "Int64", "tokens", "ledger"),
        Column("cost_usd", "decimal", "USD", "ledger"),
        Column("latency_ms", "Int64", "ms", "ledger"),
        Column("status", "string", "", "ledger: ok, or how it failed"),
    ),
    "tables/funnel": (_COUNTED_REPO, *_FUNNEL),
    "tables/qualification": (
        _COUNTED_REPO,
        Column("candidates", "Int64", "candidates", "candidates"),
        Column("qualified", "Int64", "instances", "instances"),
        Column("rejected", "Int64", "candidates", "rejections of build"),
        Column("pending", "Int64", "candidates", "candidates - qualified - rejected"),
        Column("qualified_pct", "Float64", "%", "qualified / (qualified + rejected)"),
    ),
    "tables/rejections": (
        Column("stage", "string", "", "rejections"),
        Column("reason", "string", "", "rejections"),
        Column("repo", "string", "", "rejections"),
        Column("pull_requests", "Int64", "pull requests", "rejections"),
    ),
    "tables/principles": (
        Column("principle", "string", "", "criteria"),
        *_SCORES,
        Column("criteria_pct", "Float64", "%", "criteria / all assigned criteria"),
        Column("instances_pct", "Float64", "%", "instances / all instances"),
    ),
    "tables/resolution": (
        *_WHO,
        _COUNTED_REPO,
        Column("instances", "Int64", "instances", "every instance of the dataset"),
        Column("evaluated", "Int64", "instances", "outcome is not not_evaluated"),
        Column("resolved", "Int64", "instances", "outcome is resolved"),
        Column("resolved_pct", "Float64", "%", "resolved / instances"),
        Column("resolved_of_evaluated_pct", "Float64", "%", "resolved / evaluated"),
        Column("incomplete", "boolean", "", "evaluated < instances"),
    ),
    "tables/outcomes": (
        *_WHO,
        *(Column(outcome.value, "Int64", "instances", "verdicts; without one: not_evaluated") for outcome in Outcome),
    ),
    "tables/principle_results": (
        *_WHO,
        Column("principle", "string", "", "criteria"),
        *_SCORES,
        Column("criteria_resolved", "Int64", "assigned criteria", "of resolved instances"),
        Column("instances_resolved", "Int64", "instances", "outcome is resolved"),
        Column("criteria_resolved_pct", "Float64", "%", "criteria_resolved / criteria"),
        Column("instances_resolved_pct", "Float64", "%", "instances_resolved / instances"),
    ),
    "tables/costs": (
        Column("repo", "string", "", "costs"),
        Column("model", "string", "", "costs"),
        Column("agent", "string", "", "costs"),
        *_SPENT,
        Column("cost_usd", "decimal", "USD", "cost_llm_usd + cost_emb_usd"),
        Column("llm_pct", "Float64", "%", "cost_llm_usd / cost_usd"),
    ),
    "tables/instance_costs": (
        Column("repo", "string", "", "requests"),
        Column("model", "string", "", "requests"),
        Column("agent", "string", "", "requests"),
        Column("holder", "string", "", "requests"),
        Column("requests", "Int64", "requests", "requests"),
        Column("tokens", "Int64", "tokens", "tokens_in + tokens_out"),
        Column("cost_usd", "decimal", "USD", "requests"),
    ),
}

_PANDAS = {"decimal": "object"}


def typed(name: str, rows: Iterable[Any]) -> pd.DataFrame:
    """A frame or table of the dictionary: its columns, in its order and types. `rows` may be a frame already."""
    columns = COLUMNS[name]
    frame = pd.DataFrame(rows if isinstance(rows, pd.DataFrame) else list(rows), columns=[c.name for c in columns])
    return frame.astype({c.name: _PANDAS.get(c.type, c.type) for c in columns})


def dictionary() -> pd.DataFrame:
    """The table above as a frame: frame or table, name, type, unit, source."""
    rows = [(place, *column) for place, columns in COLUMNS.items() for column in columns]
    return pd.DataFrame(rows, columns=["frame", *Column._fields], dtype="string")
