"""Karma's tests (Karma 1 and later, by `reporter.cjs`), whatever framework runs in the browser.

The browser gets all files as one bundle and names none: a test is `group > title`, and can not be run by its file.
"""

from __future__ import annotations

from pipeline.core.records import Status
from pipeline.ecosystems.reports import STATUSES, Report, Reported, ReportError, audit, collect, load

_TOTALS = {Status.PASSED: "success", Status.FAILED: "failed", Status.SKIPPED: "skipped"}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken, does not add up, or the browser itself failed."""
    data = load(text)
    try:
        stats = data["stats"]
        if stats["error"]:
            raise ReportError("the browser or the bundle failed")
        reported = [Reported("", tuple(test["path"]), STATUSES[test["status"]]) for test in data["tests"]]
        audit((one.status for one in reported), {status: stats[key] or 0 for status, key in _TOTALS.items()})
        return collect(reported, {}, stats["exitCode"] == 0)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error
