"""Every path in `data/`, and the only ways to read and write there.

Writes are atomic: a reader sees the old file or the new one. A unit of work is done when its manifest exists; the
manifest is written last and names the digests of all inputs, so a rerun skips what is up to date. What is replaced is
first copied to the archive, with its date, and stays in place until the new file replaces it. Does not cover the caches
of sandboxes, which may be deleted at any time.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import ValidationError

from pipeline.core.errors import UserError, unfit
from pipeline.core.names import Repo, agent_folder, folder_name, named_by
from pipeline.core.record import SCHEMA_VERSION, Record
from pipeline.core.record import digest as digest
from pipeline.core.records import PAGES, REPAIR, Prediction
from pipeline.core.texts import is_there, reading

R = TypeVar("R", bound=Record)
T = TypeVar("T")
#: a share of records: the first one (from 0), and the step from each to the next; and all records
Share = tuple[int, int]
WHOLE: Share = (0, 1)
#: the lock that is briefly held while another one is taken, and the seconds to wait for it
GATE, PATIENCE = "gate.lock", 5
#: the last file that is written of a unit
MANIFEST = "manifest.json"
#: the names of JSON's types, and what to do about a file of another form
_KINDS: dict[type, str] = {dict: "an object", str: "a text"}
_HINT = "correct the file, or remove it and run its stage again"


def now() -> str:
    """UTC, to the second, in the form of records."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, moved to `path` if the block succeeds and discarded otherwise; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def writing_folder(path: Path) -> Iterator[Path]:
    """A folder to write to, which becomes `path`, a new or empty one, if the block succeeds and is discarded otherwise.
    An empty one stays, since it may be a mount or somebody's current folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with tempfile.TemporaryDirectory(dir=path.parent if is_new else path, prefix=f".{path.name}.") as name:
        made = Path(name) / "made"
        made.mkdir()
        yield made
        for part in [made] if is_new else sorted(made.iterdir()):
            part.rename(path if is_new else path / part.name)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file completely or not at all, making its folder."""
    with writing(path) as file:
        file.write(data)


def write_json(path: Path, value: Any) -> None:
    write_bytes(path, (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n").encode())


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write JSON Lines, completely or not at all."""
    write_bytes(path, _lines(records))


def _lines(records: Iterable[Record]) -> bytes:
    return "".join(record.model_dump_json() + "\n" for record in records).encode()


def _hold_the_same(path: Path, records: Sequence[Record]) -> bool:
    """Whether a file holds these records, apart from the fields about the records themselves."""
    data = path.read_bytes()
    if data == _lines(records):
        return True
    try:
        pairs = zip(records, data.splitlines(), strict=True)
        stored = [type(record).model_validate_json(line) for record, line in pairs]
    except ValueError:
        return False
    return digest(stored) == digest(list(records))


def read_records(path: Path, kind: type[R]) -> list[R]:
    """Read JSON Lines; a missing file has no records. Raises UserError with file, line and field, and for a file that
    is not readable."""
    return list(each_record(path, kind))


def each_record(path: Path, kind: type[R], share: Share = WHOLE) -> Iterator[R]:
    """Read JSON Lines one by one, for files of which only a part is needed; `share` selects some records. Raises as
    `read_records` does."""
    if not is_there(path):
        return
    first, step = share
    with reading(path), path.open("rb") as lines:
        numbered = ((number, line) for number, line in enumerate(_without_mark(lines, path), 1) if line.strip())
        yield from (parse_record(path, number, line, kind) for number, line in islice(numbered, first, None, step))


def _without_mark(lines: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """The lines without the mark with which some editors begin a file. Raises UserError for that of UTF-16."""
    for number, line in enumerate(lines):
        if not number and line.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise UserError("the file is not UTF-8", path=path, hint="save it as UTF-8")
        yield line if number else line.removeprefix(BOM_UTF8)


def unique(records: Iterable[R], path: Path, key: tuple[str, ...] = ("instance_id",)) -> Iterator[R]:
    """The records of one file, no two of which have the same key. Raises UserError."""
    seen: dict[tuple[Any, ...], int] = {}
    for number, record in enumerate(records, 1):
        values = tuple(getattr(record, field) for field in key)
        if values in seen:
            name = " ".join(filter(None, map(str, values)))
            message = f"{name} is in this file twice, as record {seen[values]} and {number}"
            raise UserError(message, path=path, field=key[0], hint="keep one of them")
        seen[values] = number
        yield record


def parse_record(path: Path, number: int, line: bytes, kind: type[R]) -> R:
    """The record of one line, from 1. Raises UserError with file, line and field."""
    try:
        return kind.model_validate_json(line.strip())
    except ValidationError as error:
        hint = f"correct or remove this line: a record {kind.__name__} (see: a11y-bench schema {kind.__name__})"
        raise unfit(error, path=path, line=number, hint=hint) from None


def read_json(path: Path) -> Any:
    """Read one JSON document. Raises UserError with file and line."""
    with reading(path):
        data = path.read_bytes()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:  # broken JSON; not UTF-8, which has no line; nested too deeply
        line = getattr(error, "lineno", None)
        raise UserError(f"invalid JSON: {error}", path=path, line=line, hint="correct or remove the file") from None


def read_object(path: Path, *fields: str) -> dict[str, Any]:
    """Read a JSON object that has these fields. Raises UserError with file and field."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise UserError("not a JSON object", path=path, hint=_HINT)
    if missing := [field for field in fields if field not in value]:
        raise UserError("it is missing", path=path, field=missing[0], hint=_HINT)
    return value


def read_record(path: Path, kind: type[R]) -> R:
    """Read the one record of a JSON file. Raises UserError with file and field."""
    try:
        return kind.model_validate(read_object(path))
    except ValidationError as error:
        raise unfit(error, path=path) from None


def is_list_of_texts(value: Any) -> bool:
    """Whether a value of a JSON file is a list of texts."""
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def read_field(path: Path, field: str, kind: type[T]) -> T:
    """One field of a JSON object, of one of the types in _KINDS. Raises UserError with file and field."""
    value = read_object(path, field)[field]
    if not isinstance(value, kind):
        raise UserError(f"not {_KINDS[kind]}", path=path, field=field, hint=_HINT)
    return value


def new_stamp() -> str:
    """UTC, to the microsecond, in the form of the archive's folder names."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")


def schema_of(root: Path) -> int | None:
    """The schema version of a data directory: the current one if it is new, None if it cannot be read."""
    path = root / "schema.json"
    marked = read_json(path) if is_there(path) else {"schema_version": SCHEMA_VERSION}
    return marked.get("schema_version") if isinstance(marked, dict) else None


class Store:
    """The data directory `root`. Opening one with another schema version raises UserError and writes nothing.

    `schema` is the expected version: only a migration expects another one than the current.
    """

    def __init__(self, root: Path, schema: int = SCHEMA_VERSION) -> None:
        self.root = root.absolute()
        version = schema_of(self.root)
        if version != schema:
            older = isinstance(version, int) and version < SCHEMA_VERSION
            hint = f"run: a11y-bench migrate --data {root}" if older else "name another folder with --data"
            message = f"data of version {version}; this program reads version {SCHEMA_VERSION}"
            raise UserError(message, path=self.root / "schema.json", field="schema_version", hint=hint)

    def begin(self) -> None:
        """Mark the folder with the schema version, before the first write."""
        path = self.root / "schema.json"
        if not path.exists():
            write_json(path, {"schema_version": SCHEMA_VERSION})

    # -- paths, by stage --------------------------------------------------------------------------------------------
    def reviews(self, repo: Repo) -> Path:
        return self.root / "00_viewer" / f"{repo.slug}.jsonl"

    def finals(self, repo: Repo) -> Path:
        """Final values where ratings differ: append-only."""
        return self.root / "00_viewer" / "final" / f"{repo.slug}.jsonl"

    def decisions(self, repo: Repo) -> Path:
        """People's decisions on pull requests: append-only, and apart from what can be collected again."""
        return self.root / "00_viewer" / "decisions" / f"{repo.slug}.jsonl"

    @property
    def review_requests(self) -> Path:
        """What people are asked to review: append-only."""
        return self.root / "00_viewer" / "requests" / "requests.jsonl"

    @property
    def review_answers(self) -> Path:
        """Who has reviewed it: append-only."""
        return self.root / "00_viewer" / "requests" / "answers.jsonl"

    @property
    def handchecks(self) -> Path:
        """Blind ratings of patches by people."""
        return self.root / "00_viewer" / "handchecks.jsonl"

    def raw(self, repo: Repo) -> Path:
        return self.root / "01_raw" / repo.slug

    def picture(self, repo: Repo, digest: str) -> Path:
        """A picture that comes with a pull request, by the digest of its bytes."""
        return self.raw(repo) / "pictures" / digest

    def dataset(self, repo: Repo) -> Path:
        return self.root / "02_dataset" / f"{repo.slug}.jsonl"

    def qualification(self, repo: Repo) -> Path:
        """Folder of logs, manifests and rejections, next to the dataset."""
        return self.root / "02_dataset" / repo.slug

    def audit(self, repo: Repo) -> Path:
        """The results of an audit of our verdicts, by instance."""
        return self.qualification(repo) / "audit.jsonl"

    def published(self, repo: Repo) -> Path:
        """The list of a dataset's instances that may be published: facts to rebuild it from, no code."""
        return self.root / "locks" / f"{repo.slug}.jsonl"

    def subset(self, name: str) -> Path:
        """A named list of instances."""
        return self.root / "subsets" / f"{name}.txt"

    def predictions(self, repo: Repo, agent: str, model: str) -> Path:
        """Folder of the runs of one agent and model: one subfolder per run, named after its time."""
        return self.root / "03_predictions" / REPAIR / agent_folder(agent) / repo.slug / folder_name(model)

    def answers(self, repo: Repo, instance: str, name: str = "") -> Path:
        """Folder of one answer, which runs share; without a name, of all answers for an instance."""
        return self.root / "03_predictions" / "answers" / repo.slug / instance / name

    @property
    def responses(self) -> Path:
        """The gateway's cache of greedy requests, so that an agent that was stopped does not pay twice."""
        return self.root / "03_predictions" / "responses"

    def predicted(self, repo: Repo) -> list[tuple[str, str]]:
        """Agents and models with predictions. Raises UserError if a folder's agent and model cannot be determined."""
        paths = (path for folder in self.predicted_in(repo) for path in folder.glob("*/predictions.jsonl"))
        return sorted({whose_run(path.parent) for path in paths})

    def predicted_in(self, repo: Repo) -> list[Path]:
        """The folders of all agents and models that have runs on a repository."""
        return sorted(self.root.glob(f"03_predictions/{REPAIR}/*/{repo.slug}/*/"))

    def evaluated_in(self, repo: Repo) -> list[Path]:
        """The folders of all agents and models that have verdicts on a repository."""
        return sorted(self.root.glob(f"04_evaluation/{REPAIR}/*/{repo.slug}/*/"))

    def evaluation(self, repo: Repo, agent: str, model: str) -> Path:
        return self.root / "04_evaluation" / REPAIR / agent_folder(agent) / repo.slug / folder_name(model)

    def pages(self, run: str = "") -> Path:
        """Folder of a run of the pages track; without a name, of all runs and the answers that they share."""
        return self.root / "03_predictions" / PAGES / run

    def pages_evaluated(self, run: str = "") -> Path:
        """Folder of the verdicts on a run of pages; without a name, of all verdicts and the engine's observations."""
        return self.root / "04_evaluation" / PAGES / run

    @property
    def analysis(self) -> Path:
        return self.root / "05_analysis"

    @property
    def costs(self) -> Path:
        return self.root / "costs.csv"

    @property
    def ledger(self) -> Path:
        """SQLite: one row per request to a model (llm)."""
        return self.root / "ledger.sqlite"

    def repositories(self, stage: str) -> list[Repo]:
        """The repositories that a stage's folder (`01_raw`, `02_dataset`) holds, in order."""
        folder = self.root / stage
        names = {path.name.removesuffix(".jsonl") for path in folder.iterdir()} if is_there(folder) else set()
        return sorted(filter(None, map(Repo.of_slug, names)))

    # -- displacing and locking -------------------------------------------------------------------------------------
    @property
    def archive_root(self) -> Path:
        """`archive/` next to the project's own `data/`, else inside the data directory."""
        beside = self.root.parent / "archive"
        return beside if self.root.name == "data" and beside.is_dir() else self.root / "archive"

    def archive(self, path: Path, stamp: str = "") -> Path | None:
        """Copy to the archive what is about to be replaced; None if nothing exists.

        The original stays in place until it is replaced, so that an interruption leaves no gap. Files that are replaced
        together may share a `stamp`.
        """
        if not path.exists():
            return None
        target = self._archived(path, stamp)
        half = target.with_name(f".{target.name}.half")
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, half)
        return half.rename(target)

    def displace(self, path: Path) -> Path | None:
        """Move to the archive what will not be replaced; None if nothing exists."""
        return Path(shutil.move(path, self._archived(path))) if path.exists() else None

    def _archived(self, path: Path, stamp: str = "") -> Path:
        """A new path in the archive; makes its folder."""
        target = self.archive_root / (stamp or new_stamp()) / path.relative_to(self.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def replace(self, path: Path, data: bytes) -> None:
        """Write a file completely, after archiving the old one; an equal file stays as it is."""
        if not path.exists() or path.read_bytes() != data:
            self.archive(path)
            write_bytes(path, data)

    def replace_records(self, path: Path, records: Iterable[Record]) -> None:
        """Write JSON Lines, after archiving the old file. A file with equal records stays as it is, whichever version
        of this program wrote it."""
        new = list(records)
        if not (path.exists() and _hold_the_same(path, new)):
            self.replace(path, _lines(new))

    @contextmanager
    def lock(self, stage: str, repo: Repo | str, *who: str) -> Iterator[None]:
        """Lock one stage and repository (of pages: a run), for one agent and model or for all. Raises UserError if
        another process holds the lock.

        The parts of the lock's name are joined by a character that none of them contains.
        """
        self.begin()
        slug = folder_name(repo) if isinstance(repo, str) else repo.slug
        name = "+".join((stage, slug, *map(folder_name, who)))
        with ExitStack() as locks:
            with self._gate():
                locks.enter_context(_hold(self._locks / f"{name}.lock", " ".join((f"{stage} of {repo}", *who))))
            yield

    @contextmanager
    def still(self, *stages: str) -> Iterator[None]:
        """Lock these stages (by default all) for all repositories and models, so that none can begin, even on a new
        repository. Raises UserError while one of them is under way.
        """
        with self._gate(), ExitStack() as locks:
            for path in sorted(self._locks.glob("*.lock")):
                if path.name.startswith(stages or "") and path.name != GATE:
                    locks.enter_context(_hold(path, path.stem))
            yield

    @property
    def _locks(self) -> Path:
        return self.root / ".locks"

    def identity(self) -> str:
        """A name that no other data directory ever has, not even a later one in the same place."""
        path = self._locks / "identity"
        if not path.exists():
            with self._gate():
                if not path.exists():
                    write_bytes(path, uuid.uuid4().hex.encode())
        return path.read_text()

    def _gate(self) -> AbstractContextManager[None]:
        """The lock that is needed to take any other lock; `still` keeps it."""
        self._locks.mkdir(exist_ok=True)
        return _hold(self._locks / GATE, "a command that locks all stages", PATIENCE)


@contextmanager
def _hold(path: Path, what: str, seconds: float = 0) -> Iterator[None]:
    import filelock

    try:
        with filelock.FileLock(path, timeout=seconds):
            yield
    except filelock.Timeout:
        hint = "wait for it or stop it; if its process has ended, the lock is already released"
        raise UserError(f"{what} is under way", path=path, hint=hint) from None


def whose_run(folder: Path) -> tuple[str, str]:
    """Agent and model of a run of predictions (`<agent>/<repo>/<model>/<run>`), according to its records.

    A run of another harness has no `run.json`: its first prediction counts, and for the agent, which SWE-bench's format
    does not have, the folder's name if it is plain. Raises UserError if they are unknown or do not match the folder.
    """
    agent, model, source = folder.parents[2].name, folder.parent.name, folder / "run.json"
    owner: tuple[str | None, str | None]
    if source.exists():
        owner = read_field(source, "agent", str), read_field(source, "model", str)
    else:
        source = folder / "predictions.jsonl"
        first = next(each_record(source, Prediction), None)
        recorded = (first.agent, first.model_name_or_path) if first else ("", "")
        owner = recorded[0] or named_by(agent), recorded[1] or named_by(model)
    by, of = owner
    if not by or not of:
        raise UserError(
            "the run does not state its agent and model", path=folder, hint="add a run.json with agent and model"
        )
    if (agent_folder(by), folder_name(of)) != (agent, model):
        hint = "move it to the folder of that agent and model"
        raise UserError(f"a run of {by} with {of}", path=source, field="model", hint=hint)
    return by, of


def of_attempt(folder: Path, attempt: int) -> Path:
    """The folder with the records of an attempt, from 1; those of the first are in `folder` itself."""
    return folder if attempt == 1 else folder / "attempts" / str(attempt)


def attempts_in(folder: Path, name: str) -> list[int]:
    """The attempts for which a folder has a file of this name, in order."""
    further = (int(path.parent.name) for path in folder.glob(f"attempts/*/{name}") if path.parent.name.isdecimal())
    return [*([1] if is_there(folder / name) else []), *sorted(further)]


class Unit:
    """One unit of work under `folder`: done when its manifest names the same inputs.

    Units that several processes may make at once are saved with `keep`; `finish` alone is for units with one writer.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / MANIFEST

    def inputs(self) -> dict[str, str]:
        """The digests of its inputs; empty if it is not done."""
        return read_field(self.path, "inputs", dict) if self.path.exists() else {}

    def is_done(self, **inputs: str) -> bool:
        return self.inputs() == inputs

    def keep(self, files: Mapping[str, bytes], result: Any = None, /, **inputs: str) -> None:
        """Save the unit completely, with its files by name: it is made in a folder next to it, then moved.

        If two processes save the same unit, the first one wins and the other's files are discarded. A unit with other
        inputs, or an unfinished one, is replaced; callers that want it archived do that first.
        """
        import filelock

        if self.is_done(**inputs):
            return
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        unit = Unit(Path(tempfile.mkdtemp(dir=self.folder.parent, prefix=f".{self.folder.name}.")))
        try:
            for name, data in files.items():
                write_bytes(unit.folder / name, data)
            unit.finish(result, **inputs)
            unit.folder.chmod(0o755)
            with filelock.FileLock(self.folder.parent / ".keep.lock"):
                if not self.is_done(**inputs):
                    self._take(unit)
        finally:
            shutil.rmtree(unit.folder, ignore_errors=True)

    def _take(self, unit: Unit) -> None:
        """Replace this folder by another unit's. The manifest is deleted first, so an interrupted unit is not done."""
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        unit.folder.rename(self.folder)

    def finish(self, result: Any = None, **inputs: str) -> None:
        """Write the manifest: the last write of a unit."""
        write_json(self.path, {"inputs": inputs, "result": result, "finished": now()})

    def result(self) -> Any:
        """What `finish` was given. Raises UserError for a manifest that is not one."""
        return read_object(self.path, "result")["result"]
