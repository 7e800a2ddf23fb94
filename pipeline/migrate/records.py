"""Records of schema 1 as records of schema 2. Pure: plain data in, plain data out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline.analyze.handcheck.records import HandCheck
from pipeline.collect.entries import Entry
from pipeline.core.assessment import Assessment
from pipeline.core.errors import UserError
from pipeline.core.ratings import OLDER
from pipeline.core.record import SCHEMA_VERSION, Versioned
from pipeline.core.records import Candidate, Instance, Prediction, Rejection, Review, Task, Verdict
from pipeline.core.verdict import SNAPSHOT
from pipeline.dataset.lock import Lock

Data = dict[str, Any]
#: the schema that is migrated from
OLD = 1
#: runs of a qualification -> the field of Multi-SWE-bench that held their results
_RESULTS = {"run": "run_result", "test": "test_patch_result", "fix": "fix_patch_result"}
_STATUSES = ("PASSED", "FAILED", "SKIPPED")
#: lists of tests that can be derived from the transitions
_DERIVED = ("fixed_tests", "p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests", "classes")


def _instance(old: Data) -> Data:
    """Merge the eight lists of tests into one table. Raises UserError if the lists contradict each other."""
    runs = [_results(old[field]) for field in _RESULTS.values()]
    names = sorted(set().union(*runs))
    letters = {name: "".join(run.get(name, "NONE")[0] for run in runs) for name in names}
    marked = {name for name, kind in old["classes"].items() if kind == "snapshot_only"}
    tests = {name: text + (SNAPSHOT if name in marked else "") for name, text in letters.items()}
    dropped = {*_DERIVED, *_RESULTS.values()}
    new = {name: value for name, value in old.items() if name not in dropped} | {"tests": tests}
    new["environment"] = {name: value for name, value in old["environment"].items() if name != "schema_version"}
    _require_the_same(old, Instance.model_validate(_versioned(new)))
    return new


def _results(counts: Data) -> dict[str, str]:
    return {name: status for status in _STATUSES for name in counts[f"{status.lower()}_tests"]}


def _require_the_same(old: Data, new: Instance) -> None:
    for field in _DERIVED:
        stated, follows = old[field], getattr(new, field)
        if stated.keys() != follows.keys() or (field == "classes" and stated != follows):
            hint = "qualify it again with the program that wrote it, or remove the line"
            raise UserError("the field does not follow from the results of the three test runs", field=field, hint=hint)


def _verdict(old: Data) -> Data:
    """Keep a test's status with the test, and only for `unfixed` and `broken` ones."""
    statuses = old.get("tests", {})
    new = {name: value for name, value in old.items() if name != "tests"}
    for field in ("unfixed", "broken"):
        new[field] = {name: statuses.get(name, "NONE") for name in old.get(field, ())}
    return new


def _review(old: Data) -> Data:
    """Replace old names of statuses and difficulties."""
    return old | {name: OLDER.get(old[name], old[name]) for name in ("status", "difficulty") if old.get(name)}


def _as_it_is(old: Data) -> Data:
    return old


#: record -> how its fields are converted
CHANGES: dict[type[Versioned], Callable[[Data], Data]] = {
    Instance: _instance,
    Verdict: _verdict,
    Review: _review,
    **dict.fromkeys((HandCheck, Candidate, Rejection, Entry, Prediction, Task, Assessment, Lock), _as_it_is),
}


def converted(kind: type[Versioned], old: Data) -> Data:
    """A record of schema 2. One that is of schema 2 already, or has no version, is returned as it is."""
    return _versioned(CHANGES[kind](old)) if old.get("schema_version") == OLD else old


def _versioned(old: Data) -> Data:
    """The record with the new version. Schema 1 did not say which version of the program wrote it."""
    return {"schema_version": SCHEMA_VERSION, "tool": "", **{k: v for k, v in old.items() if k != "schema_version"}}
