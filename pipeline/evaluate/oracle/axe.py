"""What axe-core finds in all that the tests render, and how a patch changes that.

The tests run once more with a hook that keeps each test's document (`capture.cjs`); axe-core audits them in the same
workspace, in the jsdom of the tests (`audit.cjs`): in the sandbox, without network. Does not cover runners other than
jest 27 and later, and what jsdom can not see: colours and sizes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any, NamedTuple

from pipeline.core import runs
from pipeline.core.assessment import AxeDelta, Violation
from pipeline.core.npm_package import NpmPackage
from pipeline.core.runs import Plan
from pipeline.core.sandbox.base import Workspace

AXE = NpmPackage(
    "axe-core@4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "axe.min.js",
)
#: raised whenever documents are kept or audited differently: older audits are stale
VERSION = 1


class Audit(NamedTuple):
    """What axe-core found in one state of the sources: each violation once, however many tests show it.

    `silence` says why there is nothing to audit.
    """

    documents: int = 0
    violations: tuple[Violation, ...] = ()
    silence: str = ""


def run_audited(plan: Plan, candidate: str, fix_patch: str, test_patch: str) -> Audit:
    """Run the tests on a patch and audit what they render. Raises PatchFailed, InfrastructureError."""
    with runs.prepared(plan, candidate, fix_patch, test_patch) as (workspace, _):
        folder = f"{workspace.scratch}/axe"
        for name in ("capture.cjs", "audit.cjs"):
            workspace.write(f"{folder}/{name}", files(__package__).joinpath(name).read_bytes())
        workspace.write(f"{folder}/axe.js", AXE.file().read_bytes())
        run = runs.run_tests(workspace, _capturing(plan, folder))
        if run.end != "ran":
            return Audit(silence=f"the tests ended without a result: {run.end}")
        return _audit(workspace, folder)


def _capturing(plan: Plan, folder: str) -> Plan:
    """The same plan, with the hook. Node takes several options in one variable."""
    environment = plan.environment
    options = f"{environment.test_env.get('NODE_OPTIONS', '')} --require={folder}/capture.cjs".strip()
    variables = {**environment.test_env, "NODE_OPTIONS": options}
    return replace(plan, environment=environment.model_copy(update={"test_env": variables}))


def _audit(workspace: Workspace, folder: str) -> Audit:
    done = workspace.run(["node", f"{folder}/audit.cjs", f"{folder}/axe.js", f"{folder}/result.json"])
    text = workspace.read(f"{folder}/result.json")
    if text is None:
        return Audit(silence=done.output.decode(errors="replace")[-500:] or "axe-core wrote no result")
    found: dict[str, Any] = json.loads(text)
    if not found["documents"]:
        return Audit(silence="the tests render no document that can be audited")
    violations = sorted((Violation(**one) for one in found["violations"]), key=Violation.place)
    return Audit(found["documents"], tuple(violations))


def delta(base: Audit, gold: Audit, candidate: Audit) -> AxeDelta:
    """What the candidate fixes, leaves and introduces, by rule and element."""
    before, after = ({one.place(): one for one in audit.violations} for audit in (base, candidate))
    return AxeDelta(
        base=len(base.violations),
        gold=len(gold.violations),
        candidate=len(candidate.violations),
        fixed=_only(before, after),
        remaining=tuple(one for place, one in after.items() if place in before),
        introduced=_only(after, before),
    )


def _only(these: dict[Any, Violation], others: dict[Any, Violation]) -> tuple[Violation, ...]:
    return tuple(one for place, one in these.items() if place not in others)
