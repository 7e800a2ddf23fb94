"""Running the tests of one prediction once more, with new snapshots, and for documents that axe-core audits.

Both are parts of its evidence. The coordinator keeps the results; nothing is written here.
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

#: outcomes of patches that render something: completed runs, and empty patches
RENDERED = {Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.EMPTY}


def snapshots_of(examination: Examination) -> dict[str, Any]:
    """A patch's new snapshots, if it fails by snapshots alone. Raises Silent."""
    verdict = examination.verdict
    if verdict.outcome is not Outcome.UNRESOLVED:
        return {}
    if cause := snapshots.obstacle(verdict, examination.run(), examination.instance.environment.parser):
        raise Silent(cause)
    rewritten = _updated(examination, examination.patch)
    if cause := snapshots.still_failing(snapshots.failing(verdict), rewritten):
        raise Silent(cause)
    return {"updated": rewritten, "base": _updated(examination, "")}


def _updated(examination: Examination, patch: str) -> Updated:
    instance = examination.instance

    def run(plan: Plan) -> Updated:
        return updated.run_updated(plan, patch, instance.fix_patch, instance.test_patch, instance.expected_files)

    part = Part("running the tests with new snapshots", f"updated {updated.VERSION}", Updated, run)
    return examination.result(patch, part)


def audits_of(examination: Examination) -> dict[str, Any]:
    """The audits of the documents that the tests render. Raises Silent."""
    if examination.verdict.outcome not in RENDERED:
        raise Silent(f"not audited, because the verdict is {examination.verdict.outcome}")
    audits = []
    for name, patch in {"base": "", "gold": examination.instance.fix_patch, "patch": examination.patch}.items():
        audits.append(_audited(examination, patch))
        if audits[-1].silence:
            raise Silent(f"not audited, because {name}: {audits[-1].silence}")
    if cause := audit.doubt(*audits[1:]):
        raise Silent(f"not audited, because {cause}")
    return {"audits": tuple(audits)}


def _audited(examination: Examination, patch: str) -> Audit:
    instance = examination.instance

    def run(plan: Plan) -> Audit:
        return audit.run_audited(plan, patch, instance.fix_patch, instance.test_patch)

    part = Part("auditing what the tests render", f"axe {audit.VERSION}", Audit, run)
    return examination.result(patch, part)
