"""Reading what a run's log and report say about the tests. Pure, so stored runs can be read again at any time."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from pipeline.core.records import Status
from pipeline.ecosystems import parser as parser_named
from pipeline.ecosystems.reports import EVERYWHERE, ForgedReport, Report, ReportError, has_unhandled
from pipeline.execution.run import TestRun

log = logging.getLogger(__name__)

#: the maximum length of a message about a report, which may quote the report
_LONGEST = 2000


def read(parser: str, run: TestRun) -> TestRun:
    """A run, completed by what its log and report say. Nothing else is needed."""
    if run.end != "ran" or not run.place:
        return run
    try:
        report = parser_named(parser).read(run.report, run.root)
    except ForgedReport as error:
        return replace(run, faults=(str(error)[:_LONGEST],))
    except ReportError as error:
        return replace(run, died=(str(error)[:_LONGEST],))
    except Exception as error:  # whatever a report makes a reader do: a patch must not make its run a fault of ours
        log.warning("a report cannot be read", exc_info=True)
        return replace(run, died=(f"the report cannot be read: {error!r}"[:_LONGEST],))
    if has_unhandled(run.log):
        report = _with_error(report, is_ignored=run.code == 0)
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


def _with_error(report: Report, *, is_ignored: bool) -> Report:
    """A report to which an error outside every test is added. The repository's configuration may ignore such errors:
    then the runner can still succeed. With a failing test, such as a control, nobody can tell; so they always count,
    and the qualification says whether they happen with gold, too."""
    return replace(report, suites={**report.suites, EVERYWHERE: Status.FAILED}, success=report.success and is_ignored)


def _forged(run: TestRun, report: Report, announced: bool) -> Iterator[str]:
    """Signs that something other than the runner wrote the report. A runner that was not killed announces its
    report."""
    if not announced and run.code >= 0:
        yield "the runner ended without announcing its report"
    silenced = run.control.silenced(report.tests)
    unreached = _unreached(run, report)
    yield from (f"the negative control of {file} did not fail" for file in silenced if file not in unreached)
    yield from (f"the run changed {file}" for file in run.changed)


def _died(run: TestRun, report: Report, announced: bool) -> Iterator[str]:
    """Signs that the runner itself broke: an unhandled or late error does not prove a forgery."""
    if not announced and run.code < 0:
        yield f"the runner was killed by signal {-run.code} before it announced its report"
    yield from (f"the run ended before the negative control of {file}" for file in _unreached(run, report))
    if _disagrees(run, report):
        yield f"the report says {'success' if report.success else 'failure'}, the exit code is {run.code}"


def _unreached(run: TestRun, report: Report) -> list[str]:
    """The files in which a test passed and the control did not run, where something else explains it: a hook of all
    files that fails ends Mocha, and a process that dies ends its file with Vitest."""
    failed = Status.FAILED in (*run.control.without(report.tests).values(), *report.suites.values())
    return run.control.unreached(report.tests) if failed or _disagrees(run, report) else []


def _disagrees(run: TestRun, report: Report) -> bool:
    """Whether the exit code contradicts the report."""
    return report.success != (run.code == 0)
