"""What the tests say once more of one prediction: with new snapshots, and as documents that axe-core audits.

Both are parts of its evidence. What runs for them is kept by the coordinator; nothing is written here.
"""

from __future__ import annotations

from typing import Any

from pipeline.core.records import Outcome
from pipeline.evaluate.assess import snapshots, updated
from pipeline.evaluate.assess.axe import audit
from pipeline.evaluate.assess.axe.audit import Audit
from pipeline.evaluate.assess.request import Examination, Part, Silent
from pipeline.evaluate.assess.updated import Updated
from pipeline.execution.runs import Plan

#: outcomes of patches that render something: those that ran to their end, and no patch at all
RENDERED = {Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.EMPTY}


def snapshots_of(examination: Examination) -> dict[str, Any]:
    """A patch's new snapshots, where it fails by snapshots alone. Raises Silent."""
    verdict = examination.verdict
    if verdict.outcome is not Outcome.UNRESOLVED:
        return {}
    if why := snapshots.obstacle(verdict, examination.run(), examination.instance.environment.parser):
        raise Silent(why)
    made = _updated(examination, examination.patch)
    if why := snapshots.still_failing(snapshots.failing(verdict), made):
        raise Silent(why)
    return {"updated": made, "base": _updated(examination, "")}


def _updated(examination: Examination, patch: str) -> Updated:
    instance = examination.instance

    def run(plan: Plan) -> Updated:
        return updated.run_updated(plan, patch, instance.fix_patch, instance.test_patch, instance.expected_files)

    part = Part("running the tests with new snapshots", f"updated {updated.VERSION}", Updated, run)
    return examination.result(patch, part)


def audits_of(examination: Examination) -> dict[str, Any]:
    """The audits of what the tests render. Raises Silent."""
    if examination.verdict.outcome not in RENDERED:
        raise Silent(f"not audited, because the verdict is {examination.verdict.outcome}")
    audits = []
    for name, patch in {"base": "", "gold": examination.instance.fix_patch, "patch": examination.patch}.items():
        audits.append(_audited(examination, patch))
        if audits[-1].silence:
            raise Silent(f"not audited, because {name}: {audits[-1].silence}")
    if why := audit.doubt(*audits[1:]):
        raise Silent(f"not audited, because {why}")
    return {"audits": tuple(audits)}


def _audited(examination: Examination, patch: str) -> Audit:
    instance = examination.instance

    def run(plan: Plan) -> Audit:
        return audit.run_audited(plan, patch, instance.fix_patch, instance.test_patch)

    part = Part("auditing what the tests render", f"axe {audit.VERSION}", Audit, run)
    return examination.result(patch, part)
