"""Mocha's tests (Mocha 3 and later, by `reporter.cjs`).

A hook that fails is no test: its file could not run as a whole, like one that can not be loaded.
"""

from __future__ import annotations

from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import STATUSES, Report, Reported, ReportError, audit, collect, load, relative

_TOTALS = {Status.PASSED: "passes", Status.FAILED: "failures", Status.SKIPPED: "pending"}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    data = load(text)
    try:
        reported = [_reported(test, root) for test in data["tests"]]
        audit((one.status for one in reported), {status: data["stats"][key] for status, key in _TOTALS.items()})
        broken = [*data["broken"], *(test["file"] for test in data["tests"] if test["hook"])]
        failed = dict.fromkeys((relative(file, root) for file in broken), Status.FAILED)
        tests = [one for one, test in zip(reported, data["tests"], strict=True) if not test["hook"]]
        suites = dict.fromkeys((one.file for one in reported), Status.PASSED) | failed
        return collect(tests, suites, not data["stats"]["failures"] and not data["broken"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _reported(test: dict[str, Any], root: str) -> Reported:
    return Reported(relative(test["file"], root), tuple(test["path"]), STATUSES[test["status"]])
