"""What the tests render: they run once more with a hook that keeps the document of each test at its end.

Reads and writes in the sandbox only. Does not cover what is rendered and gone again before a test ends, shadow trees,
and runners that are not in the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from secrets import token_hex
from typing import NamedTuple

from pipeline.core import runs
from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.records import Status
from pipeline.core.runs import Plan, Run
from pipeline.core.sandbox.base import Workspace

#: the parser of a runner's report -> what Node loads before the runner
HOOKS = {"jest-json": "capture.cjs"}


class NotAudited(A11yBenchError):
    """Why there is nothing to say of a patch: an audit that was not made is never an audit without findings."""


class Document(NamedTuple):
    """What one test rendered."""

    test: str
    html: str


class Rendered(NamedTuple):
    """The documents of a run, the tests of it that passed, and where the jsdom is that they were rendered in."""

    documents: tuple[Document, ...]
    passed: tuple[str, ...]
    jsdom: str


def render(plan: Plan, candidate: str, fix_patch: str, test_patch: str) -> Rendered:
    """Run the tests on a candidate. Raises NotAudited, PatchFailed, InfrastructureError."""
    parser = plan.environment.parser
    if parser not in HOOKS:
        raise NotAudited(f"there is no hook for the runner of {parser}")
    with runs.prepared(plan, candidate, fix_patch, test_patch) as (workspace, _):
        folder = f"{workspace.scratch}/axe-{token_hex(8)}"
        hook = f"{folder}/{HOOKS[parser]}"
        workspace.write(hook, files(__package__).joinpath(HOOKS[parser]).read_bytes())
        run = runs.run_tests(workspace, _hooked(plan, hook))
        return _read(workspace, folder, run)


def _hooked(plan: Plan, hook: str) -> Plan:
    """The same plan with the hook. Node takes several options in one variable."""
    environment = plan.environment
    options = f"{environment.test_env.get('NODE_OPTIONS', '')} --require={hook}".strip()
    variables = {**environment.test_env, "NODE_OPTIONS": options}
    return replace(plan, environment=environment.model_copy(update={"test_env": variables}))


def _read(workspace: Workspace, folder: str, run: Run) -> Rendered:
    if run.end == "out_of_memory":
        raise InfrastructureError("the tests ran out of memory", cause="out_of_memory")
    if run.end != "ran" or run.faults:
        raise NotAudited(f"the tests ended without a result: {'; '.join(run.faults) or run.end}")
    jsdom, captured = (workspace.read(f"{folder}/{name}") for name in ("jsdom", "captured.jsonl"))
    if not captured:
        raise NotAudited("the tests render no document, or none that the hook sees")
    if jsdom is None:
        raise NotAudited("the tests' documents are none of jsdom")
    passed = tuple(name for name, status in run.results.items() if status is Status.PASSED)
    return Rendered(tuple(_documents(captured, workspace.root)), passed, jsdom.decode())


def _documents(captured: bytes, root: str) -> Iterator[Document]:
    for line in captured.decode(errors="replace").splitlines():
        row = json.loads(line)
        yield Document(" > ".join([row["file"].removeprefix(f"{root}/"), *row["names"]]), row["html"])
