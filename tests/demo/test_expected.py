"""The demo's results compared with the expected ones, on data of two pull requests."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import factories
import pytest

from pipeline.core.records import Outcome
from pipeline.core.store import Store, write_records
from pipeline.demo.expected import differences

NAMED = next(iter(factories.TESTS))
EXPECTED = {
    "pulls": {
        "1": {"collect": "candidate", "build": "qualified", "fixes": [NAMED], "unstable": []},
        "2": {"collect": "candidate", "build": "regression"},
        "3": {"collect": "no_test_changes"},
    },
    "verdicts": {"oracle": {"acme__ui-1": "resolved"}, "magentless/scripted": {"acme__ui-1": "unresolved"}},
}


@pytest.fixture
def compare(tmp_path: Path) -> Callable[[dict[str, Any]], list[str]]:
    """`compare(expected)` with a data directory that matches EXPECTED."""
    store, repo = Store(tmp_path / "data"), factories.REPO
    write_records(store.raw(repo) / "candidates.jsonl", [factories.make_candidate(number) for number in (1, 2)])
    untested = factories.make_rejection(3, stage="collect", reason="no_test_changes")
    write_records(store.raw(repo) / "rejections.jsonl", [untested])
    write_records(store.qualification(repo) / "rejections.jsonl", [factories.make_rejection(2)])
    write_records(store.dataset(repo), [factories.make_instance(1)])
    for agent, model, outcome in (("oracle", "oracle", "resolved"), ("magentless", "scripted", "unresolved")):
        verdict = factories.make_verdict(factories.make_prediction(1), Outcome(outcome))
        write_records(store.evaluation(repo, agent, model) / "verdicts.jsonl", [verdict])

    def run(expected: dict[str, Any]) -> list[str]:
        (tmp_path / "expected.json").write_text(json.dumps(expected))
        return differences(store, repo, tmp_path)

    return run


Compare = Callable[[dict[str, Any]], list[str]]


def changed(*path: str, to: Any) -> dict[str, Any]:
    """EXPECTED with one value replaced, or removed."""
    expected = copy.deepcopy(EXPECTED)
    place = expected
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return expected


def test_expected_results_have_no_differences(compare: Compare) -> None:
    assert compare(EXPECTED) == []


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("pulls", "1", "build"), "regression", "#1: expected"),
        (("pulls", "1", "fixes"), [NAMED, "another"], "another"),
        (("pulls", "1", "fixes"), [], "#1: expected"),
        (("pulls", "2", "build"), "test_lost", "'build': 'regression'"),
        (("pulls", "3", "collect"), "candidate", "no_test_changes"),
        (("pulls", "3"), None, "#3: expected {}"),
        (("pulls", "4"), {"collect": "candidate"}, "#4: expected {'collect': 'candidate'}, got {}"),
        (("verdicts", "oracle", "acme__ui-1"), "empty", "oracle on acme__ui-1: expected empty, got resolved"),
        (("verdicts", "oracle", "acme__ui-1"), None, "oracle on acme__ui-1: expected None, got resolved"),
        (("verdicts", "nop"), {"acme__ui-1": "empty"}, "nop on acme__ui-1: expected empty, got None"),
        (("verdicts", "magentless/scripted", "acme__ui-1"), "resolved", "magentless/scripted on acme__ui-1"),
    ],
)
def test_every_difference_is_one_line(compare: Compare, path: tuple[str, ...], to: Any, message: str) -> None:
    (line,) = compare(changed(*path, to=to))
    assert message in line


@pytest.mark.rule("quarantine")
def test_a_flaky_test_is_left_out_on_both_sides(compare: Compare) -> None:
    """A few repeats may or may not show its flakiness."""
    expected = changed("pulls", "1", "fixes", to=[NAMED, "sometimes"])
    expected["pulls"]["1"]["unstable"] = ["sometimes"]
    assert compare(expected) == []
    expected["pulls"]["1"] |= {"fixes": [], "unstable": [NAMED]}
    assert compare(expected) == []
