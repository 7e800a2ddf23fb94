"""What the assessment finds out about one prediction in sandboxes: new snapshots, and audits of what the tests render.

Each part is kept in `04_evaluation/evidence/` by what decides it (patch, image, command, the part's version), so that
models with the same patch share it, and all share the base and gold. The instance border: what breaks is a note.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from pipeline.core.errors import A11yBenchError
from pipeline.core.records import Instance, Outcome, Verdict
from pipeline.evaluate.assess import snapshots, updated
from pipeline.evaluate.assess.axe import audit
from pipeline.evaluate.assess.axe.audit import Audit
from pipeline.evaluate.assess.said import NOTHING, Said
from pipeline.evaluate.assess.updated import Updated
from pipeline.evaluate.bench import Bench
from pipeline.execution.runs import Plan

log = logging.getLogger(__name__)

#: outcomes of patches that render something: those that ran to their end, and no patch at all
RENDERED = {Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.EMPTY}
#: how a note begins that says that the machine failed
FAILED = "not assessed: "


class Silent(A11yBenchError):
    """Why a part says nothing of a prediction."""


class Evidence(NamedTuple):
    """`updated` are a patch's new snapshots and `base` those without it; `audits` are of base, gold and patch;
    `stories` is what the audit of stories says."""

    verdict: Verdict
    updated: Updated | None = None
    base: Updated | None = None
    audits: tuple[Audit, Audit, Audit] | None = None
    stories: Said = NOTHING
    browser: str = ""
    notes: dict[str, str] = {}


class Assessed(NamedTuple):
    """One prediction with its verdict, and where its patch runs."""

    bench: Bench
    instance: Instance
    verdict: Verdict
    patch: str


#: what finds one part: fields of the evidence. Raises Silent
Find = Callable[[Assessed], dict[str, Any]]


def find(assessed: Assessed, parts: Mapping[str, Find]) -> Evidence:
    """These parts of the evidence; what a part can not say is a note by its name."""
    found: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for name, part in parts.items():
        try:
            found |= part(assessed)
        except Silent as why:
            notes[name] = str(why)
        except Exception as error:
            log.exception("%s: %s", assessed.instance.instance_id, name)
            notes[name] = f"{FAILED}{error}"
    return Evidence(assessed.verdict, **found, notes=notes)


def snapshots_of(assessed: Assessed) -> dict[str, Any]:
    """A patch's new snapshots, where it fails by snapshots alone. Raises Silent."""
    bench, instance, verdict, patch = assessed
    if verdict.outcome is not Outcome.UNRESOLVED:
        return {}
    run = bench.run(instance, patch)
    if why := snapshots.obstacle(verdict, run, instance.environment.parser):
        raise Silent(why)
    made = _updated(assessed, patch)
    if why := snapshots.still_failing(snapshots.failing(verdict), made):
        raise Silent(why)
    return {"updated": made, "base": _updated(assessed, "")}


def _updated(assessed: Assessed, patch: str) -> Updated:
    instance = assessed.instance

    def run(plan: Plan) -> Updated:
        return updated.run_updated(plan, patch, instance.fix_patch, instance.test_patch, instance.expected_files)

    part = Part("running the tests with new snapshots", f"updated {updated.VERSION}", Updated, run)
    return kept(assessed, patch, part)


def audits_of(assessed: Assessed) -> dict[str, Any]:
    """The audits of what the tests render. Raises Silent."""
    if assessed.verdict.outcome not in RENDERED:
        raise Silent(f"not audited, because the verdict is {assessed.verdict.outcome}")
    audits = []
    for name, patch in {"base": "", "gold": assessed.instance.fix_patch, "patch": assessed.patch}.items():
        audits.append(_audited(assessed, patch))
        if audits[-1].silence:
            raise Silent(f"not audited, because {name}: {audits[-1].silence}")
    if why := audit.doubt(*audits[1:]):
        raise Silent(f"not audited, because {why}")
    return {"audits": tuple(audits)}


def _audited(assessed: Assessed, patch: str) -> Audit:
    instance = assessed.instance

    def run(plan: Plan) -> Audit:
        return audit.run_audited(plan, patch, instance.fix_patch, instance.test_patch)

    return kept(assessed, patch, Part("auditing what the tests render", f"axe {audit.VERSION}", Audit, run))


class Part(NamedTuple):
    """What is done, in words and by its version; what it gives, and how."""

    words: str
    version: str
    kind: type[Any]
    run: Callable[[Plan], Any]


def kept(assessed: Assessed, patch: str, part: Part) -> Any:
    """The result of a part for one patch, from the store where it is there."""
    inputs = assessed.bench.inputs(assessed.instance, patch) | {"part": part.version}
    unit = assessed.bench.unit("evidence", inputs)
    file, form = unit.folder / "result.json.gz", TypeAdapter(part.kind)
    if unit.is_done(**inputs):
        return form.validate_json(gzip.decompress(file.read_bytes()))
    made = assessed.bench.patiently(assessed.instance, part.words, part.run)
    unit.keep({file.name: gzip.compress(form.dump_json(made), mtime=0)}, **inputs)
    return made
