"""Patch, run, read the report: the only way in which tests are run, both in qualification and in evaluation.

A `TestRun` says what the tests did, or why that is unknown. Writes nothing: the caller keeps `log`. Does not cover what
the results mean (core.verdict).
"""

from __future__ import annotations

import posixpath
import secrets
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pipeline.core import patches
from pipeline.core.records import Environment
from pipeline.core.store import digest
from pipeline.core.timing import timed
from pipeline.ecosystems import parser as parser_named
from pipeline.ecosystems.protection import protection
from pipeline.ecosystems.runner_folder import Parser
from pipeline.execution import command, generated
from pipeline.execution.applying import Applied, apply, prepare, settle
from pipeline.execution.control import changed, digests, plant
from pipeline.execution.reading import read
from pipeline.execution.renewing import renewed
from pipeline.execution.run import End, TestRun
from pipeline.execution.tree import existing
from pipeline.sandbox.base import DEFAULT, Cache, Limit, Limits, Sandbox, Workspace

#: the limit that a command reached -> how its run ended
_ENDS: dict[Limit, End] = {
    "time": "timeout",
    "memory": "out_of_memory",
    "output": "output_limit",
    "disk": "disk_limit",
    "processes": "process_limit",
}


@dataclass(frozen=True)
class Plan:
    """What is run: an instance's image and environment, the test files (None: all), the limits, the files that are
    `protected` in addition to those protected by name, and files below the scratch folder that Node loads before the
    runner (`preloads`)."""

    sandbox: Sandbox
    image: str
    environment: Environment
    files: Sequence[str] | None
    limits: Limits = DEFAULT
    protected: tuple[str, ...] = ()
    preloads: tuple[str, ...] = ()


def run_gold(plan: Plan, steps: Sequence[tuple[str, str]], *, cache: Cache = "use") -> TestRun:
    """Apply the named patches one by one, then run the tests (qualification). Raises PatchFailed.

    A run with the gold fix must not fill the cache: a patch could find the fix there.
    """
    with plan.sandbox.open(plan.image, cache=cache, limits=plan.limits) as workspace:
        for name, patch in steps:
            apply(workspace, patch, name)
        try:
            output = generated.renew(workspace, plan.environment, patches.paths("".join(patch for _, patch in steps)))
        except generated.OverLimit as over:
            return TestRun(_ENDS[over.limit], log=over.output)
        run = run_tests(workspace, plan)
        return replace(run, log=output + run.log, memory=workspace.peak() if run.end == "ran" else 0)


def run_patch(
    plan: Plan,
    patch: str,
    fix_patch: str,
    test_patch: str,
    tests: Collection[str] = (),
    alter: Callable[[Workspace], None] | None = None,
    *,
    cache: Cache = "use",
) -> TestRun:
    """Run the tests on a patch (evaluation), with a control in each of the test files `tests`. A counter-run may
    first `alter` gold's tests. Only the empty patch may fill the `cache`. Raises PatchFailed, as `prepared` does."""
    is_protected = protection(plan.protected)
    gold = [*patches.paths(test_patch), *(path for path in patches.paths(fix_patch) if is_protected(path))]
    parser = plan.environment.parser
    try:
        with prepared(plan, patch, fix_patch, test_patch, cache=cache) as (workspace, applied):
            if alter:
                alter(workspace)
            control = plant(workspace, parser, sorted(tests), digest(fix_patch, test_patch))
            settle(workspace)
            before = digests(workspace, sorted({*tests, *gold, *plan.protected}))
            run = _executed(workspace, plan)
            changed_files = (*applied.changed, *changed(workspace, before)) if run.end == "ran" else ()
    except generated.OverLimit as over:
        return TestRun(_ENDS[over.limit], log=over.output)
    return read(parser, replace(run, **applied._asdict() | {"control": control, "changed": changed_files}))


@contextmanager
def prepared(
    plan: Plan,
    patch: str,
    fix_patch: str,
    test_patch: str,
    also: Callable[[str], bool] = lambda path: False,
    *,
    cache: Cache = "use",
) -> Iterator[tuple[Workspace, Applied]]:
    """A workspace with a patch applied by `prepare`, and what applying it did. Files of which `also` is true are
    protected, too. Raises PatchFailed, OverLimit."""
    is_named = protection(plan.protected)

    def is_protected(path: str) -> bool:
        return is_named(path) or also(path)

    with plan.sandbox.open(plan.image, cache=cache, limits=plan.limits) as workspace:
        observed = None if plan.environment.prepare else plan.protected
        applied = prepare(workspace, patch, fix_patch, test_patch, is_protected, observed, plan.environment)
        if plan.environment.prepare:
            applied = applied._replace(
                changed=renewed(workspace, plan.environment, patch, fix_patch, test_patch, is_protected)
            )
        yield workspace, applied


def run_tests(workspace: Workspace, plan: Plan) -> TestRun:
    """Run the test command on the files of the scope that exist, and read the report. The log begins with the
    command."""
    return read(plan.environment.parser, _executed(workspace, plan))


def _executed(workspace: Workspace, plan: Plan) -> TestRun:
    """Run the test command; its report is not read yet."""
    environment = plan.environment
    entries = {posixpath.join(environment.folder, entry): entry for entry in environment.entries}
    present = existing(workspace, [*(plan.files or ()), *entries])
    files = None if plan.files is None else [file for file in plan.files if file in present]
    if files == []:
        return TestRun(log=b"none of the test files exists in this run\n")
    entry = next((entry for path, entry in entries.items() if path in present), "")
    if entries and not entry:
        return TestRun("no_report", log=f"none of these is installed: {', '.join(environment.entries)}\n".encode())
    name, parser = f"report-{secrets.token_hex(8)}.json", parser_named(environment.parser)
    outlet = workspace.outlet(name) if parser.once and _preloads(environment, parser) else None
    values = _values(workspace, environment, entry, outlet.path if outlet else f"{workspace.scratch}/{name}")
    argv = command.argv(environment, values, files)
    with timed("tests"):
        completed = workspace.run(argv, env=_variables(workspace, plan, values), folder=environment.folder)
    log = f"$ {shlex.join(argv)}\n".encode() + completed.output
    run = TestRun(
        "ran", code=completed.code, place=values["report"], root=workspace.root, log=log, seconds=completed.seconds
    )
    if completed.limit:
        return replace(run, end=_ENDS[completed.limit])
    report = completed.output if parser.log else outlet.drain() if outlet else workspace.read(run.place)
    return replace(run, end="no_report") if report is None else replace(run, report=report)


def _values(workspace: Workspace, environment: Environment, entry: str, report: str) -> dict[str, str]:
    """The values of the placeholders. The report's name is not known before the tests start."""
    scratch = workspace.scratch
    values = {"report": report, "cache": workspace.cache}
    if reporter := parser_named(environment.parser).reporter_file():
        values["reporter"] = f"{scratch}/{reporter.name}"
        workspace.write(values["reporter"], reporter.read_bytes())
    return values | ({"entry": entry} if entry else {})


def _preloads(environment: Environment, parser: Parser) -> bool:
    """Whether a parser's preload, if any, is loaded: NODE_OPTIONS works since Node 8."""
    major = environment.node.partition(".")[0]
    return not parser.preload or not major.isdigit() or int(major) >= 8


def _variables(workspace: Workspace, plan: Plan, values: Mapping[str, str]) -> dict[str, str]:
    """The variables of the tests, with what Node loads before the runner."""
    variables = command.variables(plan.environment, values)
    names = list(plan.preloads)
    if file := parser_named(plan.environment.parser).preload_file():
        workspace.write(f"{workspace.scratch}/{file.name}", file.read_bytes())
        names.append(file.name)
    options = [variables.get("NODE_OPTIONS", ""), *(command.preload(f"{workspace.scratch}/{name}") for name in names)]
    return variables | ({"NODE_OPTIONS": " ".join(filter(None, options))} if names else {})
