"""Runs as they are kept in `04_evaluation/runs/`: the log, the report, and what else decides a verdict.

They are named by what decides them (image, patch, command, parser, files, limits): two models with the same patch cost
one run, and a changed patch never shows an old verdict. What log and report say is read anew each time.
"""

from __future__ import annotations

import gzip
from dataclasses import asdict

from pipeline.core.names import Repo
from pipeline.core.patches import select
from pipeline.core.records import Instance
from pipeline.core.store import Store, Unit, digest, write_bytes
from pipeline.ecosystems.protection import is_protected
from pipeline.execution import runs
from pipeline.execution.applying import PatchFailed
from pipeline.execution.control import Control
from pipeline.execution.runs import Run

#: raised whenever runs are kept differently: older ones are made again
VERSION = 3

_LOG, _REPORT = "tests.log.gz", "report.json.gz"
#: fields of a run that its log and report say, are files of their own, or differ from one time to the next
_APART = ("results", "suites", "by_snapshot", "faults", "log", "report", "seconds")


def place(store: Store, repo: Repo, name: str, kind: str = "runs") -> Unit:
    """Where the run of a name is kept; `kind` is a folder of `04_evaluation`."""
    return Unit(store.root / "04_evaluation" / kind / repo.slug / name)


def what(instance: Instance, patch: str) -> dict[str, str]:
    """The digests of what is run."""
    gold = digest(instance.test_patch, select(instance.fix_patch, is_protected))
    return {"image": instance.image, "patch": digest(patch), "gold": gold}


def save(unit: Unit, run: Run, inputs: dict[str, str]) -> None:
    write_bytes(unit.folder / _LOG, gzip.compress(run.log, mtime=0))
    write_bytes(unit.folder / _REPORT, gzip.compress(run.report, mtime=0))
    unit.finish({key: value for key, value in asdict(run).items() if key not in _APART}, **inputs)


def save_failure(unit: Unit, error: PatchFailed, inputs: dict[str, str]) -> None:
    unit.finish({"failed": error.name, "why": error.why}, **inputs)


def load(unit: Unit, parser: str) -> Run:
    """A run, its log and report read anew. Raises PatchFailed where it came to none."""
    kept = unit.result()
    if "failed" in kept:
        raise PatchFailed(kept["failed"], kept["why"])
    log, report = (gzip.decompress((unit.folder / name).read_bytes()) for name in (_LOG, _REPORT))
    lists = {name: tuple(kept.pop(name)) for name in ("restored", "changed")}
    title, files = kept.pop("control")
    return runs.read(parser, Run(**kept, **lists, control=Control(title, tuple(files)), log=log, report=report))
