"""Karma's tests (Karma 1 and later, by `reporter.cjs`), with any framework in the browser.

The browser gets all files as one bundle, without their names: a test is `group > title` and cannot be run by its file.
A bundle that fails (a file that cannot be compiled or loaded, an error outside every test) counts as one file that
could not run, named after the configuration. So does a failing hook of Mocha's, which Karma reports as a test.
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

#: how the title of a failing hook of Mocha's begins, and how that of the test for which it ran does
_HOOK, _TEST = re.compile(r'"(?P<when>(?:before|after) (?:all|each))" hook\b'), ' for "'
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
        hook = _hook(row.path[-1])
        if hook is None:
            tests.append(row)
        elif tests and hook == ("after each", tests[-1].path[-1]):
            tests[-1] = tests[-1]._replace(status=Status.FAILED)
        else:
            broken = True
    return tests, broken


def _hook(title: str) -> tuple[str, str] | None:
    """When a failing hook ran, and the test for which it did, if any; None for a test's title. A patch chooses titles,
    so this takes no longer than their length."""
    if not (found := _HOOK.match(title)):
        return None
    rest = title[found.end() :]
    _, ran_for, test = rest.removesuffix('"').rpartition(_TEST)
    is_named = ran_for and rest.endswith('"')
    return (found["when"], test) if is_named or not rest else None


def _reported(test: dict[str, Any]) -> Reported:
    by_screenshot = bool(SCREENSHOT.search(test["said"]))
    return Reported("", tuple(test["path"]), STATUSES[test["status"]], by_screenshot=by_screenshot)
