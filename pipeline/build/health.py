"""The health of a base: which test files in scope load, and which of their tests pass.

Pure. If nothing passes on a base, the environment or the command is wrong, and the candidate is not to blame.
"""

from __future__ import annotations

from collections.abc import Collection

from pipeline.core.records import Health, Status
from pipeline.execution.run import TestRun

#: reasons for a rejection that a partly broken base may have caused
PARTLY = ("gold_does_not_fix", "no_fix_transition", "no_tests_run")
#: statuses that do not speak against an environment: repositories skip tests on purpose
FINE = (Status.PASSED, Status.SKIPPED)


def measured(run: TestRun, files: Collection[str]) -> Health:
    """What a run says about the test files that it should find. Without a report, none of them loaded.

    If the runner names no files, all count as loaded when any test ran and its bundle did not break. Without `files`,
    the files that the runner itself found are counted.
    """
    tests = {name: status for name, status in run.results.items() if name not in run.suites}
    loaded = {file for file, status in run.suites.items() if status is Status.PASSED}
    loaded |= run.suites.keys() & {name.partition(" > ")[0] for name in tests}  # a hook of the file may have failed
    if tests and not _named(run) and Status.FAILED not in run.suites.values():
        loaded = set(files)
    known = set(files) or set(run.suites)
    return Health(files=len(known), loaded=len(loaded & known), tests=len(tests), passed=fine(tests.values()))


def fine(statuses: Collection[Status]) -> int:
    """How many of these tests do not speak against an environment; none if all that are not skipped fail."""
    all_fail = Status.FAILED in statuses and Status.PASSED not in statuses
    return 0 if all_fail else sum(status in FINE for status in statuses)


def may_explain(base: Health | None, reason: str) -> bool:
    """Whether a rejection may be the environment's fault rather than the candidate's. A missing report counts unless
    something in the base passes, and so does a run without tests. False where no base was measured."""
    if base is None:
        return False
    if reason == "no_report":
        return not base.passed
    if reason == "no_tests_run" and not base.tests:
        return True
    return reason == "environment_failed" or (reason in PARTLY and not base.whole)


def _named(run: TestRun) -> bool:
    """Whether the runner says which file each test is in."""
    return any(name.partition(" > ")[0] in run.suites for name in run.results if name not in run.suites)
