"""`results.json`: a run in the public harness's format, with further fields of ours. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.core.store import digest
from pipeline.pages.measures import counts, criteria
from pipeline.pages.records import PageAnswer, PageVerdict, Violation
from pipeline.pages.runs import Run
from pipeline.report.statistics import pass_at_k

#: our result -> the public harness's
RESULTS = {"passed": "PASS", "failed": "FAIL", "error": "ERROR"}

Key = tuple[str, str, int]


class Seen(NamedTuple):
    """When a page was run (UTC), and how long its case ran, in milliseconds."""

    at: str = ""
    duration_ms: int = 0


def results(
    run: Run,
    answers: Sequence[PageAnswer],
    verdicts: Sequence[PageVerdict],
    seen: Mapping[Key, Seen],
    settings: dict[str, Any],
) -> dict[str, Any]:
    """The document. `cost` is exact, `cost_usd` the nearest binary number; pass@k is null for a k above n."""
    asked = run.asked
    by_key = {one.key: one for one in verdicts}
    at = max((one.at for one in seen.values()), default="")
    sampling = {
        "samples_per_case": asked.samples,
        "k_values": list(asked.ks),
        "temperature": asked.temperature,
        "base_seed": asked.seed,
        "disable_cache": asked.fresh,
    }
    return {
        "run_id": run.name,
        "case_set": run.case_set,
        "models": list(asked.models),
        "tests": [one.name for one in run.cases],
        "prompts": {one.name: one.prompt for one in run.cases},
        "results": [_record(run, one, by_key[one.key], seen[one.key]) for one in answers],
        "aggregates": [_aggregate(run, case.name, model, verdicts, at) for case in run.cases for model in asked.models],
        "meta": {"sampling": sampling, "system_prompt": asked.system, **settings},
    }


def _record(run: Run, answer: PageAnswer, verdict: PageVerdict, seen: Seen) -> dict[str, Any]:
    picture, cost = run.screenshot(*answer.key), answer.usage.cost_usd
    requirements = [one for one in verdict.assertions if one.type == "R"]
    held = all(one.status == "pass" for one in requirements)
    return {
        "test_name": answer.case,
        "model_name": answer.model,
        "timestamp": seen.at,
        "generation_html_path": answer.html,
        "screenshot_path": str(picture) if (run.evaluated / picture).exists() else None,
        "test_function": {
            "status": "error" if verdict.result == "error" else "pass" if held else "fail",
            "assertions": [one.model_dump() for one in verdict.assertions],
            "error": verdict.detail or None,
            "duration_ms": seen.duration_ms,
        },
        "axe": {
            "violation_count": sum(one.count for one in verdict.violations),
            "violations": [_violation(one) for one in verdict.violations],
            "best_practice_count": sum(one.count for one in verdict.advice),
            "best_practice_violations": [_violation(one) for one in verdict.advice],
        },
        "result": RESULTS[verdict.result],
        "cause": verdict.cause or None,
        "incidents": list(verdict.incidents),
        "generation": {
            "latency_s": answer.latency_s,
            "prompt_hash": digest(run.by_name[answer.case].prompt)[:16],
            "cached": answer.cached,
            "tokens_in": answer.usage.tokens_in,
            "tokens_out": answer.usage.tokens_out,
            "total_tokens": _sum(answer.usage.tokens_in, answer.usage.tokens_out),
            "cost_usd": None if cost is None else float(cost),
            "cost": None if cost is None else f"{cost:f}",
            "seed": answer.seed,
            "temperature": answer.temperature,
            "finish_reason": answer.finish or None,
        },
        "sample_index": answer.sample,
    }


def _violation(one: Violation) -> dict[str, Any]:
    return {**one.model_dump(), "criteria": criteria(one.tags)}


def _sum(*numbers: int | None) -> int | None:
    return None if None in numbers else sum(filter(None, numbers))


def _aggregate(run: Run, case: str, model: str, verdicts: Sequence[PageVerdict], at: str) -> dict[str, Any]:
    mine = [one for one in verdicts if (one.case, one.model) == (case, model)]
    samples, passed = counts(model, mine).get(case, (0, 0))
    found = {str(k): pass_at_k(samples, passed, k) if k <= samples else None for k in run.asked.ks}
    return {
        "test_name": case,
        "model_name": model,
        "n_samples": samples,
        "n_pass": passed,
        "n_error": len(mine) - samples,
        "pass_at_k": found,
        "k_values": list(run.asked.ks),
        "computed_at": at,
    }
