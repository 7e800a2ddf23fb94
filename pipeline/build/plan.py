"""What is to be done for a candidate: its unit under `02_dataset/<repo>/units/`, and whether it is done.

A unit is done when its manifest names the same inputs. When the law of reading or qualifying changes, its outcome is
judged again from its stored logs and reports; when anything else changes, it runs again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.build import faults, hypotheses, proposals
from pipeline.build.helpers import only_tests_import, split
from pipeline.build.infer import Unsupported
from pipeline.build.judge import RUNS, Against, Ran, carried, judge, with_files
from pipeline.build.qualify import Outcome, Qualified, Qualify, Settings, recipe, request, selected
from pipeline.build.reasons import Rejected
from pipeline.core.git import Clone
from pipeline.core.records import Candidate, Instance, Rejection
from pipeline.core.retry import Patience
from pipeline.core.store import Store, Unit, digest, read_json
from pipeline.core.verdict import Triple, transitions
from pipeline.ecosystems import all_parsers
from pipeline.execution.counter import Made
from pipeline.execution.law import of_run
from pipeline.execution.reading import read
from pipeline.execution.run import TestRun, unpack

#: the file of a unit that says what was run and how each run ended, beside logs and reports
STORED = "runs.json"


@dataclass(frozen=True)
class Planned:
    """One candidate: its request, its unit, and the digests of all that decides its outcome: `inputs` run it again,
    `readings` judge it again."""

    request: Qualify
    unit: Unit
    inputs: dict[str, str]
    readings: dict[str, str]

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def is_done(self) -> bool:
        known = self.unit.inputs()
        return known in ({**self.inputs, **self.readings}, {**self.inputs, **self.readings, **repair()})

    @property
    def is_readable(self) -> bool:
        """Whether all that decides what was run is the same, so that the outcome can be judged again."""
        known = self.unit.inputs()
        same = {**self.inputs, **repair()}.items() <= {**repair(), **known}.items()
        return same and (self.unit.folder / STORED).exists()

    def outcome(self) -> Outcome | None:
        """What was decided last, by whatever law, with the candidate's texts of today; None for nothing."""
        if not self.unit.inputs():
            return None
        result = self.unit.result()
        if "reason" in result:
            return Rejection.model_validate(result)
        instance = Instance.model_validate(result)
        return instance.model_copy(update=carried(split(self.request.candidate, instance.moved)))

    def finished(self, outcome: Outcome) -> dict[str, str]:
        """The inputs that a unit's manifest names: a rejection may be stale when more can be repaired."""
        more = repair() if isinstance(outcome, Rejection) else {}
        return {**self.inputs, **self.readings, **more}

    def judged_anew(self) -> Qualified | None:
        """The outcome once more from what is stored; None where that does not suffice: a rejection of which there was
        none before may be repaired, which takes new runs."""
        stored = read_json(self.unit.folder / STORED)
        ran = Ran.model_validate(stored["ran"])
        files = {path.name: path.read_bytes() for path in self.unit.folder.iterdir() if path.suffix == ".gz"}
        try:
            runs = _runs(stored["runs"], ran, files)
            outcome: Outcome = judge(self.request.candidate, ran, runs, _against(stored.get("counter"), ran, files))
        except Rejected as end:
            outcome = self.request.rejected(end.reason, end.detail)
            before = self.unit.result()
            if before.get("reason") != outcome.reason:
                return None
        return Qualified(outcome, files, stored)


def repair() -> dict[str, str]:
    """What decides a rejection beside the inputs of its unit."""
    return {"repair": digest(faults.table_digest(), hypotheses.decides())}


def _runs(fields: Mapping[str, Any], ran: Ran, files: Mapping[str, bytes]) -> dict[str, list[TestRun]]:
    """The stored runs, read anew."""

    def once(name: str) -> TestRun:
        return read(ran.environment.parser, unpack(fields[name], name, files.__getitem__))

    return {name: [once(f"{name}.{number}") for number in range(1, ran.repeats + 1)] for name in RUNS}


def _against(stored: Mapping[str, Any] | None, ran: Ran, files: Mapping[str, bytes]) -> Against | None:
    """The stored counter-runs, read anew; None where gold had come to none."""
    if stored is None:
        return None
    parser = ran.environment.parser
    runs = {
        kind: read(parser, unpack(fields, f"counter.{kind}", files.__getitem__))
        for kind, fields in stored["runs"].items()
    }
    return Against(Made.model_validate(stored["made"]), runs, stored.get("moved", False))


def stored_triples(unit: Unit) -> tuple[tuple[str, ...], dict[str, Triple]]:
    """The test files and every test's three statuses as a unit's stored runs say them, whatever became of it; none
    where not all runs were made. Of repeats that disagree the first counts."""
    path = unit.folder / STORED
    if not path.exists():
        return (), {}
    stored = read_json(path)
    ran = Ran.model_validate(stored["ran"])
    files = {one.name: one.read_bytes() for one in unit.folder.iterdir() if one.suffix == ".gz"}
    runs = with_files(_runs(stored["runs"], ran, files))
    return ran.files, transitions(*(runs[name][0].results for name in RUNS))


def unit_of(store: Store, candidate: Candidate) -> Unit:
    """The unit of work of one candidate; its folder holds the logs."""
    return Unit(store.qualification(candidate.repository) / "units" / candidate.instance_id)


def planned(
    store: Store,
    clone: Clone,
    settings: Settings,
    repeats: Mapping[int, int],
    patience: Patience,
    candidate: Candidate,
) -> Planned:
    """What there is to do for a candidate. Raises UserError when the clone lacks a commit."""
    own = replace(settings, repeats=repeats.get(candidate.number, settings.repeats))
    accepted = proposals.accepted(proposals.read(store, candidate.repository), candidate)
    fields, model = (proposals.fields(accepted), accepted.model) if accepted else ({}, "")
    files, patches, moved = "", (candidate.fix_patch, candidate.test_patch), only_tests_import(clone, candidate)
    try:
        files = digest(selected(clone, candidate, own.scope))
        made = recipe(clone, candidate, proposals.given(fields, model))
        inferred, parser = made.environment_digest, made.environment.parser
        environment = digest(made.image, made.environment.decisive)
    except Unsupported as error:
        inferred, environment, parser = "", digest(error.reason, str(error)), ""
    inputs = {
        "candidate": digest(candidate.base.sha, candidate.merge_sha, *patches, *moved),
        "environment": environment,
        "files": files,
        "settings": digest(own.sandbox.name, own.repeats, vars(own.limits), own.scope),
        "running": of_run("running", parser=parser),
    }
    readings = {"reading": of_run("reading", "qualifying", parser=parser)}
    asked = request(own, clone, candidate, inferred, patience)
    asked = replace(asked, moved=moved, proposed=fields, set_up_by=model)
    return Planned(asked, unit_of(store, candidate), inputs, readings)


class Others:
    """What there is to do for candidates that are not asked for, by what their units say: the clone is not read.

    So an instance is found stale by a new law, and by other commits and patches; that its environment is inferred
    otherwise, or that other test files are selected, is found when it is asked for.
    """

    def __init__(self, store: Store, clone: Clone, settings: Settings, patience: Patience) -> None:
        self._store, self._clone, self._settings, self._patience = store, clone, settings, patience
        self._running = [(of_run("running", parser=one), one) for one in ("", *all_parsers())]
        self._reading = {one: of_run("reading", "qualifying", parser=one) for one in ("", *all_parsers())}

    def planned(self, candidate: Candidate) -> Planned:
        """The unit as it would be if it were asked for."""
        unit = unit_of(self._store, candidate)
        known, result = unit.inputs(), unit.result()
        inputs = {name: known.get(name, "") for name in ("environment", "files", "settings")}
        inputs |= {"candidate": _candidate(candidate, result, known), "running": ""}
        asked = request(self._settings, self._clone, candidate, patience=self._patience)
        asked = replace(asked, moved=tuple(result.get("moved", ())))
        laws = [parser for law, parser in self._running if law == known.get("running")]
        if not laws:
            same = known.get("reading") in self._reading.values()
            return Planned(asked, unit, inputs, {"reading": known["reading"] if same else ""})
        own = result.get("environment", {}).get("parser")
        reading = self._reading[own if own in laws else laws[0]]
        return Planned(asked, unit, inputs | {"running": known["running"]}, {"reading": reading})


def _candidate(candidate: Candidate, result: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """The digest of what of a candidate decides. Only an instance says which of its files only tests import."""
    if "reason" in result:
        return known.get("candidate", "")
    moved = (*result.get("moved", ()), *result.get("needs", ()))
    patches = (candidate.fix_patch, candidate.test_patch)
    return digest(candidate.base.sha, candidate.merge_sha, *patches, *moved)


def in_order(units: Iterable[Planned]) -> list[Planned]:
    """In the order of merging: neighbours in time share environments."""
    return sorted(units, key=lambda one: one.request.candidate.merged_at)
