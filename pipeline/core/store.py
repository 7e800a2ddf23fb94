"""Every path under `data/`, and the only ways to read and write there.

Writes are atomic: a reader sees the old file or the new one. A unit of work is done when its manifest exists; it is
written last and names the digests of all inputs, so that a rerun skips what is up to date. What is displaced moves to
the archive, date-stamped. Does not cover the caches of sandboxes, which may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import ValidationError

from pipeline.core.errors import UserError
from pipeline.core.names import Repo, folder_name
from pipeline.core.records import SCHEMA_VERSION, Record

R = TypeVar("R", bound=Record)
#: the share of records that begins with one (from 0), and takes each so many further on; and all of them
Part = tuple[int, int]
WHOLE: Part = (0, 1)
#: seconds that one lock waits for another to be taken, which is a moment
GATE = 5


def now() -> str:
    """UTC, to the second, as it stands in records."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def digest(*parts: Any) -> str:
    """A digest of text, bytes, records and plain data, in order: the name of what was made of them."""
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else _text(part).encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()[:32]


def _text(part: Any) -> str:
    if isinstance(part, Record):
        return part.model_dump_json()
    return part if isinstance(part, str) else json.dumps(part, sort_keys=True, default=str)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place whole at the end or not at all; makes its folder."""
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


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, making its folder."""
    with writing(path) as file:
        file.write(data)


def write_json(path: Path, value: Any) -> None:
    write_bytes(path, (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n").encode())


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write JSON Lines, whole or not at all."""
    write_bytes(path, "".join(record.model_dump_json() + "\n" for record in records).encode())


def read_records(path: Path, kind: type[R]) -> list[R]:
    """Read JSON Lines; a missing file is no records. Raises UserError with file, line and field."""
    return list(each_record(path, kind))


def each_record(path: Path, kind: type[R], part: Part = WHOLE) -> Iterator[R]:
    """The same one by one, for files that are larger than what is needed of them; `part` of them."""
    if not path.exists():
        return
    first, step = part
    with path.open("rb") as lines:
        numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        yield from (_parse(path, number, line, kind) for number, line in islice(numbered, first, None, step))


def unique(records: Iterable[R], path: Path, key: tuple[str, ...] = ("instance_id",)) -> Iterator[R]:
    """The records of one file, no two of which have the same key. Raises UserError."""
    seen: dict[tuple[Any, ...], int] = {}
    for place, record in enumerate(records, 1):
        values = tuple(getattr(record, field) for field in key)
        if values in seen:
            name = " ".join(filter(None, map(str, values)))
            message = f"{name} stands here twice, as record {seen[values]} and {place}"
            raise UserError(message, path=path, field=key[0], hint="keep one of them")
        seen[values] = place
        yield record


def _parse(path: Path, number: int, line: bytes, kind: type[R]) -> R:
    try:
        return kind.model_validate_json(line.strip())
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        hint = (
            f"mend or remove this line; it should be a record {kind.__name__} (see: a11y-bench schema {kind.__name__})"
        )
        raise UserError(first["msg"], path=path, line=number, field=field, hint=hint) from None


def read_json(path: Path) -> Any:
    """Read one JSON document. Raises UserError with file and line."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError("no such file", path=path) from None
    except ValueError as error:  # broken JSON, or no UTF-8, which has no line
        line = getattr(error, "lineno", None)
        raise UserError(f"no JSON: {error}", path=path, line=line, hint="mend or remove the file") from None


def read_field(path: Path, field: str) -> Any:
    """One field of a JSON object. Raises UserError with file and field."""
    value = read_json(path)
    if not isinstance(value, dict) or field not in value:
        raise UserError("it is missing", path=path, field=field, hint="remove the file and run its stage again")
    return value[field]


class Store:
    """The data directory `root`. Opening one of another schema version raises UserError; nothing is written then."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._check_schema()

    def _check_schema(self) -> None:
        path = self.root / "schema.json"
        marked = read_json(path) if path.exists() else {"schema_version": SCHEMA_VERSION}
        found = marked.get("schema_version") if isinstance(marked, dict) else None
        if found != SCHEMA_VERSION:
            hint = f"this program reads version {SCHEMA_VERSION}; name another folder with --data"
            raise UserError(f"data of version {found}", path=path, field="schema_version", hint=hint)

    def begin(self) -> None:
        """Mark the folder with the schema version, before the first write."""
        path = self.root / "schema.json"
        if not path.exists():
            write_json(path, {"schema_version": SCHEMA_VERSION})

    # -- the places, by stage ---------------------------------------------------------------------------------------
    def reviews(self, repo: Repo) -> Path:
        return self.root / "00_viewer" / f"{repo.slug}.jsonl"

    @property
    def handchecks(self) -> Path:
        """Ratings of patches by people who do not know whose they are."""
        return self.root / "00_viewer" / "handchecks.jsonl"

    def raw(self, repo: Repo) -> Path:
        return self.root / "01_raw" / repo.slug

    def dataset(self, repo: Repo) -> Path:
        return self.root / "02_dataset" / f"{repo.slug}.jsonl"

    def qualification(self, repo: Repo) -> Path:
        """Folder of logs, manifests and rejections beside the dataset."""
        return self.root / "02_dataset" / repo.slug

    def published(self, repo: Repo) -> Path:
        """The list of a dataset's instances that may be published: facts that make it again, no code."""
        return self.root / "locks" / f"{repo.slug}.jsonl"

    def predictions(self, repo: Repo, agent: str, model: str) -> Path:
        """Folder of the runs of one agent and model: one folder each, named by its time."""
        return self.root / "03_predictions" / folder_name(agent) / repo.slug / folder_name(model)

    def predicted(self, repo: Repo) -> list[str]:
        """What there are predictions of, as `agent/model`."""
        found = (self.root / "03_predictions").glob(f"*/{repo.slug}/*/*/predictions.jsonl")
        return sorted({f"{path.parts[-5]}/{path.parts[-3]}" for path in found})

    def evaluation(self, repo: Repo, agent: str, model: str) -> Path:
        return self.root / "04_evaluation" / folder_name(agent) / repo.slug / folder_name(model)

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
        names = {path.name.removesuffix(".jsonl") for path in folder.iterdir()} if folder.exists() else set()
        return [Repo(*name.split("__", 1)) for name in sorted(names) if "__" in name and not name.startswith(".")]

    # -- displacing and locking -------------------------------------------------------------------------------------
    @property
    def archive_root(self) -> Path:
        """`archive/` beside the project's own `data/`, else inside the data directory."""
        beside = self.root.parent / "archive"
        return beside if self.root.name == "data" and beside.is_dir() else self.root / "archive"

    def archive(self, path: Path) -> Path | None:
        """Move a displaced file or folder away, date-stamped; None when there is nothing to move."""
        if not path.exists():
            return None
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        target = self.archive_root / stamp / path.relative_to(self.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
        return target

    def replace_records(self, path: Path, records: Iterable[Record]) -> None:
        """Write JSON Lines; other records that were there move to the archive, equal ones stay as they are."""
        text = "".join(record.model_dump_json() + "\n" for record in records).encode()
        if not path.exists() or path.read_bytes() != text:
            self.archive(path)
            write_bytes(path, text)

    @contextmanager
    def lock(self, stage: str, repo: Repo, model: str = "") -> Iterator[None]:
        """Hold one stage, repository and model. Raises UserError while another process does."""
        self.begin()
        name = "-".join(filter(None, (stage, repo.slug, model and folder_name(model))))
        with ExitStack() as held:
            with self._gate():
                held.enter_context(_held(self._locks / f"{name}.lock", f"{stage} of {repo} {model}".rstrip()))
            yield

    @contextmanager
    def still(self, *stages: str) -> Iterator[None]:
        """Hold these stages for all repositories and models, and let none begin, of a new repository neither.

        Raises UserError while one of them is under way.
        """
        with self._gate(), ExitStack() as held:
            for path in sorted(self._locks.glob("*.lock")):
                if path.name.startswith(stages):
                    held.enter_context(_held(path, path.stem))
            yield

    @property
    def _locks(self) -> Path:
        return self.root / ".locks"

    def _gate(self) -> AbstractContextManager[None]:
        """Whoever takes a lock passes it, and `still` keeps it shut."""
        self._locks.mkdir(exist_ok=True)
        return _held(self._locks / "gate.lock", "removing layers that no dataset refers to", GATE)


@contextmanager
def _held(path: Path, what: str, seconds: float = 0) -> Iterator[None]:
    import filelock

    try:
        with filelock.FileLock(path, timeout=seconds):
            yield
    except filelock.Timeout:
        hint = "wait for it, or stop it; a lock whose process ended is free by itself"
        raise UserError(f"{what} is under way", path=path, hint=hint) from None


class Unit:
    """One unit of work under `folder`: done when its manifest names the same inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "manifest.json"

    def inputs(self) -> dict[str, str]:
        """The digests of what it was made of; empty when it is not done."""
        return read_field(self.path, "inputs") if self.path.exists() else {}

    def is_done(self, **inputs: str) -> bool:
        return self.inputs() == inputs

    def finish(self, result: Any = None, **inputs: str) -> None:
        """Write the manifest: the last write of a unit."""
        write_json(self.path, {"inputs": inputs, "result": result, "finished": now()})

    def result(self) -> Any:
        return read_field(self.path, "result")
