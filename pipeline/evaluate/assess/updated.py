"""A candidate's own snapshots: its tests once more, in a fresh workspace, with every snapshot rewritten.

Gold's snapshots are read before any code of the candidate runs, and are gone when it does: it cannot copy them. Does
not cover inline snapshots (they stand in the tests), and code that writes a snapshot file of its own making: runner and
candidate share one process (docs/design.md).
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from pipeline.core.records import Status
from pipeline.ecosystems import parser
from pipeline.execution import runs
from pipeline.execution.applying import listed, must
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Workspace

#: raised whenever snapshots are made or read differently: older ones are stale
VERSION = 1


@dataclass(frozen=True)
class Updated:
    """What the tests did with snapshots rewritten, and the snapshot files before (gold's) and after, by path.

    The files are in the form of the runner that `parser` reads.
    """

    end: str = "ran"
    results: dict[str, Status] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    gold: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)
    parser: str = "jest-json"


def run_updated(plan: Plan, candidate: str, fix_patch: str, test_patch: str, tests: Collection[str]) -> Updated:
    """Run the tests on a candidate and take the snapshots of the test files `tests`. Raises PatchFailed."""
    environment = plan.environment
    snapshots = parser(environment.parser).snapshots
    words = (*environment.test, *([snapshots.update] if snapshots else ()))
    again = replace(plan, environment=environment.model_copy(update={"test": words}))
    with runs.prepared(plan, candidate, fix_patch, test_patch) as (workspace, _):
        gold = _read(workspace, tests)
        if there := _files(workspace):
            must(workspace, "rm", "-f", "--", *there)
        run = runs.run_tests(workspace, again)
        new = _read(workspace, tests) if run.end == "ran" else {}
    return Updated(run.end, run.results, run.doubts, gold, new, environment.parser)


def is_of(snapshots: str, test: str) -> bool:
    """Whether a snapshot file is a test file's: it has its name, in its folder or below."""
    folder, name = posixpath.split(test)
    return snapshots.startswith(f"{folder}/" if folder else "") and posixpath.basename(snapshots) == f"{name}.snap"


def _read(workspace: Workspace, tests: Collection[str]) -> dict[str, str]:
    wanted = [path for path in _files(workspace) if any(is_of(path, test) for test in tests)]
    found = {path: workspace.read(f"{workspace.root}/{path}") for path in wanted}
    return {path: text.decode(errors="replace") for path, text in found.items() if text is not None}


def _files(workspace: Workspace) -> list[str]:
    known = ("ls-files", "-z", "--cached", "--others", "--exclude=node_modules", "--", "*.snap")
    return sorted(set(listed(workspace, "git", *known)))
