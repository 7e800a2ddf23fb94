"""What a run's log and report say of the tests: pure, so that stored runs can be read again at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.core.records import Status
from pipeline.ecosystems import parser as parser_named
from pipeline.ecosystems.reports import Report, ReportError
from pipeline.execution.run import TestRun


def read(parser: str, run: TestRun) -> TestRun:
    """A run with what its log and report say: nothing else is needed, so that stored ones can be read at any time."""
    if run.end != "ran" or not run.place:
        return run
    try:
        report = parser_named(parser).read(run.report, run.root)
    except ReportError as error:
        return replace(run, faults=(str(error),))
    failed = {file: status for file, status in report.suites.items() if status is Status.FAILED}
    return replace(
        run,
        results={**run.control.without(report.tests), **failed},
        suites=report.suites,
        by_snapshot=report.by_snapshot,
        by_screenshot=report.by_screenshot,
        faults=tuple(_faults(parser, run, report)),
    )


def _faults(parser: str, run: TestRun, report: Report) -> Iterator[str]:
    if not parser_named(parser).announced(run.log.partition(b"\n")[2], run.place):
        yield "the runner ended without announcing its report"
    if report.success != (run.code == 0):
        yield f"the report says {'success' if report.success else 'failure'}, the exit code is {run.code}"
    yield from (f"the negative control of {file} did not fail" for file in run.control.deaf(report.tests))
    yield from (f"the run changed {file}" for file in run.changed)
