"""The health of a base, from runners that name the files of their tests and from runners that do not."""

from __future__ import annotations

import pytest

from pipeline.build.health import may_explain, measured
from pipeline.build.judge import require_health
from pipeline.build.reasons import Rejected
from pipeline.core.records import Health, Status
from pipeline.execution.run import TestRun

FILES = {"src/a.test.js", "src/b.test.js"}
P, F = Status.PASSED, Status.FAILED


@pytest.mark.parametrize(
    ("suites", "results", "loaded"),
    [
        ({"src/a.test.js": P, "src/b.test.js": F}, {"src/a.test.js > opens": P}, 1),
        ({"src/c.test.js": P}, {"src/c.test.js > opens": P}, 0),
        ({}, {"Menu > opens": P}, 2),
        ({"karma.conf.js": P}, {"Menu > opens": P}, 2),
        ({"karma.conf.js": F}, {"Menu > opens": P}, 0),
        ({"karma.conf.js": P}, {}, 0),
    ],
)
def test_health_counts_the_files_that_load(suites: dict[str, Status], results: dict[str, Status], loaded: int) -> None:
    """Karma runs one bundle, which its configuration names: where it runs, it includes all files of the scope."""
    assert measured(TestRun(results=results, suites=suites), FILES).loaded == loaded


NONE_THERE = Health(files=0)
WELL, PARTLY_WELL = Health(files=1, loaded=1, tests=2, passed=1), Health(files=2, loaded=1, tests=2, passed=1)


@pytest.mark.parametrize(
    ("base", "reason", "may"),
    [
        (None, "no_report", False),
        (NONE_THERE, "no_report", True),  # the first test of a package: nothing has shown yet that a runner starts
        (WELL, "no_report", False),
        (NONE_THERE, "no_fix_transition", False),
        (NONE_THERE, "no_tests_run", True),  # a story, which another project of the runner tests
        (WELL, "no_tests_run", False),
        (PARTLY_WELL, "no_fix_transition", True),
        (WELL, "gold_does_not_fix", False),
        (WELL, "regression", False),
        (NONE_THERE, "environment_failed", True),
    ],
)
def test_some_rejections_may_be_due_to_the_environment(base: Health | None, reason: str, may: bool) -> None:
    assert may_explain(base, reason) is may


@pytest.mark.parametrize(("others", "passed"), [((F, F), 0), ((F, P), 2), ((), 1)])
def test_skipped_tests_do_not_make_up_for_failures(others: tuple[Status, ...], passed: int) -> None:
    """34 tests failed for want of a browser, and one that the repository skips made the base look well."""
    results = {f"src/a.test.js > {number}": status for number, status in enumerate((Status.SKIPPED, *others))}
    found = measured(TestRun(results=results, suites={"src/a.test.js": P}), FILES)
    assert (found.passed, found.well) == (passed, passed > 0)


def test_skipped_tests_do_not_make_gold_pass() -> None:
    """Otherwise the candidate, not its environment, would be to blame."""
    fix = TestRun(results={"src/a.test.js > 1": F, "src/a.test.js > 2": Status.SKIPPED}, suites={"src/a.test.js": P})
    with pytest.raises(Rejected, match="0 of 2 tests pass"):
        require_health(Health(files=1, loaded=1, tests=2), fix)
    require_health(Health(files=1, loaded=1, tests=2), TestRun(results={"src/a.test.js > 2": Status.SKIPPED}))
