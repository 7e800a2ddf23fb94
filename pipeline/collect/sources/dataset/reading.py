"""The records of a foreign benchmark: JSON Lines (or one JSON list), or folders of tasks (`task.yaml`, `gold.patch`,
`test.patch`, `tests.json`, `problem_statement.md`, `hints.md`, `problem_assets/`) on the disk or in a bare clone.

A record that cannot be read does not affect the others: it becomes a UserError with file, line and field.
Writes nothing.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from posixpath import basename, dirname
from typing import Any, NamedTuple

from pydantic import ValidationError

from pipeline.collect.sources.dataset.forms import FORMS, MEDIA, Form
from pipeline.core.errors import UserError, unfit
from pipeline.core.git import list_files, open_clone, read_contents
from pipeline.core.names import Repo
from pipeline.core.texts import decoded, parse_yaml

TASK, TESTS, PICTURES = "task.yaml", "tests.json", "problem_assets"
#: file of a task folder -> its field in a record; these are required, the others optional
_TEXTS = {"gold.patch": "patch", "test.patch": "test_patch", "problem_statement.md": "problem_statement"}
_MORE = {"hints.md": "hints_text"}
#: the most digits of a number; Python refuses some thousands
_DIGITS = 20
_HINT = "each record is one of Multi-SWE-bench or of SWE-bench"


class Row(NamedTuple):
    """A record of the repository, and its location: file and line."""

    record: Form
    location: str


def read(path: Path, repo: Repo) -> Iterator[Row | UserError]:
    """The records of a repository, and an error for each that cannot be read, unless it belongs to another repository.
    Raises UserError if `path` does not exist or contains no tasks."""
    if path.is_file():
        yield from _of_file(path, repo)
    elif path.is_dir():
        yield from _of_folders(path, repo)
    else:
        raise UserError("no such file or folder", path=path, hint="--path takes a file of records or a folder of tasks")


# -- files ---------------------------------------------------------------------------------------------------------
def _of_file(path: Path, repo: Repo) -> Iterator[Row | UserError]:
    for line, text in _texts(path):
        yield from _row(path, line, _loaded(text), repo)


def _texts(path: Path) -> Iterator[tuple[int, Any]]:
    """Each record with its line; those of a JSON list have the line of the list."""
    with path.open("rb") as lines:
        for number, read_line in enumerate(lines, 1):
            line = read_line.removeprefix(BOM_UTF8) if number == 1 else read_line
            if number == 1 and line.lstrip().startswith(b"["):
                records = _loaded(line + lines.read())
                records = records if isinstance(records, list) and records else [records]
                yield from ((number, record) for record in records)
                return
            if line.strip():
                yield number, line


def _loaded(text: Any) -> Any:
    """The parsed JSON; None if it is invalid. Numbers that are too long for Python are text, which the forms refuse."""
    try:
        return json.loads(text, parse_int=_number) if isinstance(text, bytes) else text
    except (ValueError, RecursionError):
        return None


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
    tasks = {dirname(name): name for name in files.paths if basename(name) == TASK}
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
        if isinstance(fields, UserError):
            yield fields
        elif not isinstance(fields, dict) or fields.get("repo") in (str(repo), None):
            yield from _row(path / name, None, _task(folder, fields, inside[folder], files), repo)


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


def _task(folder: str, fields: Any, names: list[str], files: _Files) -> Any:
    """A task folder as a record of SWE-bench."""
    if not isinstance(fields, dict):
        return fields
    start = f"{folder}/" if folder else ""
    pictures = [name for name in names if dirname(name) == f"{start}{PICTURES}" and Path(name).suffix.lower() in MEDIA]
    texts = {f"{start}{name}": field for name, field in {**_TEXTS, **_MORE}.items()}
    contents = files.read([name for name in (*texts, *pictures, f"{start}{TESTS}") if name in names])
    record = {field: text for name, field in texts.items() if (text := _text(contents.get(name))) is not None}
    tests = _loaded(contents.get(f"{start}{TESTS}"))
    expected = {name: tests.get(name) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")} if isinstance(tests, dict) else {}
    return {**fields, **expected, **record, "files": {basename(name): contents[name] for name in pictures}}


def _text(data: bytes | None) -> str | None:
    """The text in UTF-8; None for other bytes, since patches must be exact."""
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


# -- records -------------------------------------------------------------------------------------------------------
def _row(path: Path, line: int | None, record: Any, repo: Repo) -> Iterator[Row | UserError]:
    """A record of the repository, or an error; nothing for a record of another repository."""
    location = f"{path}:{line}" if line else str(path)
    form = next((form for field, form in FORMS.items() if isinstance(record, dict) and field in record), None)
    if form is None and not (path.name == TASK and isinstance(record, dict)):
        yield UserError("not a record of a dataset", path=path, line=line, hint=_HINT)
        return
    if _is_of_another(record, repo):
        return
    try:
        parsed = (form or FORMS["problem_statement"]).model_validate(record)
        parsed.merged()
        if parsed.repository == repo and parsed.is_merged:
            yield Row(parsed, location)
    except ValidationError as error:
        yield unfit(error, path=path, line=line, hint="correct or remove this record")
    except UserError as error:
        yield UserError(error.message, path=path, line=line, field=error.field, hint=error.hint)


def _is_of_another(record: dict[str, Any], repo: Repo) -> bool:
    """Whether a record names another repository."""
    org, name = record.get("org"), record.get("repo")
    full_name = f"{org}/{name}" if isinstance(org, str) else name
    return isinstance(full_name, str) and "/" in full_name and full_name != str(repo)
