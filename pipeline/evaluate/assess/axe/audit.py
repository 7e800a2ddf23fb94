"""One patch, from its tests to what axe-core finds in all that they render.

The documents are taken out of the workspace in which the candidate's code ran, and audited in a fresh one of the same
image, which that code never sees: in its jsdom, without network, and no script of theirs runs there. The path of that
jsdom is read from the run, and leads to nothing but the image's own files. Does not cover what jsdom cannot see:
colours, sizes, and styles outside the document.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import NamedTuple

from pipeline.browser import axe
from pipeline.evaluate.assess.axe import findings
from pipeline.evaluate.assess.axe.documents import NotAudited, Rendered, render
from pipeline.evaluate.assess.axe.findings import Found
from pipeline.execution.applying import PatchFailed
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Workspace

#: what decides an audit beside the patch; the number is raised whenever documents are kept or audited differently
VERSION = f"2 {axe.AXE.name}"


class Audit(NamedTuple):
    """What axe-core found in one state of the sources: each violation once, however many tests show it.

    `silence` says why nothing was audited. `rendered` are the tests with a document, `passed` those that passed.
    """

    violations: Found = ()
    rendered: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    silence: str = ""

    @property
    def tests(self) -> int:
        """How many tests' documents there are."""
        return len(self.rendered)


def run_audited(plan: Plan, candidate: str, fix_patch: str, test_patch: str) -> Audit:
    """Audit what the tests render with a candidate. Raises InfrastructureError."""
    try:
        rendered = render(plan, candidate, fix_patch, test_patch)
        with plan.sandbox.open(plan.image, cache="none", limits=plan.limits) as workspace:
            found = audit(workspace, rendered)
    except (NotAudited, PatchFailed) as why:
        return Audit(silence=str(why))
    return Audit(found, tuple(sorted({test for test, _ in rendered.documents})), rendered.passed)


def audit(workspace: Workspace, rendered: Rendered) -> Found:
    """Audit documents in a workspace that nothing of theirs ran in. Raises NotAudited."""
    folder = f"{workspace.scratch}/axe"
    lines = [json.dumps({"test": test, "html": html}) for test, html in rendered.documents]
    script = files(__package__).joinpath("audit.cjs").read_bytes()
    given = {"audit.cjs": script, "axe.js": axe.source(), "page.js": axe.function().encode()}
    for name, data in (given | {"documents.jsonl": "\n".join(lines).encode()}).items():
        workspace.write(f"{folder}/{name}", data)
    done = workspace.run(["node", f"{folder}/audit.cjs", folder, rendered.jsdom])
    result = None if done.code else workspace.read(f"{folder}/result.json")
    if result is None:
        said = done.limit or done.output.decode(errors="replace").strip()[-500:]
        raise NotAudited(f"axe-core could not audit the documents: {said}")
    return findings.violations(json.loads(result))


def doubt(gold: Audit, candidate: Audit) -> str:
    """What belies a candidate's audit, empty when nothing does.

    A test that passes with it and renders something with gold renders something with it, too: what is missing was
    kept from the audit.
    """
    rendered, passed = set(candidate.rendered), {_plain(name) for name in candidate.passed}
    missing = [name for name in gold.rendered if name not in rendered and _plain(name) in passed]
    return f"a test that passes has no document, but has one with gold: {missing[0]}" if missing else ""


def _plain(name: str) -> str:
    """A test's name as runners of any age write it: jasmine does not tell groups from titles."""
    return name.replace(" > ", " ")
