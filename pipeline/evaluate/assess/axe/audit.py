"""One patch, from its tests to what axe-core finds in everything that they render.

The documents are taken out of the workspace in which the candidate's code ran, and audited in a fresh workspace of the
same image, which that code never sees: in the image's jsdom, without network, and without running their scripts. The
path of that jsdom is read from the run and can only lead to the image's own files. Does not cover what jsdom cannot
see: colors, sizes, and styles outside the document.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import NamedTuple

from pipeline.browser import axe
from pipeline.evaluate.assess.axe import findings
from pipeline.evaluate.assess.axe.documents import NotAudited, Rendered, render
from pipeline.evaluate.assess.axe.findings import Violations
from pipeline.execution.applying import PatchFailed
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Workspace

#: decides an audit in addition to the patch: increased whenever documents are captured or audited differently
VERSION = f"2 {axe.AXE.name}"


class Audit(NamedTuple):
    """What axe-core found in one state of the sources: each violation once, however many tests show it.

    `silence` says why nothing was audited. `rendered` are the tests with a document, `passed` those that passed.
    """

    violations: Violations = ()
    rendered: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    silence: str = ""

    @property
    def tests(self) -> int:
        """The number of tests with a document."""
        return len(self.rendered)


def run_audited(plan: Plan, candidate: str, fix_patch: str, test_patch: str) -> Audit:
    """Audit what the tests render with a candidate. Raises InfrastructureError."""
    try:
        rendered = render(plan, candidate, fix_patch, test_patch)
        with plan.sandbox.open(plan.image, cache="none", limits=plan.limits) as workspace:
            violations = audit(workspace, rendered)
    except (NotAudited, PatchFailed) as cause:
        return Audit(silence=str(cause))
    return Audit(violations, tuple(sorted({test for test, _ in rendered.documents})), rendered.passed)


def audit(workspace: Workspace, rendered: Rendered) -> Violations:
    """Audit documents in a workspace in which no code of theirs ran. Raises NotAudited."""
    folder = f"{workspace.scratch}/axe"
    lines = [json.dumps({"test": test, "html": html}) for test, html in rendered.documents]
    script = files(__package__).joinpath("audit.cjs").read_bytes()
    scripts = {"audit.cjs": script, "axe.js": axe.source(), "page.js": axe.function().encode()}
    for name, data in (scripts | {"documents.jsonl": "\n".join(lines).encode()}).items():
        workspace.write(f"{folder}/{name}", data)
    completed = workspace.run(["node", f"{folder}/audit.cjs", folder, rendered.jsdom])
    result = None if completed.code else workspace.read(f"{folder}/result.json")
    if result is None:
        output = completed.limit or completed.output.decode(errors="replace").strip()[-500:]
        raise NotAudited(f"axe-core could not audit the documents: {output}")
    return findings.violations(json.loads(result))


def doubt(gold: Audit, candidate: Audit) -> str:
    """The reason not to trust a candidate's audit; empty if there is none.

    A test that passes with the candidate and renders something with gold must render something with the candidate,
    too. A missing document was hidden from the audit.
    """
    rendered, passed = set(candidate.rendered), {_plain(name) for name in candidate.passed}
    missing = [name for name in gold.rendered if name not in rendered and _plain(name) in passed]
    return f"a test that passes has no document, but has one with gold: {missing[0]}" if missing else ""


def _plain(name: str) -> str:
    """A test's name in the form of all runners, old and new: jasmine does not separate groups from titles."""
    return name.replace(" > ", " ")
