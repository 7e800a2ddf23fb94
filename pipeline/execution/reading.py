"""What a run's log and report say about the tests: pure, so that stored runs can be read again at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.core.records import Status
from pipeline.ecosystems import parser as parser_named
from pipeline.ecosystems.reports import ForgedReport, Report, ReportError
from pipeline.execution.run import TestRun


def read(parser: str, run: TestRun) -> TestRun:
    """A run, completed by what its log and report say. Nothing else is needed."""
    if run.end != "ran" or not run.place:
        return run
    try:
        report = parser_named(parser).read(run.report, run.root)
    except ForgedReport as error:
        return replace(run, faults=(str(error),))
    except ReportError as error:
        return replace(run, died=(str(error),))
    announced = parser_named(parser).announced(run.log.partition(b"\n")[2], run.place)
    failed = {file: status for file, status in report.suites.items() if status is Status.FAILED}
    return replace(
        run,
        results={**run.control.without(report.tests), **failed},
        suites=report.suites,
        by_snapshot=report.by_snapshot,
        by_screenshot=report.by_screenshot,
        reasons=report.reasons,
        faults=tuple(_forged(run, report, announced)),
        died=tuple(_died(run, report, announced)),
    )


def _forged(run: TestRun, report: Report, announced: bool) -> Iterator[str]:
    """Signs that something else than the runner wrote the report. A runner that no signal killed announces it."""
    if not announced and run.code >= 0:
        yield "the runner ended without announcing its report"
    yield from (f"the negative control of {file} did not fail" for file in run.control.silenced(report.tests))
    yield from (f"the run changed {file}" for file in run.changed)


def _died(run: TestRun, report: Report, announced: bool) -> Iterator[str]:
    """Signs that the runner itself broke: an unhandled or late error is no proof of a forgery."""
    if not announced and run.code < 0:
        yield f"the runner was killed by signal {-run.code} before it announced its report"
    if report.success != (run.code == 0):
        yield f"the report says {'success' if report.success else 'failure'}, the exit code is {run.code}"
