"""People's edits in `candidates.jsonl` and `rejections.jsonl` since these were written, as decisions.

A changed line sets its fields, a removed line excludes, and a new line (or one moved to the other file) includes or
excludes. The order of lines means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pipeline.collect.database import Database
from pipeline.collect.export import FILES
from pipeline.collect.settle import IDENTITY, Outcome
from pipeline.core.decisions import make
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Candidate, Decision, Rejection
from pipeline.core.store import each_record, unique


def edits(folder: Path, repo: Repo, written: Database) -> list[Decision]:
    """The decisions that make `written`, the database from which the files were written, say what they say now.

    A file that is gone says nothing. Raises UserError for a line that cannot be read, before anything is decided.
    """
    same: set[int] = set()
    changed: dict[int, list[Outcome]] = {}
    for one in chain.from_iterable(_lines(folder / name, kind, repo) for name, kind in FILES.items()):
        number = parse_instance_id(one.instance_id)[1]
        if written.record(number) == one:
            same.add(number)
        else:
            changed.setdefault(number, []).append(one)
    gone = [number for number in written.numbers(_kinds_there(folder)) if number not in same | changed.keys()]
    found = [_decisions(written, number, records) for number, records in sorted(changed.items())]
    return [*chain.from_iterable(found), *(_removed(repo, number) for number in gone)]


def _lines(path: Path, kind: type[Candidate] | type[Rejection], repo: Repo) -> Iterator[Outcome]:
    for one in unique(each_record(path, kind), path):
        if parse_instance_id(one.instance_id)[0] != repo:
            raise UserError(
                f"{one.instance_id} does not belong to {repo}", path=path, hint="correct or remove this line"
            )
        yield one


def _kinds_there(folder: Path) -> set[type[Candidate] | type[Rejection]]:
    return {kind for name, kind in FILES.items() if (folder / name).exists()}


def _removed(repo: Repo, number: int) -> Decision:
    return make(repo.instance_id(number), "exclude", reason="its line was removed by hand")


def _decisions(written: Database, number: int, records: list[Outcome]) -> Iterator[Decision]:
    """What the lines of one pull request decide; where both files have one, that in the other file than before."""
    before = written.record(number)
    one = next((record for record in records if type(record) is not type(before)), records[0])
    if type(one) is not type(before):
        kind = "include" if isinstance(one, Candidate) else "exclude"
        reason = one.detail or one.reason if isinstance(one, Rejection) else "its line was added by hand"
        record = one.model_dump(mode="json", exclude={"schema_version", "tool"})
        yield make(one.instance_id, kind, reason=reason, record=record)
        return
    said, old = written.said(number), before.model_dump(mode="json")
    source = said.model_dump(mode="json") if said else {}
    for name, value in one.model_dump(mode="json").items():
        if value != old[name] and name not in IDENTITY:
            yield make(one.instance_id, "set", field=name, value=value, before=source.get(name))
