"""Comparing what the demo did with `expected.json`: every pull request's outcome and every verdict.

Flaky tests are left out of the comparison, since they may or may not be quarantined.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.core.dataset import read_candidates
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Rejection, Verdict
from pipeline.core.store import Store, read_json, read_records


def differences(store: Store, repo: Repo, demo: Path) -> list[str]:
    """The differences from what is expected, one line each."""
    expected = read_json(demo / "expected.json")
    return [*_pulls(expected["pulls"], _actual(store, repo)), *_verdicts(store, repo, expected["verdicts"])]


def _actual(store: Store, repo: Repo) -> dict[str, dict[str, Any]]:
    """Every pull request's outcome, in the form of `expected.json`."""
    outcomes: dict[str, dict[str, Any]] = {}
    for candidate in read_candidates(store, repo):
        outcomes[candidate.instance_id] = {"collect": "candidate"}
    for record in read_records(store.raw(repo) / "rejections.jsonl", Rejection):
        outcomes[record.instance_id] = {"collect": record.reason}
    for record in read_records(store.qualification(repo) / "rejections.jsonl", Rejection):
        outcomes[record.instance_id]["build"] = record.reason
    for instance in read_records(store.dataset(repo), Instance):
        outcomes[instance.instance_id] |= {"build": "qualified", "fixes": set(instance.f2p_tests)}
    return {name.rpartition("-")[2]: outcome for name, outcome in outcomes.items()}


def _pulls(expected: dict[str, dict[str, Any]], actual: dict[str, dict[str, Any]]) -> Iterator[str]:
    for number in sorted(expected.keys() | actual.keys(), key=int):
        expected_outcome, actual_outcome = dict(expected.get(number, {})), dict(actual.get(number, {}))
        unstable = set(expected_outcome.pop("unstable", ()))
        for side in (expected_outcome, actual_outcome):
            if "fixes" in side:
                side["fixes"] = sorted(set(side["fixes"]) - unstable)
        if expected_outcome != actual_outcome:
            yield f"#{number}: expected {expected_outcome}, got {actual_outcome}"


def _verdicts(store: Store, repo: Repo, expected: dict[str, dict[str, str]]) -> Iterator[str]:
    for run, outcomes in expected.items():
        agent, _, model = run.partition("/")
        path = store.evaluation(repo, agent, model or agent) / "verdicts.jsonl"
        actual = {verdict.instance_id: str(verdict.outcome) for verdict in read_records(path, Verdict)}
        for name in sorted(outcomes.keys() | actual.keys()):
            if outcomes.get(name) != actual.get(name):
                yield f"{run} on {name}: expected {outcomes.get(name)}, got {actual.get(name)}"
