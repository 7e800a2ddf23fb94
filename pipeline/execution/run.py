"""A test run as it was, and the form in which it is stored: what its log and report say is read anew."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pipeline.core.records import Identity, Status
from pipeline.execution.control import Control

End = Literal["ran", "timeout", "out_of_memory", "output_limit", "disk_limit", "process_limit", "no_report", "lost"]

#: fields that the log and the report say, that are files of their own, or that differ from one time to the next
_APART = (
    "results", "suites", "by_snapshot", "by_screenshot", "said", "faults", "died", "log", "report", "seconds", "memory",
)  # fmt: skip


@dataclass(frozen=True)
class TestRun:
    """What one execution of the tests said. `said` is why tests failed, as a digest by name, where the report tells.

    `faults` are signs of a forged result: totals that disagree with the tests, a whole report that the runner did
    not announce, a control that did not fail (execution.control), files of gold's that the run changed.
    `died` are signs of a runner that broke, of which nobody needs to be guilty: a report that is cut off, or that the
    exit code disagrees with. A file that could not run as a whole is in the results itself, FAILED. What `read` makes
    of a run stands first; `restored` lists protected files that a patch had changed, `changed` those that are others
    after the run, and it is `merged` when it applied in a three-way merge only. `memory` is the most that its workspace
    held, in bytes (0: not known). One that is `lost` left its workspace so that nothing more could be done there.
    """

    #: pytest takes it for no test
    __test__ = False

    end: End = "ran"
    results: dict[str, Status] = field(default_factory=dict)
    suites: dict[str, Status] = field(default_factory=dict)
    by_snapshot: frozenset[str] = frozenset()
    by_screenshot: frozenset[str] = frozenset()
    said: dict[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    died: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    merged: bool = False
    control: Control = Control()
    changed: tuple[str, ...] = ()
    code: int = 0
    place: str = ""
    root: str = ""
    log: bytes = b""
    report: bytes = b""
    seconds: float = 0.0
    memory: int = 0

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why what it says is not to be believed."""
        return self.faults + self.died

    def with_files(self, names: Iterable[str]) -> TestRun:
        """The same run, with these files as tests of their own: PASSED where the file could run."""
        return replace(self, results={**self.results, **{n: self.suites[n] for n in names if n in self.suites}})


@dataclass(frozen=True)
class PatchRun:
    """What came of running a patch: a run; or which patch does not apply (`predicted`, `test`, …) and why; or a fault
    of the machine, as `cause: message`. `counter` are the counter-runs that were made of it (execution.counter),
    `repeats` the same run again, and `flips` what gold does in its own repeats, None where it was not asked."""

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


def unpack(fields: Mapping[str, Any], name: str, read: Callable[[str], bytes]) -> TestRun:
    """The run that `pack` gave, unread; `read` gives the bytes of a file."""
    lists = {key: tuple(fields[key]) for key in ("restored", "changed")}
    title, files = fields["control"]
    log, report = (gzip.decompress(read(f"{name}.{kind}.gz")) for kind in ("log", "report"))
    return TestRun(**{**fields, **lists, "control": Control(title, tuple(files)), "log": log, "report": report})
