"""Playwright's JSON report, of tests and of component tests alike; a test of several projects is one of each.

A file whose `beforeAll` or `afterAll` failed could not run as a whole (`reporter.cjs`).

A test's name holds its project where there is one. A test that passes only when it is tried again (`flaky`) passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import SCREENSHOT, Report, Reported, ReportError, audit, collect, load, relative

STATUSES = {
    "expected": Status.PASSED,
    "flaky": Status.PASSED,
    "unexpected": Status.FAILED,
    "skipped": Status.SKIPPED,
}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    data = load(text)
    try:
        folder = relative(data["config"]["rootDir"] + "/", root)
        reported = [one for suite in data["suites"] for one in _reported(suite, folder, ())]
        stats = data["stats"]
        totals = dict.fromkeys(STATUSES.values(), 0)
        for word, status in STATUSES.items():
            totals[status] += stats[word]
        audit((one.status for one in reported), totals)
        broken = {relative(error["location"]["file"], root) for error in data["errors"] if "location" in error}
        broken |= {relative(file, root) for file in data.get("hooks", ())}
        suites = dict.fromkeys((one.file for one in reported), Status.PASSED) | dict.fromkeys(broken, Status.FAILED)
        return collect(reported, suites, not stats["unexpected"] and not data["errors"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _reported(suite: dict[str, Any], folder: str, path: tuple[str, ...]) -> Iterator[Reported]:
    for spec in suite.get("specs", ()):
        for test in spec["tests"]:
            project = (test["projectName"],) if test.get("projectName") else ()
            said = [error.get("message", "") for one in test["results"] for error in one.get("errors", ())]
            drawn = any(map(SCREENSHOT.search, said))
            name = (*project, *path, spec["title"])
            yield Reported(folder + spec["file"], name, STATUSES[test["status"]], by_screenshot=drawn)
    for below in suite.get("suites", ()):
        yield from _reported(below, folder, (*path, below["title"]))
