"""A test run, and the form in which it is stored. Its log and report are read again each time it is loaded."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pipeline.core.records import Identity, Status
from pipeline.core.texts import unzipped
from pipeline.execution.control import Control

End = Literal["ran", "timeout", "out_of_memory", "output_limit", "disk_limit", "process_limit", "no_report", "lost"]

#: fields that are not stored as data: they are read from log and report, stored as files, or differ from run to run
_APART = (
    "results", "suites", "by_snapshot", "by_screenshot", "reasons", "faults", "died", "log", "report", "seconds",
    "memory",
)  # fmt: skip


@dataclass(frozen=True)
class TestRun:
    """The result of one execution of the tests. `reasons` has a digest of why each test failed, if the report says why.

    `faults` are signs of a forged result: totals that disagree with the tests, a whole report that the runner did
    not announce, a control that did not fail (execution.control), files of gold's that the run changed.
    `died` are signs of a broken runner, which may be nobody's fault: a report that is cut off, or that disagrees with
    the exit code. A file that could not run as a whole is itself in the results, FAILED. The fields that `read` fills
    come first. `restored` lists protected files that the patch had changed, `changed` those that differ after the run,
    `declared` are packages and modules of Node that the patch adds, `shared` are false values that the patch contains
    as well, and `merged` is set if the patch applied only in a three-way merge. `memory` is the peak of its workspace
    in bytes (0: unknown). The end `lost` means that the run left its workspace unusable.
    """

    #: tells pytest that this is not a test
    __test__ = False

    end: End = "ran"
    results: dict[str, Status] = field(default_factory=dict)
    suites: dict[str, Status] = field(default_factory=dict)
    by_snapshot: frozenset[str] = frozenset()
    by_screenshot: frozenset[str] = frozenset()
    reasons: dict[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    died: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    merged: bool = False
    control: Control = Control()
    changed: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    code: int = 0
    place: str = ""
    root: str = ""
    log: bytes = b""
    report: bytes = b""
    seconds: float = 0.0
    memory: int = 0

    @property
    def doubts(self) -> tuple[str, ...]:
        """The reasons not to trust its result."""
        return self.faults + self.died

    def with_files(self, names: Iterable[str]) -> TestRun:
        """The same run, with these files as tests of their own: PASSED where the file could run."""
        return replace(self, results={**self.results, **{n: self.suites[n] for n in names if n in self.suites}})


@dataclass(frozen=True)
class PatchRun:
    """The result of running a patch: a run; or which patch does not apply (`predicted`, `test`, …) and why; or a fault
    of the machine, as `cause: message`. `counter` are its counter-runs (execution.counter), `repeats` are repeats of
    the same run, and `flips` is what gold does in its own repeats, None if that was not needed."""

    run: TestRun | None = None
    counter: dict[str, TestRun] = field(default_factory=dict)
    repeats: tuple[TestRun, ...] = ()
    flips: dict[str, dict[str, int]] | None = None
    unapplied: tuple[str, str] | None = None
    fault: str = ""
    ran: Identity | None = None


def pack(run: TestRun, name: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A run as plain data, and as files: `NAME.log.gz` and `NAME.report.gz`. The same run gives the same bytes."""
    fields = {key: value for key, value in asdict(run).items() if key not in _APART}
    log, report = (gzip.compress(data, mtime=0) for data in (run.log, run.report))
    return fields, {f"{name}.log.gz": log, f"{name}.report.gz": report}


def unpack(fields: Mapping[str, Any], name: str, folder: Path) -> TestRun:
    """The run that `pack` stored in a folder, with its report not yet read. Raises UserError for a damaged file."""
    lists = {key: tuple(fields.get(key, ())) for key in ("restored", "changed", "declared", "shared")}
    log, report = (unzipped(folder / f"{name}.{kind}.gz") for kind in ("log", "report"))
    return TestRun(**{**fields, **lists, "control": Control(**fields["control"]), "log": log, "report": report})
