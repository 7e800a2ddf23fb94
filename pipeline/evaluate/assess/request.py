"""Collecting the evidence on one prediction as a unit of work; each part is a function of a module.

Reads results kept in `04_evaluation/runs/` and `04_evaluation/evidence/`, named by their inputs (patch, image, command,
the part's version): models with the same patch share them, and all share base and gold. Writes nothing: new results are
returned, and the coordinator keeps them. Errors become notes.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.records import Instance, Verdict
from pipeline.core.retry import patiently
from pipeline.core.store import digest
from pipeline.core.texts import unzipped
from pipeline.core.work import Event, Tell
from pipeline.evaluate.assess.axe.audit import Audit
from pipeline.evaluate.assess.parts import NOTHING, PartResult
from pipeline.evaluate.assess.updated import Updated
from pipeline.evaluate.runs import PatchRuns
from pipeline.execution.applying import PatchFailed
from pipeline.execution.run import PatchRun, TestRun
from pipeline.execution.runs import Plan

log = logging.getLogger(__name__)

#: how a note begins that reports a failure of the machine
FAILED = "not assessed: "
#: the file of a kept part
_FILE = "result.json.gz"


class Silent(A11yBenchError):
    """Why a part has no result for a prediction."""


class Evidence(NamedTuple):
    """`updated` are a patch's new snapshots and `base` those without it; `audits` are of base, gold and patch;
    `stories` is the result of the audit of stories."""

    verdict: Verdict
    updated: Updated | None = None
    base: Updated | None = None
    audits: tuple[Audit, Audit, Audit] | None = None
    stories: PartResult = NOTHING
    browser: str = ""
    notes: dict[str, str] = {}


class Assessed(NamedTuple):
    """One prediction with its verdict."""

    instance: Instance
    verdict: Verdict
    patch: str


class Made(NamedTuple):
    """A new part: its inputs, and its files by name."""

    inputs: dict[str, str]
    files: dict[str, bytes]


class Examined(NamedTuple):
    """The result: the evidence, and what was made for it: new parts, and the run of the patch. If the machine failed,
    `fault` is the cause."""

    evidence: Evidence
    made: tuple[Made, ...] = ()
    tested: PatchRun | None = None
    fault: str = ""


@dataclass(frozen=True)
class Examine:
    """The request: a prediction, where its patch runs and results are kept, and the function for each part, by name."""

    assessed: Assessed
    runs: PatchRuns
    parts: Mapping[str, Find]

    @property
    def name(self) -> str:
        return self.assessed.instance.instance_id

    @property
    def affinity(self) -> str:
        return self.assessed.instance.environment_digest

    @property
    def clone(self) -> str:
        """The clone whose objects a worker needs."""
        return self.runs.clone

    def perform(self, tell: Tell) -> Examined:
        """Collect these parts of the evidence. A part without a result has a note under its name."""
        examination = Examination(self, tell)
        fields: dict[str, Any] = {}
        notes: dict[str, str] = {}
        fault = ""
        for name, part in self.parts.items():
            try:
                fields |= part(examination)
            except Silent as cause:
                notes[name] = str(cause)
            except Exception as error:
                log.exception("%s: %s", self.name, name)
                notes[name] = f"{FAILED}{error}"
                fault = fault or _cause(error)
        evidence = Evidence(self.assessed.verdict, **fields, notes=notes)
        return Examined(evidence, tuple(examination.made), examination.tested, fault)

    def failed(self, error: Exception) -> Examined:
        notes = dict.fromkeys(self.parts, f"{FAILED}{error}")
        return Examined(Evidence(self.assessed.verdict, notes=notes), fault=_cause(error))


def _cause(error: Exception) -> str:
    return error.cause if isinstance(error, InfrastructureError) else ""


class Part(NamedTuple):
    """A part: its work in words (`progress`, for users), its version, the type of its result, and the function that
    runs it."""

    progress: str
    version: str
    kind: type[Any]
    run: Callable[[Plan], Any]


class Examination:
    """Collects the parts for one prediction: runs what is not kept, and remembers what it made."""

    def __init__(self, request: Examine, tell: Tell) -> None:
        self.runs, self.tell = request.runs, tell
        self.instance, self.verdict, self.patch = request.assessed
        self.made: list[Made] = []
        self.tested: PatchRun | None = None
        self._known: dict[str, Any] = {}

    def say(self, text: str) -> None:
        self.tell(Event(self.instance.instance_id, text))

    def run(self) -> TestRun:
        """The run of the patch. Raises PatchFailed, and any error of the run."""
        tested = self.runs.kept(self.instance, self.patch)
        if tested is None:
            tested = self.tested = self.runs.request(self.instance, self.patch).perform(self.tell)
        if tested.unapplied:
            raise PatchFailed(*tested.unapplied)
        if tested.run is None:
            cause, _, message = tested.fault.partition(": ")
            raise InfrastructureError(message, cause=cause)
        return tested.run

    def result(self, patch: str, part: Part) -> Any:
        """The result of a part for one patch. Raises any error of the part."""
        inputs = self.runs.inputs(self.instance, patch) | {"part": part.version}
        name = digest(inputs)
        if name not in self._known:
            self._known[name] = self._result(inputs, part)
        return self._known[name]

    def _result(self, inputs: dict[str, str], part: Part) -> Any:
        unit, form = self.runs.unit("evidence", inputs), TypeAdapter(part.kind)
        if unit.is_done(**inputs):
            return form.validate_json(unzipped(unit.folder / _FILE))
        result = patiently(lambda: part.run(self._plan(part.progress)), self.say, self.runs.patience)
        self.made.append(Made(inputs, {_FILE: gzip.compress(form.dump_json(result), mtime=0)}))
        return result

    def _plan(self, progress: str) -> Plan:
        plan, _ = self.runs.request(self.instance, "").plan(self.tell)
        self.say(progress)
        return plan


#: collects one part as fields of the evidence. Raises Silent
Find = Callable[[Examination], dict[str, Any]]
