"""People's edits of `candidates.jsonl` and `rejections.jsonl` since these were written, as decisions.

A changed line sets fields, a removed line excludes, and a new line (or one moved to the other file) includes or
excludes. The order of lines does not matter.
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
    """The decisions that turn `written`, the database from which the files were written, into what the files hold now.

    A deleted file decides nothing. Raises UserError for a line that cannot be read, and for an emptied file, before
    anything is decided.
    """
    unchanged: set[int] = set()
    changed: dict[int, list[Outcome]] = {}
    for record in chain.from_iterable(_lines(folder / name, kind, repo) for name, kind in FILES.items()):
        number = parse_instance_id(record.instance_id)[1]
        if written.record(number) == record:
            unchanged.add(number)
        else:
            changed.setdefault(number, []).append(record)
    found = unchanged | changed.keys()
    removed = [number for number in written.numbers(_present_kinds(folder)) if number not in found]
    _refuse_empty(folder, written, set(removed))
    decisions = [_decisions(written, number, records) for number, records in sorted(changed.items())]
    return [*chain.from_iterable(decisions), *(_removed(repo, number) for number in removed)]


def _lines(path: Path, kind: type[Candidate] | type[Rejection], repo: Repo) -> Iterator[Outcome]:
    for record in unique(each_record(path, kind), path):
        if parse_instance_id(record.instance_id)[0] != repo:
            raise UserError(
                f"{record.instance_id} does not belong to {repo}", path=path, hint="correct or remove this line"
            )
        yield record


def _present_kinds(folder: Path) -> set[type[Candidate] | type[Rejection]]:
    return {kind for name, kind in FILES.items() if (folder / name).exists()}


def _refuse_empty(folder: Path, written: Database, removed: set[int]) -> None:
    """Raise UserError for a file all of whose lines were removed: rather a mistake than a decision on each of them."""
    for name, kind in FILES.items():
        path = folder / name
        if path.exists() and not removed.isdisjoint(written.numbers([kind])) and not path.read_bytes().strip():
            hint = "remove it to get it back, or exclude pull requests: a11y-bench decide REPO --pr N --exclude REASON"
            raise UserError("the file is empty; all its lines would be excluded", path=path, hint=hint)


def _removed(repo: Repo, number: int) -> Decision:
    return make(repo.instance_id(number), "exclude", reason="its line was removed by hand")


def _decisions(written: Database, number: int, records: list[Outcome]) -> Iterator[Decision]:
    """What the lines of one pull request decide. If both files have one, the line in the new file counts."""
    before = written.record(number)
    edited = next((record for record in records if type(record) is not type(before)), records[0])
    if type(edited) is not type(before):
        kind = "include" if isinstance(edited, Candidate) else "exclude"
        reason = edited.detail or edited.reason if isinstance(edited, Rejection) else "its line was added by hand"
        fields = edited.model_dump(mode="json", exclude={"schema_version", "tool"})
        yield make(edited.instance_id, kind, reason=reason, record=fields)
        return
    source_record, old_fields = written.source_record(number), before.model_dump(mode="json")
    source_fields = source_record.model_dump(mode="json") if source_record else {}
    for name, value in edited.model_dump(mode="json").items():
        if value != old_fields[name] and name not in IDENTITY:
            yield make(edited.instance_id, "set", field=name, value=value, before=source_fields.get(name))
