"""Karma's tests (Karma 1 and later, by `reporter.cjs`), with any framework in the browser.

The browser gets all files as one bundle, without their names: a test is `group > title` and cannot be run by its file.
A bundle that fails (a file that cannot be loaded, an error outside every test) counts as one file that could not run,
named after the configuration. So does a failing hook of Mocha's, which Karma reports as a test.
"""

from __future__ import annotations

import re
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

#: the title of a failing hook of Mocha's, with that of the test for which it ran
_HOOK = re.compile(r'"(?P<when>(?:before|after) (?:all|each))" hook\b(?:.* for "(?P<test>.*)")?', re.DOTALL)
_TOTALS = {Status.PASSED: "success", Status.FAILED: "failed", Status.SKIPPED: "skipped"}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    data = load(text)
    try:
        stats = data["stats"]
        reported = [_reported(test) for test in data["tests"]]
        audit((test.status for test in reported), {status: stats[key] or 0 for status, key in _TOTALS.items()})
        bundle = relative(data["bundle"], root)
        tests, broken = _without_hooks(reported)
        suites = {bundle: Status.FAILED if stats["error"] or broken else Status.PASSED}
        return collect(tests, suites, stats["exitCode"] == 0)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _without_hooks(reported: list[Reported]) -> tuple[list[Reported], bool]:
    """The tests without hooks, and whether a hook failed that is not a reported test's. A test before which one
    fails does not run, and its groups are not reported. A test after which one fails is the last, and has failed."""
    tests: list[Reported] = []
    broken = False
    for row in reported:
        hook = _HOOK.fullmatch(row.path[-1])
        if hook is None:
            tests.append(row)
        elif hook["when"] == "after each" and tests and tests[-1].path[-1] == hook["test"]:
            tests[-1] = tests[-1]._replace(status=Status.FAILED)
        else:
            broken = True
    return tests, broken


def _reported(test: dict[str, Any]) -> Reported:
    by_screenshot = bool(SCREENSHOT.search(test["said"]))
    return Reported("", tuple(test["path"]), STATUSES[test["status"]], by_screenshot=by_screenshot)
