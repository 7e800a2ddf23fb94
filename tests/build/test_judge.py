"""From what the runs said to an instance: what of it decides nothing."""

from __future__ import annotations

import pytest
from factories import make_candidate, make_environment

from pipeline.build.judge import RUNS, Ran, judge
from pipeline.core.records import Identity, Status
from pipeline.execution.run import TestRun

FIXED, DRAWN = "src/Menu.test.js > Menu > has a name", "src/Menu.test.js > Menu > looks right"
RAN = Ran(
    environment=make_environment(),
    environment_digest="e",
    manifests="m",
    image="i",
    sandbox="scripted",
    scope="touched",
    files=("src/Menu.test.js",),
    repeats=1,
    deviations=("Node 20 in place of 18",),
    ran=Identity(),
)


def runs(drawn_in: str) -> dict[str, list[TestRun]]:
    """A test that the fix repairs, and one that compares a screenshot: it fails in one run only."""
    found = {}
    for name in RUNS:
        fails = name == drawn_in
        fixed = Status.FAILED if name == "test" else Status.PASSED
        results = {FIXED: fixed, DRAWN: Status.FAILED if fails else Status.PASSED}
        found[name] = [TestRun(results=results, by_screenshot=frozenset({DRAWN} if fails else ()))]
    return found


@pytest.mark.rule("screenshots-are-no-tests")
@pytest.mark.parametrize("run", RUNS)
def test_a_test_that_fails_by_a_screenshot_decides_nothing(run: str) -> None:
    """Else gold itself would be rejected for what another machine drew, or an instance would ask for it."""
    instance = judge(make_candidate(), RAN, runs(run))
    assert set(instance.tests) == {FIXED} and set(instance.f2p_tests) == {FIXED}
    assert instance.deviations == ("Node 20 in place of 18", f"compares screenshots, left out: {DRAWN}")


def test_one_that_passes_in_all_runs_can_not_be_told_from_others() -> None:
    instance = judge(make_candidate(), RAN, runs("none"))
    assert set(instance.tests) == {FIXED, DRAWN} and instance.deviations == RAN.deviations
