"""Merging another data directory's files into this one: everything is planned before anything is written.

What only one side has changed since the last merge is taken; what both changed is merged by its form (`forms`).
Conflicts are one UserError that lists every path, and nothing is written. Replaced files are archived first. Only
records that the other side removed and this side did not change are removed. An interrupted merge can be repeated.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.console import counted
from pipeline.core.errors import UserError
from pipeline.core.journal import rewrite
from pipeline.core.records import Verdict
from pipeline.core.store import (
    MANIFEST,
    Store,
    new_stamp,
    read_object,
    read_records,
    schema_of,
    write_bytes,
    write_json,
)
from pipeline.evaluate.final_report import final_report
from pipeline.llm.costs import write_costs
from pipeline.llm.ledger import Ledger
from pipeline.remote.areas import is_live
from pipeline.remote.forms import INSTANCE, form_of, joined, journal, rows_of
from pipeline.remote.sides import Sides
from pipeline.remote.units import result, same, sha256, walk

#: not merged as files: versions are compared, the ledger is merged row by row, and costs are derived from it
APART = ("schema.json", "ledger.sqlite", "costs.csv")
#: the number of conflicts that an error lists
MOST = 20


class Step(NamedTuple):
    """What happens to one path, relative to the data directory: `action` is new, taken, merged or kept; `data` are the
    merged bytes."""

    path: str
    action: str
    unit: bool = False
    data: bytes = b""


def merge(store: Store, incoming: Path, known: Path, prefer: str = "") -> Counter[str]:
    """Merge a copy of another data directory into this one; `known` records what both hold afterwards, for the next
    merge.

    Returns how many places were new, taken, merged and kept. Raises UserError for conflicts, unless `prefer` (ours,
    theirs) decides them, and while a stage is running.
    """
    _require_schema(store, incoming)
    store.begin()
    with store.still():
        plan = _Plan(store, incoming, read_object(known) if known.exists() else {}, prefer)
        steps, note = plan.steps(), plan.note()
        for step in sorted(steps, key=lambda step: not step.unit):
            plan.do(step)
        if plan.ledger:
            _absorb(store, plan.ledger)
        write_json(known, note)
        return Counter(step.action for step in steps)


def _require_schema(store: Store, incoming: Path) -> None:
    ours, theirs = schema_of(store.root), schema_of(incoming)
    if ours != theirs:
        hint = "bring both to the same version of the program: just remote-push, just migrate"
        message = f"the other data have version {theirs}, these have version {ours}"
        raise UserError(message, path=incoming / "schema.json", field="schema_version", hint=hint)


class _Plan:
    """The steps of a merge, from both sides and their state at the last merge."""

    def __init__(self, store: Store, incoming: Path, before: dict[str, Any], prefer: str) -> None:
        self.store, self.incoming, self.prefer = store, incoming, prefer
        self.files: dict[str, str] = before.get("files", {})
        self.rows: dict[str, dict[str, str]] = before.get("rows", {})
        self.sides = (store.root, incoming)
        self.stamp, self.conflicts = new_stamp(), list[str]()
        ledger = incoming / "ledger.sqlite"
        self.ledger = ledger if ledger.exists() else None
        self.paths = [str(path.relative_to(incoming)) for path in walk(incoming)]
        self._unlink()

    def _unlink(self) -> None:
        """Make files of the copy that are hard links to ours, and that are appended to in place, files of their own."""
        for path in filter(is_live, self.paths):
            ours, theirs = self.store.root / path, self.incoming / path
            if ours.exists() and ours.samefile(theirs):
                copy = theirs.with_name(f".{theirs.name}.half")
                shutil.copy2(theirs, copy)
                copy.replace(theirs)

    def steps(self) -> list[Step]:
        """All steps. Raises UserError with all conflicts."""
        steps = [self._step(path) for path in self.paths if path not in APART]
        self.conflicts += _contradictory_outcomes(self, steps)
        if self.ledger and self.store.ledger.exists():
            self.conflicts += [f"ledger.sqlite: {conflict}" for conflict in _differing(self.store.ledger, self.ledger)]
        if self.conflicts:
            shown = "\n  ".join(self.conflicts[:MOST])
            omitted = f"\n  and {len(self.conflicts) - MOST} more" if len(self.conflicts) > MOST else ""
            advice = "nothing was written; --prefer ours or --prefer theirs decides, the other is archived"
            hint = f"{shown}{omitted}\n{advice}"
            message = f"{counted(len(self.conflicts), 'conflict')}: both sides changed the same data"
            raise UserError(message, path=self.store.root, hint=hint)
        return steps

    def _step(self, path: str) -> Step:
        ours, theirs = self.store.root / path, self.incoming / path
        unit = theirs.is_dir()
        if self._is_in_unit(path):
            return Step(path, "kept", unit)
        if not ours.exists() or (unit and ours.is_dir() and not (ours / MANIFEST).exists()):
            return Step(path, "new", unit)
        equal = same(ours, theirs)
        if equal and not (unit and result(ours) != result(theirs)):
            return Step(path, "kept", unit)
        before = self.files.get(path)
        if before == sha256(ours):
            return Step(path, "taken", unit)
        if before == sha256(theirs):
            return Step(path, "kept", unit)
        if equal:  # their records are taken only if preferred, and a unit must have the result that its record has
            return Step(path, "taken" if self.prefer == "theirs" else "kept", unit)
        return self._disputed(path, unit or ours.is_dir())

    def _is_in_unit(self, path: str) -> bool:
        """Whether a path lies in a finished unit of ours, which stays as it is."""
        return any((self.store.root / parent / MANIFEST).is_file() for parent in Path(path).parents)

    def _disputed(self, path: str, unit: bool) -> Step:
        """Whether both sides changed the file, or whether it is unknown which side did."""
        if unit:
            if not self.prefer:
                self.conflicts.append(f"{path}: made from different inputs on each side")
            return Step(path, "taken" if self.prefer == "theirs" else "kept", unit)
        sides = Sides(self.store.root / path, self.incoming / path, self.rows.get(path, {}), self.prefer)
        data, conflicts = form_of(path)(sides)
        self.conflicts += [f"{path}: {conflict}" for conflict in conflicts]
        if data is None or data == sides.our_data:
            return Step(path, "kept")
        return Step(path, "merged", data=data)

    def after(self, step: Step) -> bytes:
        """The bytes of a file after the merge."""
        sides = {"merged": None, "kept": self.store.root / step.path}
        source = sides.get(step.action, self.incoming / step.path)
        return source.read_bytes() if source else step.data

    def do(self, step: Step) -> None:
        """Carry out one step."""
        if step.action != "kept" and form_of(step.path) is journal and (self.store.root / step.path).is_file():
            self._join(step.path)
        elif step.action == "merged":
            self._write(step.path, step.data)
        elif step.action != "kept":
            self._take(step.path)

    def _write(self, path: str, data: bytes) -> None:
        target = self.store.root / path
        self.store.archive(target, self.stamp)
        write_bytes(target, data)
        if target.name == "verdicts.jsonl" and path.startswith("04_evaluation/repair/"):
            write_json(target.with_name("final_report.json"), final_report(read_records(target, Verdict)))

    def _join(self, path: str) -> None:
        """Merge a journal with what it holds by now: people's ratings are appended at any time."""
        ours, theirs = self.store.root / path, (self.incoming / path).read_bytes()
        self.store.archive(ours, self.stamp)
        rewrite(ours, lambda data: joined(data, theirs))

    def _take(self, path: str) -> None:
        """Replace our file by theirs and archive ours. Files of units never change, so they are hard-linked."""
        ours, theirs = self.store.root / path, self.incoming / path
        self.store.archive(ours, self.stamp)
        ours.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=ours.parent, prefix=".merging."))
        try:
            new = scratch / ours.name
            shutil.copytree(theirs, new, copy_function=_linked) if theirs.is_dir() else shutil.copy2(theirs, new)
            if ours.is_dir():
                (ours / MANIFEST).unlink(missing_ok=True)  # an incomplete unit does not count
                shutil.rmtree(ours)
            new.rename(ours)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def note(self) -> dict[str, Any]:
        """The record of what both sides will hold. Paths that were not transferred keep their entries. Raises UserError
        for records that cannot be read."""
        files, rows = dict(self.files), dict(self.rows)
        for path in self.paths:
            if path in APART:
                continue
            theirs = self.incoming / path
            files[path] = sha256(theirs)
            if theirs.is_file() and (digests := rows_of(form_of(path), theirs, theirs.read_bytes())):
                rows[path] = digests
        return {"files": files, "rows": rows}


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another file system
        shutil.copy2(source, target)


def _contradictory_outcomes(plan: _Plan, steps: list[Step]) -> Iterator[str]:
    """Candidates that would become both an instance and a rejection, since the results of both sides differ."""
    by_path = {step.path: step for step in steps}
    for rejections in (path for path in by_path if fnmatchcase(path, "02_dataset/*/rejections.jsonl")):
        dataset = f"{Path(rejections).parent}.jsonl"
        if dataset not in by_path:
            continue
        ours, theirs = (
            [_ids(side / path, _read(side / path)) for path in (dataset, rejections)] for side in plan.sides
        )
        after = [_ids(plan.store.root / path, plan.after(by_path[path])) for path in (dataset, rejections)]
        for name in sorted((after[0] & after[1]) - (ours[0] & ours[1]) - (theirs[0] & theirs[1])):
            yield f"{dataset}: {name} is an instance on one side and a rejection on the other"


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _ids(path: Path, data: bytes) -> set[str]:
    """The instances of a file's records. Raises UserError with file and line."""
    return set(rows_of(INSTANCE, path, data))


def _differing(ours: Path, theirs: Path) -> list[str]:
    with closing(Ledger(ours)) as ledger:
        return ledger.differing(theirs)


def _absorb(store: Store, theirs: Path) -> None:
    """Add their rows to our ledger, and derive the costs from all rows."""
    if store.ledger.exists():
        with closing(sqlite3.connect(store.ledger, timeout=30)) as opened:
            opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the archived ledger is one complete file
        store.archive(store.ledger)
    with closing(Ledger(store.ledger)) as ledger:
        ledger.absorb(theirs)
    store.archive(store.costs)
    write_costs(store)
