"""Learning within a repository: remedies that worked for one candidate are tried first for its neighbors.

Reads and writes `02_dataset/<repo>/learned.jsonl`, one remedy per line, in the order in which they were first needed. A
remedy is reused only where its fault would occur again: one for a package if the manifests have that package in that
version, any other if Node, manager and runner have the same major versions. A neighbor thus gets the remedies that it
would have found by itself, only sooner; if they do not help, it starts again from the beginning. What can be found out
without an install is not learned.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path

from pipeline.build import faults
from pipeline.build.faults import Fault, Finding
from pipeline.build.repair import Repair, Step, apply
from pipeline.build.situation import Situation
from pipeline.core.records import Environment, Record
from pipeline.core.store import digest, read_records, write_records

#: the fault that hypotheses are about; it has no row in the table, since no log shows it
SICK = Fault("base-sick", "run", (), (), "the base was sick", "", {})
#: remedies that are not worth guessing: their fault shows before the install, or they need no other install
CHEAP = ("thaw", "test_env", "without")


class Learned(Record):
    """A remedy that worked: against which fault, what the log had shown, in which era."""

    fault: str
    remedy: str
    found: dict[str, str]
    era: str
    deviation: str


class Memory:
    """What was learned in one repository. It belongs to the coordinator: units get its rows and report new lessons."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()
        self.rows = tuple(read_records(path, Learned))

    def learn(self, new_lessons: Sequence[Learned]) -> None:
        """Keep the new lessons. Thread-safe."""
        with self._lock:
            new = [row for row in new_lessons if row not in self.rows]
            if new:
                self.rows = (*self.rows, *new)
                write_records(self.path, self.rows)


def recall(rows: Sequence[Learned], environment: Environment, situation: Situation) -> Repair:
    """The environment with every learned remedy whose fault would occur in it."""
    state = Repair(environment)
    for row in rows:
        if row.fault == SICK.name:
            state = _as_neighbors(state, row, environment) or state
        elif _concerns(row, environment, situation):
            state = _again(state, row, situation) or state
    return state


def hypothesis_step(name: str, description: str, before: Environment, after: Environment) -> Step:
    """The step from an environment in which a base was sick to another one, by the hypothesis `name`."""
    changed = {field for field in Environment.model_fields if getattr(before, field) != getattr(after, field)}
    fields = json.dumps(after.model_dump(mode="json", include=changed - {"evidence"}), sort_keys=True)
    found = {"hypothesis": name, "before": _run_digest(before), "after": fields}
    return Step(Finding(SICK, found), "hypothesis", f"the base was sick in the environment as read: {description}")


def preparations(rows: Sequence[Learned], environment: Environment) -> list[tuple[tuple[str, ...], ...]]:
    """The commands that made the bases of neighbors well, of those that run their tests in the same way."""
    prepared = (row for row in rows if row.fault == SICK.name and row.found["hypothesis"] == "prepared")
    prepared_by = (json.loads(row.found["after"])["prepare"] for row in prepared if _alike(row, environment))
    return [tuple(map(tuple, commands)) for commands in prepared_by]


def of_sick_base(steps: Sequence[Step]) -> list[Step]:
    """The steps that were taken because of a sick base."""
    return [step for step in steps if step.finding.fault is SICK]


def lessons(environment: Environment, steps: Sequence[Step]) -> tuple[Learned, ...]:
    """The lessons of the steps that made the inferred `environment` work."""
    era = era_of(environment)
    return tuple(
        Learned(fault=finding.fault.name, remedy=remedy, found=finding.found, era=era, deviation=deviation)
        for finding, remedy, deviation in steps
        if remedy not in CHEAP
    )


def era_of(environment: Environment) -> str:
    """The versions on which faults that name no package depend."""
    majors = {
        "node": environment.node,
        environment.manager: environment.manager_version,
        environment.runner: environment.runner_version,
    }
    return ", ".join(
        f"{name} {''.join(re.findall(r'[0-9]+', version)[:1])}".strip() for name, version in majors.items()
    )


def _run_digest(environment: Environment) -> str:
    """The digest of the fields that decide how tests run, without those that repair changes."""
    repaired = {"evidence", "edits", "rebuild", "install", "install_env", "nested", "node", "manager_version"}
    return digest(environment.model_dump(mode="json", exclude=repaired))


def _alike(row: Learned, environment: Environment) -> bool:
    return row.era == era_of(environment) and row.found["before"] == _run_digest(environment)


def _as_neighbors(state: Repair, row: Learned, environment: Environment) -> Repair | None:
    """The environment in which the base of a neighbor that runs its tests in the same way was well. None for any other
    neighbor, and for prepared files: every commit must make its own, and not all tests need them."""
    if row.found["hypothesis"] == "prepared" or not _alike(row, environment):
        return None
    before, after = state.environment.model_dump(mode="json"), json.loads(row.found["after"])
    fields = before | after
    fields["edits"] = before["edits"] + [edit for edit in after.get("edits", ()) if edit not in before["edits"]]
    finding = Finding(SICK, dict(row.found))
    return Repair(Environment.model_validate(fields), (*state.steps, Step(finding, row.remedy, row.deviation)))


def _concerns(row: Learned, environment: Environment, situation: Situation) -> bool:
    name = row.found.get("name")
    return situation.has(name, row.found.get("old", "")) if name else row.era == era_of(environment)


def _again(state: Repair, row: Learned, situation: Situation) -> Repair | None:
    """The row's remedy applied again; None if it changes nothing here or is no longer in the table."""
    for fault in (fault for fault in faults.table() if fault.name == row.fault):
        for arguments in (arguments for remedy, arguments in fault.remedies if remedy == row.remedy):
            if after := apply(state, Finding(fault, row.found), row.remedy, arguments, situation):
                return after
    return None
