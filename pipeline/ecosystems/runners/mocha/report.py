"""Mocha's tests (Mocha 3 and later, by `reporter.cjs`).

If a hook of a group or a file fails, its file counts as one that could not run, like a file that cannot be loaded. If a
hook of each test fails, that test has failed, even if the test itself had passed; the group's other tests then do not
run.
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
    reason_digest,
    relative,
)

_TOTALS = {Status.PASSED: "passes", Status.FAILED: "failures", Status.SKIPPED: "pending"}


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    data = load(text)
    try:
        reported = [_reported(test, root) for test in data["tests"]]
        audit((test.status for test in reported), {status: data["stats"][key] for status, key in _TOTALS.items()})
        broken = [*data["broken"], *(test["file"] for test in data["tests"] if test["hook"])]
        failed = dict.fromkeys((relative(file, root) or EVERYWHERE for file in broken), Status.FAILED)
        tests = list(_tests(reported, data["tests"]))
        suites = dict.fromkeys((test.file for test in tests), Status.PASSED) | failed
        return collect(tests, suites, not data["stats"]["failures"] and not data["broken"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def _tests(reported: Sequence[Reported], rows: Sequence[Mapping[str, Any]]) -> Iterator[Reported]:
    """The tests themselves: a test whose hook failed is included once, as failed."""
    for number, (test, row) in enumerate(zip(reported, rows, strict=True)):
        next_row = rows[number + 1] if number + 1 < len(rows) else {}
        is_repeated = next_row.get("each") and (next_row["file"], next_row["path"]) == (row["file"], row["path"])
        if not row["hook"] and not is_repeated:
            yield test


def _reported(test: dict[str, Any], root: str) -> Reported:
    reason = reason_digest([test["said"]] if isinstance(test.get("said"), str) else [])
    return Reported(relative(test["file"], root), tuple(test["path"]), STATUSES[test["status"]], reason=reason)
