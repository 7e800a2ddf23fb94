"""The health of a base, as runners say it that name their files and as those that do not."""

from __future__ import annotations

import pytest

from pipeline.build.health import measured
from pipeline.core.records import Status
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
def test_files_that_load(suites: dict[str, Status], results: dict[str, Status], loaded: int) -> None:
    """Karma runs one bundle, named by its configuration: where it runs, all files of the scope are in it."""
    assert measured(TestRun(results=results, suites=suites), FILES).loaded == loaded
