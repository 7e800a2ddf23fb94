"""The records of a foreign benchmark: JSON Lines (also compressed by gzip) or JSON, or folders of tasks (`task.yaml`,
`gold.patch`, `test.patch`, `tests.json`, `problem_statement.md`, `hints.md`, `problem_assets/`, `test_assets/`) on the
disk or in a bare clone.

A record that cannot be read does not affect the others: it becomes a UserError with file, line and field.
Writes nothing.
"""

from __future__ import annotations

import gzip
import json
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from posixpath import basename, dirname
from typing import Any, NamedTuple

from pydantic import ValidationError

from pipeline.collect.sources import readable
from pipeline.collect.sources.dataset.forms import MEDIA, Form, SweBench, form_of, repository
from pipeline.core.errors import UserError, unfit
from pipeline.core.git import list_files, open_clone, read_contents
from pipeline.core.names import Repo
from pipeline.core.texts import decoded, parse_json, parse_yaml

TASK, TESTS, PICTURES, TEST_FILES = "task.yaml", "tests.json", "problem_assets", "test_assets"
#: names of the file that makes a folder a task; the last one counts if there are several
_TASKS = ("task.yml", TASK)
#: file of a task folder -> its field in a record; these are required, the others optional
_TEXTS = {"gold.patch": "patch", "test.patch": "test_patch", "problem_statement.md": "problem_statement"}
_MORE = {"hints.md": "hints_text"}
_LISTS = ("FAIL_TO_PASS", "PASS_TO_PASS")
#: the most digits of a number; Python refuses some thousands
_DIGITS = 20
_HINT = "each record is one of Multi-SWE-bench or of SWE-bench"
#: how files begin that are not read -> what they are
_OTHERS = {BOM_UTF16_LE: "UTF-16", BOM_UTF16_BE: "UTF-16", b"PAR1": "Parquet", b"PK\3\4": "a ZIP archive"}
_GZIP = b"\x1f\x8b"


class Row(NamedTuple):
    """A record of the repository, and its location: file and line."""

    record: Form
    location: str


def read(path: Path, repo: Repo) -> Iterator[Row | UserError]:
    """The records of a repository, each number once, and an error for each that cannot be read or that another one of
    its number contradicts, unless it belongs to another repository. Raises UserError if `path` does not exist, contains
    no tasks, or is a file of another format."""
    if not path.exists():
        raise UserError("no such file or folder", path=path, hint="--path takes a file of records or a folder of tasks")
    seen: dict[int, Row] = {}
    for row in _of_file(path, repo) if path.is_file() else _of_folders(path, repo):
        if isinstance(row, UserError) or (first := seen.setdefault(row.record.number, row)) is row:
            yield row
        elif row.record != first.record:
            message = f"another record of #{row.record.number} than that in {first.location}"
            yield UserError(message, path=row.location, hint="remove one of them: only the first is taken")


# -- files ---------------------------------------------------------------------------------------------------------
def _of_file(path: Path, repo: Repo) -> Iterator[Row | UserError]:
    for line, place, text in _texts(path):
        try:
            record = _loaded(text) if isinstance(text, bytes) else text
        except ValueError as error:
            yield UserError(f"not a record of a dataset: {error}", path=path, line=line, hint=_HINT)
        else:
            yield from _row(path, line, record, repo, place=place)


def _texts(path: Path) -> Iterator[tuple[int, int | None, Any]]:
    """Each record with its line. Those of a JSON list have the line of the list, and their place in it."""
    lines = _lines(path)
    first = next(lines, b"")
    begin = first.lstrip()[:1]
    if begin == b"[" or (begin == b"{" and not _is_json(first)):
        rest = list(lines)
        whole = b"".join((first, *rest))
        try:
            records = _loaded(whole)
        except ValueError:
            if begin == b"[":
                yield 1, None, whole
                return
            lines = iter(rest)
        else:
            listed = enumerate(records, 1) if isinstance(records, list) and records else [(None, records)]
            yield from ((1, place, record) for place, record in listed)
            return
    yield from ((number, None, line) for number, line in enumerate((first, *lines), 1) if line.strip())


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, without a mark at its beginning. Raises UserError for a file of another format."""
    with path.open("rb") as file:
        begin = file.read(4)
    if other := next((kind for mark, kind in _OTHERS.items() if begin.startswith(mark)), ""):
        raise UserError(f"the file is {other}", path=path, hint="save it as JSON Lines in UTF-8")
    try:
        with gzip.open(path) if begin.startswith(_GZIP) else path.open("rb") as lines:
            yield next(iter(lines), b"").removeprefix(BOM_UTF8)
            yield from lines
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"not a whole gzip file: {error}", path=path, hint="get it again") from None


def _is_json(text: bytes) -> bool:
    try:
        _loaded(text)
    except ValueError:
        return False
    return True


def _loaded(text: bytes) -> Any:
    """The parsed JSON. Raises ValueError. Numbers that are too long for Python are text, which the forms refuse."""
    try:
        return json.loads(text.decode(), parse_int=_number)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("it is invalid JSON") from None


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS else digits


# -- folders -------------------------------------------------------------------------------------------------------
class _Files(NamedTuple):
    """All paths below a folder, and a function that reads the contents of some (None for a missing file)."""

    paths: list[str]
    read: Callable[[list[str]], dict[str, bytes | None]]


def _files(path: Path) -> _Files:
    """The files of a folder on the disk, or of a bare clone's HEAD. Links that lead out of a folder are left out, since
    the texts of files are shown to models."""
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        clone = open_clone(path)
        return _Files(list_files(clone, "HEAD"), lambda names: dict(read_contents(clone, "HEAD", names)))
    root = path.resolve()
    inside = (file for file in path.rglob("*") if file.is_file() and file.resolve().is_relative_to(root))
    below = [str(file.relative_to(path)) for file in inside if ".git" not in file.parts]
    return _Files(sorted(below), lambda names: {name: (path / name).read_bytes() for name in names})


def _of_folders(path: Path, repo: Repo) -> Iterator[Row | UserError]:
    files = _files(path)
    tasks = {dirname(name): name for kind in _TASKS for name in files.paths if basename(name) == kind}
    if not tasks:
        raise UserError(
            f"no folder here has a {TASK}", path=path, hint="--path takes a file of records or a folder of tasks"
        )
    inside: dict[str, list[str]] = defaultdict(list)
    for name in files.paths:
        if (task := next((ancestor for ancestor in _above(name) if ancestor in tasks), None)) is not None:
            inside[task].append(name)
    contents = files.read(list(tasks.values()))
    for folder, name in tasks.items():
        fields = _yaml(path / name, contents[name])
        try:
            if isinstance(fields, UserError):
                raise fields
            if not isinstance(fields, dict):
                raise UserError("not a record of a dataset", path=path / name, hint=_HINT)
            if not _is_of_another(fields, repo):
                record, places = _task(path, folder, fields, inside[folder], files)
                yield from _row(path / name, None, record, repo, places=places)
        except UserError as error:
            yield error


def _above(name: str) -> Iterator[str]:
    while name:
        name = dirname(name)
        yield name


def _yaml(path: Path, data: bytes | None) -> Any:
    """The parsed YAML, dates and numbers as text; or the error if it is invalid."""
    try:
        return parse_yaml(decoded(data or b"", path), path, "correct or remove this task", plain=()).value
    except UserError as error:
        return error


def _task(
    path: Path, folder: str, fields: dict[str, Any], names: list[str], files: _Files
) -> tuple[dict[str, Any], dict[str, Path]]:
    """A task folder as a record of SWE-bench, and the files that its fields come from. Raises UserError for a file that
    is missing or cannot be read."""
    start = f"{folder}/" if folder else ""
    pictures = [name for name in names if dirname(name) == f"{start}{PICTURES}" and Path(name).suffix.lower() in MEDIA]
    test_files = [name for name in names if name.startswith(f"{start}{TEST_FILES}/")]
    texts = {f"{start}{name}": field for name, field in {**_TEXTS, **_MORE}.items()}
    contents = files.read([name for name in (*texts, *pictures, *test_files, f"{start}{TESTS}") if name in names])
    record, places = dict(fields), {}
    for name, field in texts.items():
        if (data := contents.get(name)) is not None:
            record[field], places[field] = decoded(data, path / name), path / name
        elif field in _TEXTS.values() and field not in fields:
            raise UserError("no such file", path=path / name, hint="add it, or remove this task")
    if (data := contents.get(f"{start}{TESTS}")) is not None:
        places |= dict.fromkeys(_LISTS, path / start / TESTS)
        record |= _expected(data, path / start / TESTS)
    record["files"] = {basename(name): contents[name] for name in pictures}
    record["test_files"] = {name.removeprefix(f"{start}{TEST_FILES}/"): contents[name] for name in test_files}
    return record, places


def _expected(data: bytes, path: Path) -> dict[str, Any]:
    """The lists of tests in a file. Raises UserError."""
    try:
        tests = parse_json(decoded(data, path))
    except ValueError as error:
        raise UserError(f"invalid JSON: {error}", path=path, hint="correct or remove it") from None
    if not isinstance(tests, dict):
        raise UserError(f"not an object with {' and '.join(_LISTS)}", path=path, hint="correct or remove it")
    return {name: tests.get(name) for name in _LISTS}


# -- records -------------------------------------------------------------------------------------------------------
def _row(
    path: Path,
    line: int | None,
    record: Any,
    repo: Repo,
    place: int | None = None,
    places: Mapping[str, Path] | None = None,
) -> Iterator[Row | UserError]:
    """A record of the repository, or an error; nothing for a record of another repository. `place` is that in a list,
    and `places` are the files that fields of a task folder come from."""
    if isinstance(record, dict) and _is_of_another(record, repo):
        return
    form = SweBench if places is not None else form_of(record) if isinstance(record, dict) else None
    hint = f"correct or remove {_called(record, place)}"
    if form is None:
        which = f": {_called(record, place)}" if place else ""
        yield UserError(f"not a record of a dataset{which}", path=path, line=line, hint=_HINT)
        return
    try:
        parsed = form.model_validate(record)
        _require_text(parsed.model_dump(exclude={"files", "test_files"}))
        parsed.merged()
        if str(parsed.repository).lower() == str(repo).lower() and parsed.is_merged:
            yield Row(parsed, f"{path}:{line}" if line else str(path))
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        yield unfit(error, path=(places or {}).get(field, path), line=line, hint=hint)
    except UserError as error:
        where = (places or {}).get((error.field or "").partition(".")[0], path)
        yield UserError(error.message, path=where, line=line, field=error.field, hint=error.hint or hint)


def _called(record: Any, place: int | None) -> str:
    """A record in words."""
    name = record.get("instance_id") or record.get("number") if isinstance(record, dict) else None
    which = f"record {place} of the list" if place else "this record"
    return f"{which} ({readable(str(name))})" if name else which


def _require_text(value: Any, field: str = "") -> None:
    """Raise UserError for a text that cannot be stored: JSON can write half of a character (`\\ud800`)."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UserError("it has half of a character (a surrogate), which is no text", field=field) from None
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _require_text(inner, f"{field}.{name}".removeprefix("."))
    elif isinstance(value, (list, tuple, frozenset)):
        for place, inner in enumerate(value):
            _require_text(inner, f"{field}.{place}")


def _is_of_another(record: dict[str, Any], repo: Repo) -> bool:
    """Whether a record names another repository. GitHub compares names without case."""
    name = record.get("repo")
    try:
        return isinstance(name, str) and str(repository(name, record.get("org"))).lower() != str(repo).lower()
    except UserError:
        return False
