"""Web Test Runner's tests (by `reporter.mjs`).

Each file is a page of its own. A file that cannot be loaded counts as one that could not run, and so does one with a
hook that fails: the page reports the error, but not the hook. Tests that did not run are left out.
"""

from __future__ import annotations

from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import (
    SCREENSHOT,
    STATUSES,
    ForgedReport,
    Report,
    Reported,
    ReportError,
    audit,
    collect,
    load,
    reason_digest,
    relative,
)

_TOTALS = {Status.PASSED: "passed", Status.FAILED: "failed", Status.SKIPPED: "pending"}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    data = load(text)
    try:
        files = data["files"]
        reported = [_reported(file["file"], test, root) for file in files for test in file["tests"]]
        audit((test.status for test in reported), {status: data["stats"][key] for status, key in _TOTALS.items()})
        broken = [relative(file["file"], root) for file in files if file["broken"]]
        if len(broken) != data["stats"]["broken"]:
            raise ForgedReport(f"the report does not add up: {len(broken)} files that could not run")
        suites = {relative(file["file"], root): Status.PASSED for file in files} | dict.fromkeys(broken, Status.FAILED)
        return collect(reported, suites, all(file["passed"] is True for file in files))
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _reported(file: str, test: dict[str, Any], root: str) -> Reported:
    said = [test["said"]] if isinstance(test.get("said"), str) else []
    by_screenshot = bool(SCREENSHOT.search(" ".join(said)))
    return Reported(
        relative(file, root),
        tuple(test["path"]),
        STATUSES[test["status"]],
        by_screenshot=by_screenshot,
        reason=reason_digest(said),
    )
