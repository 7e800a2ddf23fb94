"""Attacks and honest patches on a small library, with Jest, Vitest and Mocha in containers: `lamp.toml`.

The tests try every thirtieth attack and every fourth honest patch with one runner each, except those marked `bench`.
`just bench attacks` tries all of them with each of their runners.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lamp_bench import CASES, DIALECTS, LampBench, cases, evaluated, make, patch_of

from pipeline.core.records import Outcome, Verdict

#: the first test of a runner waits for the verdicts on all its patches
pytestmark = [pytest.mark.engine, pytest.mark.timeout(1800)]

Verdicts = Callable[[str], dict[str, Verdict]]
#: one attack or honest patch of so many is tried here, to keep CI short; the benchmark tries all
PER_TRIED = {"attack": 30, "honest": 4}
NEVER_RESOLVED = {Outcome.UNRESOLVED, Outcome.TAMPERED, Outcome.CRASHED, Outcome.TIMEOUT}


def spread(kind: str) -> dict[str, list[str]]:
    """Assign each attack or honest patch to one of its runners, in turn."""
    found: dict[str, list[str]] = {runner: [] for runner in DIALECTS}
    cases_here = [case for case in CASES[kind] if not case.get("bench")][:: PER_TRIED[kind]]
    for number, case in enumerate(cases_here):
        own = [runner for runner in DIALECTS if runner in case.get("runners", DIALECTS)]
        found[own[number % len(own)]].append(case["name"])
    return found


SPREAD = {kind: spread(kind) for kind in ("attack", "honest")}


def pairs(kind: str) -> list[Any]:
    """Runners and names, as parameters of a test."""
    return [
        pytest.param(runner, name, id=f"{runner}-{name}") for runner, names in SPREAD[kind].items() for name in names
    ]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LampBench]:
    """`benches(runner)`: the runner's library, qualified once."""
    made: dict[str, LampBench] = {}

    def bench(runner: str) -> LampBench:
        if runner not in made:
            made[runner] = make(tmp_path_factory.mktemp(runner), runner)
        return made[runner]

    return bench


@pytest.fixture(scope="module")
def verdicts(benches: Callable[[str], LampBench]) -> Verdicts:
    """`verdicts(runner)`: the verdicts on all patches, evaluated once."""
    found: dict[str, dict[str, Verdict]] = {}

    def of(runner: str) -> dict[str, Verdict]:
        if runner not in found:
            bench = benches(runner)
            tried = {name: cases(kind, runner)[name] for kind in SPREAD for name in SPREAD[kind][runner]}
            found[runner] = evaluated(bench, {name: patch_of(bench, case) for name, case in tried.items()})
        return found[runner]

    return of


@pytest.mark.rule("test-aware")
def test_gold_passes_disguised_in_each_of_several_files(tmp_path: Path) -> None:
    """One process runs all files and loads libraries anew for each. In real instances, only the first file passed."""
    dialect = DIALECTS["jest"]
    test = f'it("has a label", () => expect(lamp("x").textContent).{dialect.equals}("x"));'
    further = {f"test/{name}.test.js": f"{dialect.imports}\n{test}\n" for name in ("another", "third")}
    instance = make(tmp_path, "jest", further).instance
    assert len(instance.expected_files) == 3
    assert instance.counter_runs.moved and not instance.counter_runs.undisguised


@pytest.mark.rule("counter-runs-once")
@pytest.mark.parametrize("runner", DIALECTS)
def test_gold_in_its_counter_runs(benches: Callable[[str], LampBench], runner: str) -> None:
    """With every runner, each fail-to-pass test can be made false. One test changes an expected value, so that its base
    version fails with a message that every patch shares. A snapshot of several lines has a first one, and gold passes
    in disguise in another folder."""
    counter_runs = benches(runner).instance.counter_runs
    kinds = ("disguised", "falsified", *(["first"] if DIALECTS[runner].kept else []), "former")
    assert counter_runs.kinds == kinds and counter_runs.hidden
    assert counter_runs.moved and set(counter_runs.said) >= {
        name for name in counter_runs.false if name.endswith((" is on", " is off"))
    }
    assert set(counter_runs.false) >= set(benches(runner).instance.fixed_tests)
    assert any(name.endswith("> says what it is") for name in counter_runs.former) and not counter_runs.undisguised
    assert set(counter_runs.former_said) == set(counter_runs.former)


@pytest.mark.rule("tampering-suite")
@pytest.mark.trap("control-by-name")
@pytest.mark.parametrize(("runner", "name"), pairs("attack"))
def test_an_attack_is_not_resolved(verdicts: Verdicts, runner: str, name: str) -> None:
    """Nor is it "not evaluated", which would be a loophole. Our first version had a control that called `it` where gold
    calls `test`, stood outside every group, and never expected an element."""
    found, case = verdicts(runner)[name], cases("attack", runner)[name]
    wanted = {Outcome(case["outcome"])} if "outcome" in case else NEVER_RESOLVED
    assert found.outcome in wanted, found.cause


@pytest.mark.rule("honest-patches")
@pytest.mark.parametrize(("runner", "name"), pairs("honest"))
def test_an_honest_patch_is_resolved(verdicts: Verdicts, runner: str, name: str) -> None:
    """However it satisfies gold's tests."""
    found = verdicts(runner)[name]
    assert (found.outcome, found.cause, found.test_aware) == (Outcome.RESOLVED, "", ())
