"""Learning within a repository: remedies that worked for one candidate are tried first for its neighbours.

Reads and writes `02_dataset/<repo>/learned.jsonl`, one remedy per line, in the order in which they were first needed. A
remedy is reused only where its fault would occur again: a package's if the manifests hold that package in that version,
any other if Node, manager and runner have the same major versions. A neighbour thus gets what it would have found by
itself, only sooner; if this does not help, it starts again from nothing. What can be found out without an install is
not learned.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path

from pipeline.build import faults
from pipeline.build.faults import Fault, Finding
from pipeline.build.remedies import Situation
from pipeline.build.repair import Repair, Step, apply
from pipeline.core.records import Environment, Record
from pipeline.core.store import digest, read_records, write_records

#: what hypotheses are about: it is no row of the table, since no log shows it
SICK = Fault("base-sick", "run", (), (), "the base was sick", "")
#: remedies whose fault shows itself before anything is installed, or changes nothing that is: not worth a guess
CHEAP = ("thaw", "test_env", "without")


class Learned(Record):
    """A remedy that worked: against which fault, what the log had shown, in which era."""

    fault: str
    remedy: str
    found: dict[str, str]
    era: str
    deviation: str


class Memory:
    """What was learned in one repository. The coordinator's: units are given its rows and tell what they learned."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()
        self.rows = tuple(read_records(path, Learned))

    def learn(self, lessons: Sequence[Learned]) -> None:
        """Keep what is new; threads share it."""
        with self._lock:
            new = [row for row in lessons if row not in self.rows]
            if new:
                self.rows = (*self.rows, *new)
                write_records(self.path, self.rows)


def recall(rows: Sequence[Learned], environment: Environment, there: Situation) -> Repair:
    """The environment with every learned remedy whose fault it would meet."""
    state = Repair(environment)
    for row in rows:
        if row.fault == SICK.name:
            state = _as_neighbours(state, row, environment) or state
        elif _concerns(row, environment, there):
            state = _again(state, row, there) or state
    return state


def step(name: str, tells: str, before: Environment, after: Environment) -> Step:
    """The step from an environment in which a base was sick to another one, by the hypothesis `name`."""
    changed = {field for field in Environment.model_fields if getattr(before, field) != getattr(after, field)}
    fields = json.dumps(after.model_dump(mode="json", include=changed - {"evidence"}), sort_keys=True)
    found = {"hypothesis": name, "before": _way(before), "after": fields}
    return Step(Finding(SICK, found), "hypothesis", f"the base was sick in the environment as read: {tells}")


def preparations(rows: Sequence[Learned], environment: Environment) -> list[tuple[tuple[str, ...], ...]]:
    """The commands after which neighbours with the same way of running were well."""
    wanted = (row for row in rows if row.fault == SICK.name and row.found["hypothesis"] == "prepared")
    told = (json.loads(row.found["after"])["prepare"] for row in wanted if _alike(row, environment))
    return [tuple(map(tuple, commands)) for commands in told]


def ways(steps: Sequence[Step]) -> list[Step]:
    """Those of the steps that a sick base led to."""
    return [one for one in steps if one.finding.fault is SICK]


def lessons(environment: Environment, steps: Sequence[Step]) -> tuple[Learned, ...]:
    """What the steps teach that made the inferred `environment` work."""
    era = era_of(environment)
    return tuple(
        Learned(fault=s.finding.fault.name, remedy=s.remedy, found=s.finding.found, era=era, deviation=s.deviation)
        for s in steps
        if s.remedy not in CHEAP
    )


def era_of(environment: Environment) -> str:
    """What faults that name no package depend on."""
    majors = {
        "node": environment.node,
        environment.manager: environment.manager_version,
        environment.runner: environment.runner_version,
    }
    return ", ".join(
        f"{name} {''.join(re.findall(r'[0-9]+', version)[:1])}".strip() for name, version in majors.items()
    )


def _way(environment: Environment) -> str:
    """What decides how tests run, whatever repair had changed before."""
    repaired = {"evidence", "edits", "rebuild", "install", "install_env", "node", "manager_version"}
    return digest(environment.model_dump(mode="json", exclude=repaired))


def _alike(row: Learned, environment: Environment) -> bool:
    return row.era == era_of(environment) and row.found["before"] == _way(environment)


def _as_neighbours(state: Repair, row: Learned, environment: Environment) -> Repair | None:
    """The environment that a neighbour with the same way of running was well in; None for another way, and for files
    that it prepared: they are made for every commit anew, and not all tests need them."""
    if row.found["hypothesis"] == "prepared" or not _alike(row, environment):
        return None
    before, after = state.environment.model_dump(mode="json"), json.loads(row.found["after"])
    fields = before | after
    fields["edits"] = before["edits"] + [one for one in after.get("edits", ()) if one not in before["edits"]]
    known = Finding(SICK, dict(row.found))
    return Repair(Environment.model_validate(fields), (*state.steps, Step(known, row.remedy, row.deviation)))


def _concerns(row: Learned, environment: Environment, there: Situation) -> bool:
    name = row.found.get("name")
    return there.has(name, row.found.get("old", "")) if name else row.era == era_of(environment)


def _again(state: Repair, row: Learned, there: Situation) -> Repair | None:
    """The row's remedy once more; None when it changes nothing here, or the table has it no longer."""
    for fault in (one for one in faults.table() if one.name == row.fault):
        for remedy, more in fault.remedies:
            if remedy == row.remedy and (after := apply(state, Finding(fault, row.found), remedy, more, there)):
                return after
    return None
