"""`results.json`: a run in the public harness's format, with further fields of ours. Pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.core.store import now
from pipeline.pages.measures import counts, criteria
from pipeline.pages.records import PageAnswer, PageVerdict, Violation
from pipeline.pages.runs import Run
from pipeline.report.statistics import pass_at_k

#: our result -> the public harness's
RESULTS = {"passed": "PASS", "failed": "FAIL", "error": "ERROR"}
#: causes of pages that were audited at least once
AUDITED = ("", "off_task", "unfinished")

Key = tuple[str, str, int]


class Timing(NamedTuple):
    """When a page was run, or could not be run (UTC), and how long its case ran, in milliseconds."""

    at: str
    duration_ms: int = 0


def results(
    run: Run,
    answers: Sequence[PageAnswer],
    verdicts: Sequence[PageVerdict],
    timings: Mapping[Key, Timing],
    settings: dict[str, Any],
) -> dict[str, Any]:
    """The document. `cost` is exact, `cost_usd` the nearest binary number; pass@k has no k above n. `axe` is null for a
    page that was cut short, or not run at all, and in which nothing was found."""
    asked = run.asked
    by_key = {verdict.key: verdict for verdict in verdicts}
    at = max((timing.at for timing in timings.values()), default=now())
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
        "tests": [case.name for case in run.cases],
        "prompts": {case.name: case.prompt for case in run.cases},
        "results": [_record(run, answer, by_key[answer.key], timings[answer.key]) for answer in answers],
        "aggregates": [_aggregate(run, case.name, model, verdicts, at) for case in run.cases for model in asked.models],
        "meta": {"sampling": sampling, "system_prompt": asked.system, **settings},
    }


def _record(run: Run, answer: PageAnswer, verdict: PageVerdict, timing: Timing) -> dict[str, Any]:
    picture, cost = run.screenshot(*answer.key), answer.usage.cost_usd
    held = verdict.holds("R") is not False and not verdict.cause
    return {
        "test_name": answer.case,
        "model_name": answer.model,
        "timestamp": timing.at,
        "generation_html_path": answer.html,
        "screenshot_path": str(picture) if (run.evaluated / picture).exists() else None,
        "test_function": {
            "status": "error" if verdict.result == "error" else "pass" if held else "fail",
            "assertions": [assertion.model_dump() for assertion in verdict.assertions],
            "error": verdict.detail or None,
            "duration_ms": timing.duration_ms,
        },
        "axe": _audit(verdict),
        "result": RESULTS[verdict.result],
        "cause": verdict.cause or None,
        "incidents": list(verdict.incidents),
        "generation": {
            "latency_s": answer.latency_s,
            "prompt_hash": hashlib.sha256(run.by_name[answer.case].prompt.encode()).hexdigest()[:16],
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


def _audit(verdict: PageVerdict) -> dict[str, Any] | None:
    """What axe-core found. Of a page that was cut short, only violations are known, not that there are none."""
    if verdict.cause not in AUDITED and not verdict.violations and not verdict.advice:
        return None
    return {
        "violation_count": sum(violation.count for violation in verdict.violations),
        "violations": [_violation(violation) for violation in verdict.violations],
        "best_practice_count": sum(violation.count for violation in verdict.advice),
        "best_practice_violations": [_violation(violation) for violation in verdict.advice],
    }


def _violation(violation: Violation) -> dict[str, Any]:
    return {**violation.model_dump(), "criteria": criteria(violation.tags)}


def _sum(*numbers: int | None) -> int | None:
    return None if None in numbers else sum(filter(None, numbers))


def _aggregate(run: Run, case: str, model: str, verdicts: Sequence[PageVerdict], at: str) -> dict[str, Any]:
    own = [verdict for verdict in verdicts if (verdict.case, verdict.model) == (case, model)]
    samples, passed = counts(model, own).get(case, (0, 0))
    pass_rates = {str(k): pass_at_k(samples, passed, k) for k in run.asked.ks if k <= samples}
    return {
        "test_name": case,
        "model_name": model,
        "n_samples": samples,
        "n_pass": passed,
        "n_error": len(own) - samples,
        "pass_at_k": pass_rates,
        "k_values": list(run.asked.ks),
        "computed_at": at,
    }
