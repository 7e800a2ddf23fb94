"""Stored runs in `04_evaluation/runs/`: the log, the report, and whatever else decides a verdict.

Runs are named by the digest of what decides them (image, patch, command, files, limits, counter-runs, the law of
running). Two models with the same patch need only one run, and a changed patch never gets an old verdict. Repeats and
counter-runs are stored with the run that caused them, with their durations. The tests that gold flips are a unit of
their own (`flips/`), for all patches of an instance. Logs and reports are read again each time, so a new law of reading
or grading gives new verdicts without running anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.patches import select
from pipeline.core.records import Identity, Instance
from pipeline.core.store import Unit, digest, read_field, read_object
from pipeline.ecosystems.protection import protected
from pipeline.execution.counter import KINDS, form_of
from pipeline.execution.law import of_run
from pipeline.execution.reading import read
from pipeline.execution.run import PatchRun, TestRun, pack, unpack
from pipeline.sandbox.base import Limits

NAME, AGAIN = "tests", "repeat"


def names(path: Path) -> dict[str, str]:
    """The names of kept runs by instance, from a `runs.json`. Raises UserError with file and field."""
    found = read_object(path)
    for instance, name in found.items():
        if not (isinstance(name, str) and re.fullmatch("[0-9a-f]+", name)):
            raise UserError("not the name of a kept run", path=path, field=instance, hint="evaluate the run again")
    return found


def unit_of(data: Path, repo: Repo, name: str, kind: str = "runs") -> Unit:
    """The unit that keeps a named run in a data directory; `kind` is a folder of `04_evaluation`."""
    return Unit(data / "04_evaluation" / kind / repo.slug / name)


def run_digests(instance: Instance, patch: str) -> dict[str, str]:
    """The digests of what is run, and the law of running."""
    gold = digest(instance.test_patch, select(instance.fix_patch, protected(instance)), *instance.protected)
    law = of_run("running", parser=instance.environment.parser)
    counter_runs = instance.counter_runs
    patches = [counter_runs.patch(kind) for kind in KINDS]
    counter = digest(counter_runs.kinds, *patches, *form_of(counter_runs), counter_runs.hidden)
    return {"image": instance.image, "patch": digest(patch), "gold": gold, "counter": counter, "law": law}


def inputs(instance: Instance, patch: str, sandbox: str, limits: Limits) -> dict[str, str]:
    """The digests of everything that decides a run."""
    environment = instance.environment.decisive
    return run_digests(instance, patch) | {"how": digest(environment, instance.selected, vars(limits), sandbox)}


def save(unit: Unit, tested: PatchRun, inputs: dict[str, str]) -> None:
    """Keep a run, or the fact that a patch does not apply. A failure of the machine is not kept: it runs again."""
    if tested.unapplied:
        unit.keep({}, {"unapplied": tested.unapplied}, **inputs)
    elif tested.run:
        again = {f"{AGAIN}.{number}": run for number, run in enumerate(tested.repeats, 1)}
        all_runs = {NAME: tested.run, **again, **tested.counter}
        packed = {name: pack(run, name) for name, run in all_runs.items()}
        fields = {name: of_run for name, (of_run, _) in packed.items()}
        files = {name: data for _, some in packed.values() for name, data in some.items()}
        ran = tested.ran.model_dump(mode="json") if tested.ran else None
        seconds = {name: round(run.seconds, 3) for name, run in all_runs.items()}
        parts = {"run": fields[NAME], "repeats": {name: fields[name] for name in again}, "flips": tested.flips}
        counter = {name: fields[name] for name in tested.counter}
        result = {**parts, "counter": counter, "ran": ran, "seconds": seconds}
        unit.keep(files, result, **inputs)


def load(unit: Unit, parser: str) -> PatchRun:
    """The kept run, with its log and report read again. Raises UserError for a damaged one."""
    result = read_field(unit.path, "result", dict)
    try:
        kept = _unread(result, unit.folder)
    except (LookupError, TypeError, ValueError, AttributeError):
        hint = "remove its folder, and evaluate the run again"
        raise UserError("not a kept run", path=unit.path, field="result", hint=hint) from None
    counter = {name: read(parser, run) for name, run in kept.counter.items()}
    again = tuple(read(parser, run) for run in kept.repeats)
    return replace(kept, run=kept.run and read(parser, kept.run), counter=counter, repeats=again)


def _unread(result: Mapping[str, Any], folder: Path) -> PatchRun:
    """The kept run without what its logs and reports say. Raises UserError for a damaged file, and any error for a
    result of another form."""
    if "unapplied" in result:
        return PatchRun(unapplied=tuple(result["unapplied"]))
    seconds = result.get("seconds", {})

    def once(fields: Mapping[str, Any], name: str) -> TestRun:
        return replace(unpack(fields, name, folder), seconds=seconds.get(name, 0.0))

    counter = {name: once(fields, name) for name, fields in result.get("counter", {}).items()}
    ran = result["ran"] and Identity.model_validate(result["ran"])
    again = tuple(once(fields, name) for name, fields in result.get("repeats", {}).items())
    return PatchRun(once(result["run"], NAME), counter, again, result.get("flips"), ran=ran)
