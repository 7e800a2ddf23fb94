"""The steps of a migration, in order. Each can be repeated: what is converted already stays as it is."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from pipeline.analyze.handcheck.records import HandCheck
from pipeline.collect.entries import Entry
from pipeline.core.assessment import Assessment
from pipeline.core.clones import adopt_clone_paths
from pipeline.core.console import say
from pipeline.core.databases import readable
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.record import SCHEMA_VERSION, Versioned
from pipeline.core.records import REPAIR, Candidate, Instance, Prediction, Rejection, Review, Task, Verdict
from pipeline.core.store import (
    MANIFEST,
    Store,
    digest,
    new_stamp,
    read_field,
    read_object,
    schema_of,
    write_bytes,
    write_json,
)
from pipeline.core.texts import read_table, read_text
from pipeline.dataset.lock import Lock
from pipeline.llm import ledger_file
from pipeline.llm.ledger import Ledger
from pipeline.migrate.answers import Renamed, renamed_tasks, tasks_of
from pipeline.migrate.reading import lines, texts, valid
from pipeline.migrate.records import OLD, Data

#: files of records, except predictions and verdicts, which also move
RECORDS: dict[str, type[Versioned]] = {
    "00_viewer/handchecks.jsonl": HandCheck,
    "00_viewer/*__*.jsonl": Review,
    "01_raw/*/candidates.jsonl": Candidate,
    "01_raw/*/rejections.jsonl": Rejection,
    "01_raw/*/triage.jsonl": Entry,
    "02_dataset/*.jsonl": Instance,
    "02_dataset/*/rejections.jsonl": Rejection,
    "locks/*.jsonl": Lock,
}
ANSWERS: dict[str, type[Versioned]] = {"predictions.jsonl": Prediction, "tasks.jsonl": Task}
VERDICTS: dict[str, type[Versioned]] = {"verdicts.jsonl": Verdict, "assessments.jsonl": Assessment}
#: which pull requests of a database of stage 01 are of the old schema
_IS_OLD = "json_extract(record, '$.schema_version') = ?"
_OF_DATABASE = "restore a copy, or move it away: the next collect makes it again"


def migrate(root: Path) -> None:
    """Migrate a data directory. Raises UserError if something cannot be read, or a stage is running."""
    if schema_of(root.absolute()) == SCHEMA_VERSION:
        say(f"{root}: nothing to do, its version is {SCHEMA_VERSION}")
        return
    store = Store(root, OLD)
    with store.still():
        for step in STEPS.values():
            step(Rehearsal(store))
        migration = Migration(store)
        for name, step in STEPS.items():
            say(f"{name}: {step(migration)}")
        write_json(store.root / "schema.json", {"schema_version": SCHEMA_VERSION})
    say(f"{root}: its version is {SCHEMA_VERSION}; the old files are in {migration.archived}")


class Migration:
    """The migration of one data directory. Each step returns how many files or folders it converted or moved."""

    def __init__(self, store: Store) -> None:
        self.store, self.root, self.stamp = store, store.root, f"{new_stamp()}-schema-{OLD}"
        self.archived = store.archive_root / self.stamp

    # -- steps ------------------------------------------------------------------------------------------------------
    def records(self) -> int:
        """Reviews, candidates, instances, rejections, lists."""
        return sum(self._convert(path, kind) for pattern, kind in RECORDS.items() for path in self._found(pattern))

    def units(self) -> int:
        """Outcomes of candidates: without a law, so that the next build decides them again."""
        count = 0
        for path in self._found(f"02_dataset/*/units/*/{MANIFEST}"):
            result = read_field(path, "result", dict)
            new = valid(path, 1, result, Rejection if "reason" in result else Instance)
            if new != result:
                self._replace(path, _json(read_object(path) | {"result": new}))
                count += 1
        return count

    def databases(self) -> int:
        """Databases of stage 01, which also hold records."""
        count = 0
        for path in self._found("01_raw/*/collect.sqlite"):
            with readable(path, "the database", _OF_DATABASE), closing(sqlite3.connect(path)) as db:
                (old,) = db.execute(f"SELECT count(*) FROM pull_requests WHERE {_IS_OLD}", (OLD,)).fetchone()
                if old:
                    self._update(db, path)
                    count += 1
        return count

    def clones(self) -> int:
        """Paths of clones, which belong to the machine: move them out of the data."""
        found = [path for path in self._found("01_raw/*/source.json") if {"path", "file"} & read_object(path).keys()]
        for path in found:
            texts({name: value for name, value in read_object(path).items() if name in ("path", "file")}, path)
        self._adopt(found)
        return len(found)

    def ratings(self) -> int:
        """Ratings of a judge, which were paid for, to `ratings`; evidence on patches to `evidence`."""
        tasks: Renamed = {}
        for folder in self._runs():
            tasks |= renamed_tasks(tasks_of(folder))
        return sum(self._rating(folder, tasks) for folder in self._named("judge")) + sum(
            self._move(folder, self.root / "04_evaluation" / "evidence" / folder.parent.name / folder.name)
            for folder in self._named("oracle")
        )

    def answers(self) -> int:
        """Runs of agents, to the folders of their track."""
        return sum(self._run(folder) for folder in self._runs())

    def verdicts(self) -> int:
        """Verdicts and assessments, to the folders of their track."""
        return sum(self._verdicts(folder) for folder in self._evaluations())

    def money(self) -> int:
        """The ledger and `costs.csv`."""
        return self._ledger() + self._costs()

    # -- the paths of schema 1 ----------------------------------------------------------------------------------------
    def _found(self, pattern: str) -> list[Path]:
        return sorted(self.root.glob(pattern))

    def _runs(self) -> list[Path]:
        """`03_predictions/<agent>/<repo>/<model>/<run>`."""
        return self._holding("03_predictions/*/*/*/*", "run.json", *ANSWERS)

    def _evaluations(self) -> list[Path]:
        """`04_evaluation/<agent>/<repo>/<model>`; an agent may have the name of a folder of schema 2."""
        return self._holding("04_evaluation/*/*/*", "runs.json", *VERDICTS)

    def _holding(self, pattern: str, *names: str) -> list[Path]:
        """Folders with one of these files whose third part names a repository; in schema 2 it names an agent."""
        held = {path.parent for name in names for path in self._found(f"{pattern}/{name}")}
        return sorted(path for path in held if Repo.of_slug(path.relative_to(self.root).parts[2]))

    def _named(self, kind: str) -> list[Path]:
        """Folders of `04_evaluation/<kind>/<repo>` that are named by a digest."""
        found = self._found(f"04_evaluation/{kind}/*/{'[0-9a-f]' * 32}/")
        return [path for path in found if Repo.of_slug(path.parent.name)]

    # -- moving and converting --------------------------------------------------------------------------------------
    def _run(self, folder: Path) -> int:
        agent, model = _owner(folder)
        repo, tasks = _repo(folder.parents[1]), tasks_of(folder)
        renamed = renamed_tasks(tasks)
        if (folder / "run.json").exists():
            for path in sorted(folder.glob(f"*/*/{MANIFEST}")):
                self._rename_inputs(path, renamed)
        for name, kind in ANSWERS.items():
            self._convert(folder / name, kind)
        return self._move(folder, self.store.predictions(repo, agent, model) / folder.name)

    def _verdicts(self, folder: Path) -> int:
        for name, kind in VERDICTS.items():
            self._convert(folder / name, kind)
        first = _first(folder / "verdicts.jsonl", Verdict)
        agent, model = first.get("agent", folder.parents[1].name), first.get("model", folder.name)
        return self._move(folder, self.store.evaluation(_repo(folder.parent), agent, model))

    def _rating(self, folder: Path, tasks: Renamed) -> int:
        target = self.root / "04_evaluation" / "ratings" / folder.parent.name / folder.name
        for path in sorted(folder.glob(f"*/{MANIFEST}")):
            inputs = self._rename_inputs(path, tasks)
            target = target.with_name(digest(inputs))
        return self._move(folder, target)

    def _rename_inputs(self, path: Path, renamed: Renamed) -> dict[str, str]:
        """Rename the inputs in a unit's manifest to their new digests."""
        old = texts(read_field(path, "inputs", dict), path, "inputs.")
        inputs = {name: renamed.get(value, value) for name, value in old.items()}
        if inputs != old:
            self._replace(path, _json(read_object(path) | {"inputs": inputs}))
        return inputs

    def _move(self, folder: Path, target: Path) -> int:
        if target.exists():
            raise _taken(target, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(target)
        for emptied in (folder.parent, folder.parents[1], folder.parents[2]):
            if emptied.parent != self.root and not any(emptied.iterdir()):
                emptied.rmdir()
        return 1

    def _convert(self, path: Path, kind: type[Versioned]) -> int:
        """One file of records. Raises UserError with file, line and field."""
        if not path.exists():
            return 0
        new = "".join(self._lines(path, kind)).encode()
        if new == path.read_bytes():
            return 0
        self._replace(path, new)
        return 1

    def _lines(self, path: Path, kind: type[Versioned]) -> Iterator[str]:
        for number, line, old in lines(path):
            new = valid(path, number, old, kind)
            yield line.decode() if new == old else _line(new)

    def _adopt(self, sources: list[Path]) -> None:
        for path in sources:
            self.store.archive(path, self.stamp)
        adopt_clone_paths(self.store)

    def _replace(self, path: Path, data: bytes) -> None:
        self.store.archive(path, self.stamp)
        write_bytes(path, data)

    # -- money ------------------------------------------------------------------------------------------------------
    def _ledger(self) -> int:
        if not self.store.ledger.exists():
            return 0
        with ledger_file.readable(self.store.ledger), closing(sqlite3.connect(self.store.ledger)) as db:
            if "track" in {name for _, name, *_ in db.execute("PRAGMA table_info(keys)")}:
                return 0
            self._renew(db)
        return 1

    def _renew(self, db: sqlite3.Connection) -> None:
        """Add what a ledger of schema 1 lacks: opening it does that."""
        self._archive_database(db, self.store.ledger)
        Ledger(self.store.ledger).close()

    def _update(self, db: sqlite3.Connection, path: Path) -> None:
        """Raise the version of the records in a database of stage 01."""
        self._archive_database(db, path)
        new = "json_set(record, '$.schema_version', ?, '$.tool', '')"
        with db:
            db.execute(f"UPDATE pull_requests SET record = {new} WHERE {_IS_OLD}", (SCHEMA_VERSION, OLD))

    def _archive_database(self, db: sqlite3.Connection, path: Path) -> None:
        """Archive a database, with what is still in its journal."""
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.store.archive(path, self.stamp)

    def _costs(self) -> int:
        if not self.store.costs.exists():
            return 0
        read_table(self.store.costs)
        header, *rows = [*csv.reader(io.StringIO(read_text(self.store.costs), newline=""))] or [["track"]]
        if "track" in header:
            return 0
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([["track", *header], *([REPAIR, *row] for row in rows)])
        self._replace(self.store.costs, text.getvalue().encode())
        return 1


class Rehearsal(Migration):
    """The same steps without a write: what cannot be read is refused before anything is replaced."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.targets: dict[Path, Path] = {}

    def _replace(self, path: Path, data: bytes) -> None:
        pass

    def _move(self, folder: Path, target: Path) -> int:
        if target.exists() or self.targets.setdefault(target, folder) != folder:
            raise _taken(target, folder)
        return 1

    def _adopt(self, sources: list[Path]) -> None:
        pass

    def _update(self, db: sqlite3.Connection, path: Path) -> None:
        pass

    def _renew(self, db: sqlite3.Connection) -> None:
        pass


#: name of a step -> the step; ratings need the tasks of answers in their old form, and answers the instances
STEPS: dict[str, Callable[[Migration], int]] = {
    "files of records": Migration.records,
    "outcomes of candidates": Migration.units,
    "databases of stage 01": Migration.databases,
    "places of clones": Migration.clones,
    "ratings and evidence": Migration.ratings,
    "runs of agents": Migration.answers,
    "verdicts of agents": Migration.verdicts,
    "ledger and costs": Migration.money,
}


def _owner(folder: Path) -> tuple[str, str]:
    """Agent and model of a run. Two models could share a folder, and SWE-bench's format names no agent."""
    path = folder / "run.json"
    fields = read_object(path) if path.exists() else {}
    texts({name: fields[name] for name in ("agent", "model") if fields.get(name) is not None}, path)
    fields = _first(folder / "predictions.jsonl", Prediction) | fields
    agent, model = fields.get("agent"), fields.get("model", fields.get("model_name_or_path"))
    return agent or folder.parents[2].name, model or folder.parent.name


def _first(path: Path, kind: type[Versioned]) -> Data:
    """The first record of a file; empty if there is none."""
    rows = lines(path) if path.exists() else iter(())
    return next((valid(path, number, found, kind) for number, _, found in rows), {})


def _taken(target: Path, folder: Path) -> UserError:
    """The error for a folder that is to move to where another one is."""
    hint = "two folders belong to the same agent and model: remove one of them"
    return UserError(f"{target} already exists", path=folder, hint=hint)


def _repo(folder: Path) -> Repo:
    repo = Repo.of_slug(folder.name)
    assert repo
    return repo


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
