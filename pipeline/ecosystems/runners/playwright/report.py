"""Playwright's JSON report, of tests and component tests; a test in several projects counts once for each.

A file whose `beforeAll` or `afterAll` failed counts as one that could not run (`reporter.cjs`).

A test's name begins with its project, if any. A test that passes only when it is retried (`flaky`) has passed.
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
    """Read the report. Raises ReportError if it is broken or does not add up."""
    data = load(text)
    try:
        folder = relative(data["config"]["rootDir"] + "/", root)
        reported = [test for suite in data["suites"] for test in _reported(suite, folder, ())]
        stats = data["stats"]
        totals = dict.fromkeys(STATUSES.values(), 0)
        for word, status in STATUSES.items():
            totals[status] += stats[word]
        audit((test.status for test in reported), totals)
        broken = {relative(error["location"]["file"], root) for error in data["errors"] if "location" in error}
        broken |= {relative(file, root) for file in data.get("hooks", ())}
        suites = dict.fromkeys((test.file for test in reported), Status.PASSED) | dict.fromkeys(broken, Status.FAILED)
        return collect(reported, suites, not stats["unexpected"] and not data["errors"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _reported(suite: dict[str, Any], folder: str, path: tuple[str, ...]) -> Iterator[Reported]:
    for spec in suite.get("specs", ()):
        for test in spec["tests"]:
            project = (test["projectName"],) if test.get("projectName") else ()
            messages = [error.get("message", "") for result in test["results"] for error in result.get("errors", ())]
            by_screenshot = any(map(SCREENSHOT.search, messages))
            name = (*project, *path, spec["title"])
            yield Reported(folder + spec["file"], name, STATUSES[test["status"]], by_screenshot=by_screenshot)
    for child in suite.get("suites", ()):
        yield from _reported(child, folder, (*path, child["title"]))
