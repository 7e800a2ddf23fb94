"""Karma's tests (Karma 1 and later, by `reporter.cjs`), with any framework in the browser.

The browser gets all files as one bundle, without their names: a test is `group > title` and cannot be run by its file.
A bundle that fails (a file that cannot be loaded, an error outside every test) counts as one file that could not run,
named after the configuration.
"""

from __future__ import annotations

from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import (
    SCREENSHOT,
    STATUSES,
    Report,
    Reported,
    ReportError,
    audit,
    collect,
    load,
    relative,
)

_TOTALS = {Status.PASSED: "success", Status.FAILED: "failed", Status.SKIPPED: "skipped"}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    data = load(text)
    try:
        stats = data["stats"]
        reported = [_reported(test) for test in data["tests"]]
        audit((test.status for test in reported), {status: stats[key] or 0 for status, key in _TOTALS.items()})
        bundle = relative(data["bundle"], root)
        suites = {bundle: Status.FAILED if stats["error"] else Status.PASSED}
        return collect(reported, suites, stats["exitCode"] == 0)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _reported(test: dict[str, Any]) -> Reported:
    by_screenshot = bool(SCREENSHOT.search(test["said"]))
    return Reported("", tuple(test["path"]), STATUSES[test["status"]], by_screenshot=by_screenshot)
