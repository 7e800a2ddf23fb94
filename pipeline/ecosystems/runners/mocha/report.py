"""Mocha's tests (Mocha 3 and later, by `reporter.cjs`).

A hook of a group or a file that fails is no test: its file could not run as a whole, like one that cannot be loaded.
A hook of each test that fails is that test's failure, also where the test itself had passed; the group's other tests do
not run then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import (
    EVERYWHERE,
    STATUSES,
    Report,
    Reported,
    ReportError,
    audit,
    collect,
    load,
    relative,
    why,
)

_TOTALS = {Status.PASSED: "passes", Status.FAILED: "failures", Status.SKIPPED: "pending"}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    data = load(text)
    try:
        reported = [_reported(test, root) for test in data["tests"]]
        audit((one.status for one in reported), {status: data["stats"][key] for status, key in _TOTALS.items()})
        broken = [*data["broken"], *(test["file"] for test in data["tests"] if test["hook"])]
        failed = dict.fromkeys((relative(file, root) or EVERYWHERE for file in broken), Status.FAILED)
        tests = list(_tests(reported, data["tests"]))
        suites = dict.fromkeys((one.file for one in tests), Status.PASSED) | failed
        return collect(tests, suites, not data["stats"]["failures"] and not data["broken"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _tests(reported: Sequence[Reported], said: Sequence[Mapping[str, Any]]) -> Iterator[Reported]:
    """The tests themselves: what a hook of each test failed for comes once, failed."""
    for number, (one, test) in enumerate(zip(reported, said, strict=True)):
        followed = said[number + 1] if number + 1 < len(said) else {}
        again = followed.get("each") and (followed["file"], followed["path"]) == (test["file"], test["path"])
        if not test["hook"] and not again:
            yield one


def _reported(test: dict[str, Any], root: str) -> Reported:
    said = why([test["said"]] if isinstance(test.get("said"), str) else [])
    return Reported(relative(test["file"], root), tuple(test["path"]), STATUSES[test["status"]], said=said)
