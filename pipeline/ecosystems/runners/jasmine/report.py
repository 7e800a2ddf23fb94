"""Jasmine's tests (Jasmine 3 and later, by `reporter.cjs`).

If a hook of a group fails, its file counts as one that could not run, like a file that cannot be loaded. A hook outside
every group belongs to all files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import (
    EVERYWHERE,
    STATUSES,
    ForgedReport,
    Report,
    Reported,
    ReportError,
    collect,
    load,
    relative,
)

#: left out by a filter, or because others are focused
_EXCLUDED = "excluded"


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    data = load(text)
    try:
        tests = data["tests"]
        success = data["overallStatus"] == "passed"
        _audit(tests, data["defined"], success and not data["hooks"], success)
        lost = [test["file"] for test in tests if test["lost"]]
        failed = {relative(file, root) or EVERYWHERE: Status.FAILED for file in (*lost, *data["hooks"])}
        reported = list(_reported(tests, root))
        return collect(reported, dict.fromkeys((test.file for test in reported), Status.PASSED) | failed, success)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _reported(tests: Sequence[Mapping[str, Any]], root: str) -> Iterator[Reported]:
    for test in tests:
        if not test["lost"]:
            yield Reported(relative(test["file"], root), tuple(test["path"]), _status(test))


def _status(test: Mapping[str, Any]) -> Status:
    return Status.SKIPPED if test["status"] == _EXCLUDED else STATUSES[test["status"]]


def _audit(tests: Sequence[Mapping[str, Any]], defined: int, clean: bool, success: bool) -> None:
    """Check that all declared specs ended, and that Jasmine's overall status agrees with them."""
    failed = sum(_status(test) is Status.FAILED for test in tests)
    if len(tests) != defined:
        raise ForgedReport(f"the report does not add up: {len(tests)} read, {defined} reported")
    if success and (failed or not clean):
        raise ForgedReport(f"the report does not add up: {failed} failed, and all passed")
