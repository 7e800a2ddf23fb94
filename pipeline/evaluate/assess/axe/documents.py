"""What the tests render: they run once more with a hook that saves the document at the end of each test.

Reads and writes in the sandbox only. Does not cover what is removed again before a test ends, shadow trees,
and runners whose folder has no such hook.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from secrets import token_hex
from typing import NamedTuple

from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.records import Record, Status
from pipeline.ecosystems import parser
from pipeline.execution import runs
from pipeline.execution.runs import Plan, TestRun
from pipeline.sandbox.base import Workspace

#: a path that the candidate's code may have written
_JSDOM = re.compile(rb"/[\x20-\x7e]+/node_modules/jsdom/lib/api\.js")


class NotAudited(A11yBenchError):
    """A patch was not audited, for the reason in the message. This is never treated as an audit without findings."""


class Document(Record):
    """What one test rendered; `names` are its groups and its title."""

    file: str
    names: tuple[str, ...]
    html: str


class Rendered(NamedTuple):
    """The tests of a run and their documents, the tests that passed, and the path of the jsdom that they ran in."""

    documents: tuple[tuple[str, str], ...]
    passed: tuple[str, ...]
    jsdom: str


def render(plan: Plan, candidate: str, fix_patch: str, test_patch: str) -> Rendered:
    """Run the tests on a candidate. Raises NotAudited, PatchFailed, InfrastructureError."""
    environment = plan.environment
    test_parser = parser(environment.parser)
    hook = test_parser.documents
    if hook is None:
        raise NotAudited(f"there is no hook for {environment.runner} {environment.runner_version}")
    with runs.prepared(plan, candidate, fix_patch, test_patch) as (workspace, _):
        folder = f"{workspace.scratch}/axe-{token_hex(8)}"
        configuration = environment.configuration and posixpath.join(
            workspace.root, environment.folder, environment.configuration
        )
        for name, text in test_parser.hook_files(configuration):
            workspace.write(f"{folder}/{name}", text)
        run = runs.run_tests(workspace, replace(plan, environment=hook.apply_to(environment, folder)))
        return _read(workspace, folder, run)


def _read(workspace: Workspace, folder: str, run: TestRun) -> Rendered:
    if run.end == "out_of_memory":
        raise InfrastructureError("the tests ran out of memory", cause="out_of_memory")
    if run.end != "ran" or run.doubts:
        raise NotAudited(f"the tests ended without a result: {'; '.join(run.doubts) or run.end}")
    jsdom, captured = (workspace.read(f"{folder}/{name}") or b"" for name in ("jsdom", "captured.jsonl"))
    if not captured:
        raise NotAudited("the tests render no document, or none that the hook sees")
    if not _JSDOM.fullmatch(jsdom):
        raise NotAudited("the tests' documents do not come from jsdom")
    passed = tuple(name for name, status in run.results.items() if status is Status.PASSED)
    return Rendered(tuple(_documents(captured, workspace.root)), passed, jsdom.decode())


def _documents(captured: bytes, root: str) -> Iterator[tuple[str, str]]:
    try:
        documents = [Document.model_validate_json(line) for line in captured.split(b"\n") if line]
    except ValueError as error:
        raise NotAudited("what the hook wrote was changed") from error
    for document in documents:
        yield " > ".join([document.file.removeprefix(f"{root}/"), *document.names]), document.html
