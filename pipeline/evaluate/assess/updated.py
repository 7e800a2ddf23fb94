"""A candidate's own snapshots: the tests run once more, in a fresh workspace, and rewrite every snapshot.

Gold's snapshots are read and removed before any code of the candidate runs, so it cannot copy them. Does not cover
inline snapshots (they are part of the tests), and code that writes a snapshot file itself: runner and candidate share
one process (docs/tampering.md).
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from pipeline.core.records import Status
from pipeline.ecosystems import parser
from pipeline.execution import runs
from pipeline.execution.runs import Plan
from pipeline.execution.tree import listed, must
from pipeline.sandbox.base import Workspace

#: increased whenever snapshots are made or read differently: older ones are stale
VERSION = 1


@dataclass(frozen=True)
class Updated:
    """The results of the run that rewrites snapshots, and the snapshot files before (gold's) and after, by path.

    The files have the form of the runner that `parser` reads.
    """

    end: str = "ran"
    results: dict[str, Status] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    gold: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)
    parser: str = "jest-json"


def run_updated(plan: Plan, candidate: str, fix_patch: str, test_patch: str, tests: Collection[str]) -> Updated:
    """Run the tests on a candidate and read the snapshots of the test files `tests`. Raises PatchFailed."""
    environment = plan.environment
    snapshots = parser(environment.parser).snapshots
    command = (*environment.test, *([snapshots.update] if snapshots else ()))
    updating = replace(plan, environment=environment.model_copy(update={"test": command}))
    with runs.prepared(plan, candidate, fix_patch, test_patch) as (workspace, _):
        gold = _read(workspace, tests)
        if present := _files(workspace):
            must(workspace, "rm", "-f", "--", *present)
        run = runs.run_tests(workspace, updating)
        new = _read(workspace, tests) if run.end == "ran" else {}
    return Updated(run.end, run.results, run.doubts, gold, new, environment.parser)


def is_of(snapshots: str, test: str) -> bool:
    """Whether a snapshot file belongs to a test file: it has its name, in its folder or below."""
    folder, name = posixpath.split(test)
    return snapshots.startswith(f"{folder}/" if folder else "") and posixpath.basename(snapshots) == f"{name}.snap"


def _read(workspace: Workspace, tests: Collection[str]) -> dict[str, str]:
    paths = [path for path in _files(workspace) if any(is_of(path, test) for test in tests)]
    texts = {path: workspace.read(f"{workspace.root}/{path}") for path in paths}
    return {path: text.decode(errors="replace") for path, text in texts.items() if text is not None}


def _files(workspace: Workspace) -> list[str]:
    arguments = ("ls-files", "-z", "--cached", "--others", "--exclude=node_modules", "--", "*.snap")
    return sorted(set(listed(workspace, "git", *arguments)))
