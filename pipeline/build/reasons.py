"""The closed list of reasons for rejecting a candidate, and the exception that ends its qualification."""

from __future__ import annotations

from typing import Literal

#: reason -> its meaning for people
REASONS = {
    "dependency_gone": "a package that it needs is gone from the registry",
    "download_refused": "a source of packages other than the registry is not accessible",
    "lock_file_refused": "the package manager refuses the lock file",
    "policy_refused": "a rule of the package manager forbids the install",
    "node_unsuitable": "no version of Node suits the packages",
    "native_build_failed": "a native module does not compile",
    "environment_failed": "no environment was found in which the tests can start",
    "runner_unsupported": "no supported test runner was found",
    "unsafe_path": "a file or a link leads out of the tree, or belongs to git itself",
    "patch_failed": "a gold patch does not apply to the base",
    "no_tests_run": "the gold patch's test files ran no test",
    "no_report": "the runner wrote no report",
    "report_untrusted": "the report disagrees with itself or with the exit code",
    "timeout": "the tests took too long",
    "output_limit": "the tests printed too much",
    "disk_limit": "the tests wrote too much to the disk",
    "process_limit": "the tests started too many processes",
    "regression": "a test that passed with the test patch fails with the fix",
    "gold_does_not_fix": "a test fails even with the fix",
    "test_lost": "a test is gone or skipped with the fix",
    "anomalous": "a test appears and disappears without an explanation",
    "no_fix_transition": "no test goes from FAILED to PASSED with the fix",
    "not_evaluated": "the machine, not the repository, failed: run the command again",
}

#: reasons that may be the environment's fault rather than the candidate's
ENVIRONMENTAL = frozenset(
    {
        "dependency_gone", "download_refused", "lock_file_refused", "policy_refused", "node_unsuitable",
        "native_build_failed", "environment_failed", "runner_unsupported", "no_tests_run", "no_report",
        "report_untrusted",
    }
)  # fmt: skip


class Rejected(Exception):
    """Ends the qualification of a candidate: `log` is the output of the failing command, at this `stage`. To `prepare`
    is to make files before the tests."""

    def __init__(
        self, reason: str, detail: str, *, log: str = "", stage: Literal["install", "prepare", "run"] = "run"
    ) -> None:
        self.reason, self.detail, self.log, self.stage = reason, detail, log, stage
        super().__init__(detail)
