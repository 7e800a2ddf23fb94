"""Comparing what the demo did with `expected.json`: every pull request's outcome and every verdict.

A flaky test may be quarantined, or not: it decides nothing, and is left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Instance, Rejection, Verdict
from pipeline.core.store import Store, read_json, read_records


def differences(store: Store, repo: Repo, demo: Path) -> list[str]:
    """What is not as expected, one line each; empty when all is."""
    expected = read_json(demo / "expected.json")
    return [*_pulls(expected["pulls"], _actual(store, repo)), *_verdicts(store, repo, expected["verdicts"])]


def _actual(store: Store, repo: Repo) -> dict[str, dict[str, Any]]:
    """Every pull request's outcome, in the form of `expected.json`."""
    found: dict[str, dict[str, Any]] = {}
    for candidate in read_records(store.raw(repo) / "candidates.jsonl", Candidate):
        found[candidate.instance_id] = {"collect": "candidate"}
    for one in read_records(store.raw(repo) / "rejections.jsonl", Rejection):
        found[one.instance_id] = {"collect": one.reason}
    for one in read_records(store.qualification(repo) / "rejections.jsonl", Rejection):
        found[one.instance_id]["build"] = one.reason
    for instance in read_records(store.dataset(repo), Instance):
        found[instance.instance_id] |= {"build": "qualified", "fixes": set(instance.f2p_tests)}
    return {name.rpartition("-")[2]: outcome for name, outcome in found.items()}


def _pulls(expected: dict[str, dict[str, Any]], actual: dict[str, dict[str, Any]]) -> Iterator[str]:
    for number in sorted(expected.keys() | actual.keys(), key=int):
        wanted, found = dict(expected.get(number, {})), dict(actual.get(number, {}))
        unstable = set(wanted.pop("unstable", ()))
        for side in (wanted, found):
            if "fixes" in side:
                side["fixes"] = sorted(set(side["fixes"]) - unstable)
        if wanted != found:
            yield f"#{number}: expected {wanted}, got {found}"


def _verdicts(store: Store, repo: Repo, expected: dict[str, dict[str, str]]) -> Iterator[str]:
    for who, wanted in expected.items():
        agent, _, model = who.partition("/")
        path = store.evaluation(repo, agent, model or agent) / "verdicts.jsonl"
        found = {one.instance_id: str(one.outcome) for one in read_records(path, Verdict)}
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                yield f"{who} on {name}: expected {wanted.get(name)}, got {found.get(name)}"
