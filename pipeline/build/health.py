"""The health of a base: which test files in scope load, and which of their tests pass.

Pure. If nothing passes on a base, the environment or the command is wrong, which says nothing about the candidate.
"""

from __future__ import annotations

from collections.abc import Collection

from pipeline.core.records import Health, Status
from pipeline.execution.run import TestRun

#: reasons for a rejection that a base which is not whole may have caused
PARTLY = ("gold_does_not_fix", "no_fix_transition", "no_tests_run")
#: what does not speak against an environment: the repository itself skips tests
FINE = (Status.PASSED, Status.SKIPPED)


def measured(run: TestRun, files: Collection[str]) -> Health:
    """What a run says of the files that should be found; of one that left no report, that none of them could be run.

    Of a runner that names no files, all are taken for loaded when any test ran and its bundle did not break. Without
    `files`, those count that the runner itself found.
    """
    tests = {name: status for name, status in run.results.items() if name not in run.suites}
    loaded = {file for file, status in run.suites.items() if status is Status.PASSED}
    loaded |= run.suites.keys() & {name.partition(" > ")[0] for name in tests}  # a hook of theirs may have failed
    if tests and not _named(run) and Status.FAILED not in run.suites.values():
        loaded = set(files)
    known = set(files) or set(run.suites)
    passed = sum(status in FINE for status in tests.values())
    return Health(files=len(known), loaded=len(loaded & known), tests=len(tests), passed=passed)


def may_explain(base: Health | None, reason: str) -> bool:
    """Whether a rejection may be the environment's fault, and not the candidate's: a runner that does not come to its
    report says so, unless something of the base passes; and one in which no base was measured says nothing."""
    if base is None:
        return False
    if reason == "no_report":
        return not base.passed
    return reason == "environment_failed" or (reason in PARTLY and not base.whole)


def _named(run: TestRun) -> bool:
    """Whether the runner says of its tests in which files they are."""
    return any(name.partition(" > ")[0] in run.suites for name in run.results if name not in run.suites)
