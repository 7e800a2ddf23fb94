"""Patch, run, read the report: the one way in which tests are run, in qualification and in evaluation alike.

A `Run` says what the tests did, or why nothing can be said. It writes nothing: the caller keeps `log`. Does not cover
what the results mean (core.verdict).
"""

from __future__ import annotations

import posixpath
import secrets
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from pipeline.core import command, patches, reports
from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.records import Environment, Status
from pipeline.core.sandbox.base import DEFAULT, Cache, Completed, Limit, Limits, Sandbox, Workspace
from pipeline.core.timing import timed

#: installed packages: never patched, since git does not know those files and could not take a change back
_INSTALLED = ("node_modules", "node_modules/*", "*/node_modules", "*/node_modules/*")

#: raised whenever patches are applied, files protected, reports read or ends told differently: older runs are stale
VERSION = 3

End = Literal["ran", "timeout", "out_of_memory", "output_limit", "disk_limit", "process_limit", "no_report"]

#: the limit that a command reached -> how its run ended
_ENDS: dict[Limit, End] = {
    "time": "timeout",
    "memory": "out_of_memory",
    "output": "output_limit",
    "disk": "disk_limit",
    "processes": "process_limit",
}


class PatchFailed(A11yBenchError):
    """A patch that does not apply; `name` says which, the message why."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(f"the {name} patch does not apply: {message}")


@dataclass(frozen=True)
class Run:
    """What one run of the tests said.

    `faults` are signs of a faked or broken result: totals that disagree with the cases, an exit code that disagrees
    with the report, a runner that ended without announcing its report. `restored` lists protected files that a
    candidate had changed. Results hold nothing of a file that could not run but the file itself, FAILED.
    """

    end: End = "ran"
    results: dict[str, Status] = field(default_factory=dict)
    suites: dict[str, Status] = field(default_factory=dict)
    by_snapshot: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    log: bytes = b""
    report: bytes = b""
    seconds: float = 0.0

    def with_files(self, names: Iterable[str]) -> Run:
        """The same run, with these files as tests of their own: PASSED where the file could run."""
        return replace(self, results={**self.results, **{n: self.suites[n] for n in names if n in self.suites}})


@dataclass(frozen=True)
class Plan:
    """What is run: an instance's image, its environment, the test files (None: all), and within which limits."""

    sandbox: Sandbox
    image: str
    environment: Environment
    files: Sequence[str] | None
    limits: Limits = DEFAULT


def run_gold(plan: Plan, steps: Sequence[tuple[str, str]], *, cache: Cache = "use") -> Run:
    """Apply the named patches one by one, then run the tests (qualification). Raises PatchFailed.

    A run with the gold fix must not fill the cache: a candidate could find the fix there.
    """
    with plan.sandbox.open(plan.image, cache=cache, limits=plan.limits) as workspace:
        for name, patch in steps:
            apply(workspace, patch, name)
        return run_tests(workspace, plan)


def run_candidate(plan: Plan, candidate: str, fix_patch: str, test_patch: str) -> Run:
    """Run the tests on a candidate (evaluation). Raises PatchFailed, as `prepared` does."""
    with prepared(plan, candidate, fix_patch, test_patch) as (workspace, restored):
        return replace(run_tests(workspace, plan), restored=restored)


@contextmanager
def prepared(
    plan: Plan, candidate: str, fix_patch: str, test_patch: str
) -> Iterator[tuple[Workspace, tuple[str, ...]]]:
    """Apply a candidate and put every protected file into gold's state: the workspace, and the files restored.

    Raises PatchFailed, with the name `candidate` when it is the candidate that does not apply.
    """
    with plan.sandbox.open(plan.image, cache="use", limits=plan.limits) as workspace:
        apply(workspace, candidate, "candidate", *(f"--exclude={pattern}" for pattern in _INSTALLED))
        restored = tuple(sorted({*_installed(workspace, candidate), *restore(workspace)}))
        apply(workspace, patches.select(fix_patch, patches.is_protected), "gold configuration")
        apply(workspace, test_patch, "test")
        yield workspace, restored


def apply(workspace: Workspace, patch: str, name: str, *options: str) -> None:
    """`git apply`: all of a patch or nothing of it; an empty patch is nothing. Raises PatchFailed."""
    if not patch.strip():
        return
    path = f"{workspace.scratch}/{name.replace(' ', '-')}.patch"
    workspace.write(path, patch.encode())
    done = workspace.run(["git", "apply", "--whitespace=nowarn", *options, path])
    if done.code:
        raise PatchFailed(name, done.output.decode(errors="replace").strip())


def _installed(workspace: Workspace, patch: str) -> list[str]:
    """The files of a patch that belong to installed packages, as git reads it."""
    path = f"{workspace.scratch}/installed.patch"
    workspace.write(path, patch.encode())
    only = (f"--include={pattern}" for pattern in _INSTALLED)
    lines = listed(workspace, "git", "apply", "--numstat", "-z", *only, path) if patch.strip() else []
    return [line.split("\t", 2)[2] for line in lines]


def restore(workspace: Workspace) -> list[str]:
    """Take back every change to a protected file; returns the files. Ignore rules of the candidate hide nothing."""
    changed = _protected(listed(workspace, "git", "diff", "--name-only", "-z", "--no-renames", "HEAD"))
    added = _protected(listed(workspace, "git", "ls-files", "-z", "--others", "--exclude=node_modules"))
    if added:
        must(workspace, "rm", "-rf", "--", *added)
    if changed:
        listing = f"{workspace.scratch}/restore"
        workspace.write(listing, "\0".join(changed).encode(errors="surrogateescape"))
        command = ("git", "--literal-pathspecs", "checkout", "-q", "HEAD")
        must(workspace, *command, f"--pathspec-from-file={listing}", "--pathspec-file-nul")
    return [*changed, *added]


def _protected(paths: Iterable[str]) -> list[str]:
    """The protected ones, and what stands (a link) in the place of a folder of protected files."""
    return [path for path in paths if patches.is_protected(path) or patches.is_protected(f"{path}/")]


def run_tests(workspace: Workspace, plan: Plan) -> Run:
    """Run the test command on the files of the scope that exist, and read its report. The log begins with it."""
    environment = plan.environment
    entries = {posixpath.join(environment.folder, entry): entry for entry in environment.entries}
    there = _existing(workspace, [*(plan.files or ()), *entries])
    files = None if plan.files is None else [file for file in plan.files if file in there]
    if files == []:
        return Run(log=b"none of the test files exists in this run\n")
    entry = next((entry for path, entry in entries.items() if path in there), "")
    if entries and not entry:
        return Run("no_report", log=f"none of these is installed: {', '.join(environment.entries)}\n".encode())
    places = _places(workspace, environment, entry)
    argv = command.argv(environment, places, files)
    with timed("tests"):
        done = workspace.run(argv, env=command.variables(environment, places), folder=environment.folder)
    run = _read(workspace, environment.parser, places["report"], done)
    return replace(run, log=f"$ {shlex.join(argv)}\n".encode() + done.output, seconds=done.seconds)


def _places(workspace: Workspace, environment: Environment, entry: str) -> dict[str, str]:
    """What stands for the placeholders; the name of the report is not known before the tests start."""
    scratch = workspace.scratch
    places = {"report": f"{scratch}/report-{secrets.token_hex(8)}.json", "cache": workspace.cache}
    if reporter := reports.reporter(environment.parser):
        places["reporter"] = f"{scratch}/{reporter.name}"
        workspace.write(places["reporter"], reporter.read_bytes())
    return places | ({"entry": entry} if entry else {})


def _read(workspace: Workspace, parser: str, path: str, done: Completed) -> Run:
    base = Run(_ENDS[done.limit] if done.limit else "ran")
    if done.limit:
        return base
    text = done.output if reports.reads_log(parser) else workspace.read(path)
    if text is None:
        if b"ENOSPC" in done.output:
            raise InfrastructureError("the disk is full", cause="disk")
        return replace(base, end="no_report")
    base = replace(base, report=text)
    try:
        report = reports.read(parser, text, workspace.root)
    except reports.ReportError as error:
        return replace(base, faults=(str(error),))
    faults = []
    if not reports.announced(parser, done.output, path):
        faults.append("the runner ended without announcing its report")
    if report.success != (done.code == 0):
        faults.append(f"the report says {'success' if report.success else 'failure'}, the exit code is {done.code}")
    failed = {file: status for file, status in report.suites.items() if status is Status.FAILED}
    return replace(
        base,
        results={**report.tests, **failed},
        suites=report.suites,
        by_snapshot=report.by_snapshot,
        faults=tuple(faults),
    )


def _existing(workspace: Workspace, paths: Sequence[str]) -> set[str]:
    """Those of the paths that are there, asked at once."""
    listed = workspace.run(["ls", "-1d", "--", *paths]).output if paths else b""
    return set(paths).intersection(listed.decode(errors="replace").splitlines())


def listed(workspace: Workspace, *argv: str) -> list[str]:
    """The paths that a command of git lists with `-z`. Raises InfrastructureError."""
    return [path for path in must(workspace, *argv).decode(errors="surrogateescape").split("\0") if path]


def must(workspace: Workspace, *argv: str) -> bytes:
    """The output of a command of ours that can not fail. Raises InfrastructureError."""
    done = workspace.run(argv)
    if done.code:
        raise InfrastructureError(f"{' '.join(argv[:3])} failed: {done.output[-500:]!r}", cause="workspace")
    return done.output
