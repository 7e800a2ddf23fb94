"""What has to be done for a candidate: its unit under `02_dataset/<repo>/units/`, and whether it is done.

A unit is done when its manifest names the same inputs. When the law of reading or qualifying changes, its outcome is
judged again from its stored logs and reports; when anything else changes, it runs again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.build import faults, gold, hypotheses, proposals
from pipeline.build.environments import recipe, selected, supported
from pipeline.build.helpers import only_tests_import, split
from pipeline.build.infer import Unsupported
from pipeline.build.judge import RUNS, Ran, carried, judge, with_files
from pipeline.build.qualify import Outcome, Qualified, Qualify, Settings, request
from pipeline.build.reasons import Rejected
from pipeline.core.git import Clone
from pipeline.core.records import Candidate, Instance, Rejection
from pipeline.core.retry import Patience
from pipeline.core.store import Store, Unit, digest, read_json
from pipeline.core.verdict import Triple, transitions
from pipeline.ecosystems import all_parsers
from pipeline.execution.law import of_run
from pipeline.execution.reading import read
from pipeline.execution.run import TestRun, unpack

#: the file of a unit that says what was run and how each run ended, in addition to logs and reports
STORED = "runs.json"
#: the input that names tests known to be flaky, in JSON
FLAKY = "flaky"


class Listed(NamedTuple):
    """What a published list says of a candidate's runs: how often each was repeated, and which tests are flaky."""

    repeats: int
    flaky: tuple[str, ...] = ()


@dataclass(frozen=True)
class Planned:
    """One candidate: its request, its unit, and the digests of everything that decides its outcome. It runs again when
    `inputs` change, and is judged again when `readings` change."""

    request: Qualify
    unit: Unit
    inputs: dict[str, str]
    readings: dict[str, str]

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def is_done(self) -> bool:
        stored = self.unit.inputs()
        return stored in ({**self.inputs, **self.readings}, {**self.inputs, **self.readings, **repair_inputs()})

    @property
    def is_readable(self) -> bool:
        """Whether everything that decides the runs is unchanged, so that the outcome can be judged again."""
        stored = self.unit.inputs()
        same = {**self.inputs, **repair_inputs()}.items() <= {**repair_inputs(), **stored}.items()
        return same and (self.unit.folder / STORED).exists()

    def outcome(self) -> Outcome | None:
        """The stored outcome, decided by any law, with the candidate's current texts; None if there is none."""
        if not self.unit.inputs():
            return None
        result = self.unit.result()
        if "reason" in result:
            return Rejection.model_validate(result)
        instance = Instance.model_validate(result)
        return instance.model_copy(update=carried(split(self.request.candidate, instance.moved)))

    def finished(self, outcome: Outcome) -> dict[str, str]:
        """The inputs for the unit's manifest: a rejection also becomes stale when more can be repaired."""
        extra = repair_inputs() if isinstance(outcome, Rejection) else {}
        return {**self.inputs, **self.readings, **extra}

    def judged_again(self) -> Qualified | None:
        """The outcome, judged again from the stored runs. None if they do not suffice: a new rejection may be repaired,
        which takes new runs, and a new instance needs all repeats."""
        stored = read_json(self.unit.folder / STORED)
        ran = Ran.model_validate(stored["ran"])
        folder = self.unit.folder
        try:
            runs = _runs(stored["runs"], ran, folder)
            counter_runs = stored.get("counter")  # gold may have been rejected before them
            counter_results = gold.unpacked(counter_runs, ran.environment.parser, folder) if counter_runs else None
            outcome: Outcome = judge(self.request.candidate, ran, runs, counter_results, self.request.flaky)
            if ran.repeats < self.request.repeats:
                return None
        except Rejected as end:
            outcome = self.request.rejected(end.reason, end.detail).model_copy(update={"health": ran.health})
            before = self.unit.result()
            if before.get("reason") != outcome.reason:
                return None
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".gz"}
        return Qualified(outcome, files, stored)


def repair_inputs() -> dict[str, str]:
    """The inputs that decide a rejection in addition to those of its unit."""
    return {"repair": digest(faults.table_digest(), hypotheses.decides())}


def _runs(fields: Mapping[str, Any], ran: Ran, folder: Path) -> dict[str, list[TestRun]]:
    """The runs stored in a folder, read again."""

    def read_run(name: str) -> TestRun:
        return read(ran.environment.parser, unpack(fields[name], name, folder))

    return {name: [read_run(f"{name}.{number}") for number in range(1, ran.repeats + 1)] for name in RUNS}


def stored_triples(unit: Unit) -> tuple[tuple[str, ...], dict[str, Triple]]:
    """The test files and every test's three statuses in a unit's stored runs, whatever its outcome; empty if not all
    runs were made. The first of several repeats counts."""
    path = unit.folder / STORED
    if not path.exists():
        return (), {}
    stored = read_json(path)
    ran = Ran.model_validate(stored["ran"])
    runs = with_files(_runs(stored["runs"], ran, unit.folder))
    return ran.files, transitions(*(runs[name][0].results for name in RUNS))


def unit_of(store: Store, candidate: Candidate) -> Unit:
    """The unit of work of one candidate; its folder holds the logs."""
    return Unit(store.qualification(candidate.repository) / "units" / candidate.instance_id)


def planned(
    store: Store,
    clone: Clone,
    settings: Settings,
    listed: Mapping[int, Listed],
    patience: Patience,
    candidate: Candidate,
) -> Planned:
    """What has to be done for a candidate. A test that a list once called flaky stays so. Raises UserError when the
    clone lacks a commit."""
    unit, entry = unit_of(store, candidate), listed.get(candidate.number, Listed(settings.repeats))
    adjusted = replace(settings, repeats=entry.repeats)
    flaky = tuple(sorted({*entry.flaky, *_flaky(unit.inputs())}))
    accepted = proposals.accepted(proposals.read(store, candidate.repository), candidate)
    fields, model = (proposals.fields(accepted), accepted.model) if accepted else ({}, "")
    files, patches = "", (candidate.fix_patch, candidate.test_patch)
    moved: tuple[str, ...] = ()
    try:
        with supported():
            moved = only_tests_import(clone, candidate)
        files = digest(selected(clone, candidate, adjusted.scope))
        target = recipe(clone, candidate, proposals.with_evidence(fields, model))
        inferred, parser = target.environment_digest, target.environment.parser
        environment = digest(target.image, target.environment.decisive)
    except Unsupported as error:
        inferred, environment, parser = "", digest(error.reason, str(error)), ""
    inputs = {
        "candidate": digest(candidate.base.sha, candidate.merge_sha, *patches, *moved),
        "environment": environment,
        "files": files,
        "settings": digest(adjusted.sandbox.name, adjusted.repeats, vars(adjusted.limits), adjusted.scope),
        "running": of_run("running", parser=parser),
    }
    readings = {"reading": of_run("reading", "qualifying", parser=parser)} | _known(flaky)
    unit_request = request(adjusted, clone, candidate, inferred, patience)
    unit_request = replace(unit_request, moved=moved, proposed=fields, set_up_by=model, flaky=flaky)
    return Planned(unit_request, unit, inputs, readings)


def _flaky(inputs: Mapping[str, str]) -> tuple[str, ...]:
    """The tests that a unit's inputs name as flaky."""
    return tuple(json.loads(inputs.get(FLAKY, "[]")))


def _known(flaky: Sequence[str]) -> dict[str, str]:
    """The input for tests that are known to be flaky, if there are any."""
    return {FLAKY: json.dumps(flaky)} if flaky else {}


class Unselected:
    """What has to be done for candidates that a build did not select, according to their stored units. The clone is not
    read.

    So a changed law, commit or patch makes an instance stale here. A change of its inferred environment or its selected
    test files is noticed when a build selects it.
    """

    def __init__(self, store: Store, clone: Clone, settings: Settings, patience: Patience) -> None:
        self._store, self._clone, self._settings, self._patience = store, clone, settings, patience
        self._running = [(of_run("running", parser=parser), parser) for parser in ("", *all_parsers())]
        self._reading = {parser: of_run("reading", "qualifying", parser=parser) for parser in ("", *all_parsers())}

    def planned(self, candidate: Candidate) -> Planned:
        """The unit as if the build had selected it."""
        unit = unit_of(self._store, candidate)
        stored, result = unit.inputs(), unit.result()
        inputs = {name: stored.get(name, "") for name in ("environment", "files", "settings")}
        inputs |= {"candidate": _candidate(candidate, result, stored), "running": ""}
        unit_request = request(self._settings, self._clone, candidate, patience=self._patience)
        flaky = _flaky(stored)
        unit_request = replace(unit_request, moved=tuple(result.get("moved", ())), flaky=flaky)
        laws = [name for law, name in self._running if law == stored.get("running")]
        if not laws:
            is_current = stored.get("reading") in self._reading.values()
            reading = stored["reading"] if is_current else ""
            return Planned(unit_request, unit, inputs, {"reading": reading} | _known(flaky))
        parser = result.get("environment", {}).get("parser")
        reading = self._reading[parser if parser in laws else laws[0]]
        readings = {"reading": reading} | _known(flaky)
        return Planned(unit_request, unit, inputs | {"running": stored["running"]}, readings)


def _candidate(candidate: Candidate, result: Mapping[str, Any], stored: Mapping[str, str]) -> str:
    """The digest of the decisive parts of a candidate. Which of its files only tests import is known for an instance
    only."""
    if "reason" in result:
        return stored.get("candidate", "")
    moved = (*result.get("moved", ()), *result.get("needs", ()))
    patches = (candidate.fix_patch, candidate.test_patch)
    return digest(candidate.base.sha, candidate.merge_sha, *patches, *moved)


def in_order(units: Iterable[Planned]) -> list[Planned]:
    """In the order of merging: neighbors in time share environments."""
    return sorted(units, key=lambda unit: unit.request.candidate.merged_at)
