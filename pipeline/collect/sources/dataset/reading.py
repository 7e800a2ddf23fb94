"""The records of a foreign benchmark: JSON Lines (or one JSON list), or folders of tasks (`task.yaml`, `gold.patch`,
`test.patch`, `tests.json`, `problem_statement.md`, `hints.md`, `problem_assets/`) on the disk or in a bare clone.

One record that cannot be read never hides the others: it is a Problem, with file, line and field. Writes nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from posixpath import basename, dirname
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from pipeline.collect.sources.dataset.forms import FORMS, MEDIA, Form
from pipeline.core.errors import UserError, fault
from pipeline.core.git import list_files, open_clone, read_contents
from pipeline.core.names import Repo

TASK, TESTS, PICTURES = "task.yaml", "tests.json", "problem_assets"
#: file of a task folder -> the field that it holds; those of a pull request must be there
_TEXTS = {"gold.patch": "patch", "test.patch": "test_patch", "problem_statement.md": "problem_statement"}
_MORE = {"hints.md": "hints_text"}
_HINT = "each record is one of Multi-SWE-bench or of SWE-bench"


class Row(NamedTuple):
    """A record of the repository, and where it stands."""

    record: Form
    place: str


def read(path: Path, repo: Repo) -> Iterator[Row | UserError]:
    """The records of a repository, and what cannot be read and is none of another's. Raises UserError where nothing
    is at `path`, or nothing of a form that is known."""
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
    """Each record with its line; those of a list have the list's."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if number == 1 and line.lstrip().startswith(b"["):
                whole = _loaded(line + lines.read())
                yield from ((number, one) for one in (whole if isinstance(whole, list) and whole else [whole]))
                return
            if line.strip():
                yield number, line


def _loaded(text: Any) -> Any:
    """What JSON says; None for what is none."""
    try:
        return json.loads(text) if isinstance(text, bytes) else text
    except ValueError:
        return None


# -- folders -------------------------------------------------------------------------------------------------------
class _Files(NamedTuple):
    """All paths below a folder, and how the contents of some are read (None: it is not there)."""

    paths: list[str]
    read: Callable[[list[str]], dict[str, bytes | None]]


def _files(path: Path) -> _Files:
    """A folder on the disk, or what a bare clone's HEAD holds."""
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        clone = open_clone(path)
        return _Files(list_files(clone, "HEAD"), lambda wanted: dict(read_contents(clone, "HEAD", wanted)))
    below = [str(one.relative_to(path)) for one in path.rglob("*") if ".git" not in one.parts and one.is_file()]
    return _Files(sorted(below), lambda wanted: {name: (path / name).read_bytes() for name in wanted})


def _of_folders(path: Path, repo: Repo) -> Iterator[Row | UserError]:
    files = _files(path)
    tasks = {dirname(name): name for name in files.paths if basename(name) == TASK}
    if not tasks:
        raise UserError(
            f"no folder here has a {TASK}", path=path, hint="--path takes a file of records or a folder of tasks"
        )
    inside: dict[str, list[str]] = defaultdict(list)
    for name in files.paths:
        if (task := next((one for one in _above(name) if one in tasks), None)) is not None:
            inside[task].append(name)
    said = files.read(list(tasks.values()))
    for folder, name in tasks.items():
        about = _yaml(path / name, said[name])
        if isinstance(about, UserError):
            yield about
        elif not isinstance(about, dict) or about.get("repo") in (str(repo), None):
            yield from _row(path / name, None, _task(folder, about, inside[folder], files), repo)


def _above(name: str) -> Iterator[str]:
    while name:
        name = dirname(name)
        yield name


def _yaml(path: Path, data: bytes | None) -> Any:
    """What it says, dates as text; or why it cannot be read."""
    try:
        return yaml.load(data or b"", Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return UserError(
            "invalid YAML", path=path, line=mark.line + 1 if mark else None, hint="correct or remove this task"
        )


def _task(folder: str, about: Any, names: list[str], files: _Files) -> Any:
    """A task's folder as a record of SWE-bench."""
    if not isinstance(about, dict):
        return about
    start = f"{folder}/" if folder else ""
    pictures = [name for name in names if dirname(name) == f"{start}{PICTURES}" and Path(name).suffix.lower() in MEDIA]
    texts = {f"{start}{name}": field for name, field in {**_TEXTS, **_MORE}.items()}
    found = files.read([name for name in (*texts, *pictures, f"{start}{TESTS}") if name in names])
    record = {field: text for name, field in texts.items() if (text := _text(found.get(name))) is not None}
    tests = _loaded(found.get(f"{start}{TESTS}"))
    told = {name: tests.get(name) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")} if isinstance(tests, dict) else {}
    return {**about, **told, **record, "files": {basename(name): found[name] for name in pictures}}


def _text(data: bytes | None) -> str | None:
    """Bytes that are no UTF-8 are no text: patches are exact, or not there."""
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


# -- records -------------------------------------------------------------------------------------------------------
def _row(path: Path, line: int | None, record: Any, repo: Repo) -> Iterator[Row | UserError]:
    """A record of the repository, or what is wrong with one; nothing for another's."""
    place = f"{path}:{line}" if line else str(path)
    form = next((form for field, form in FORMS.items() if isinstance(record, dict) and field in record), None)
    if form is None and not (path.name == TASK and isinstance(record, dict)):
        yield UserError("not a record of a dataset", path=path, line=line, hint=_HINT)
        return
    if _is_of_another(record, repo):
        return
    try:
        made = (form or FORMS["problem_statement"]).model_validate(record)
        made.merged()
        if made.repository == repo and made.is_merged:
            yield Row(made, place)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        yield UserError(fault(first), path=path, line=line, field=field, hint="correct or remove this record")
    except UserError as error:
        yield UserError(error.message, path=path, line=line, field=error.field, hint=error.hint)


def _is_of_another(record: dict[str, Any], repo: Repo) -> bool:
    """Whether a record says whose it is, and it is another repository's."""
    org, name = record.get("org"), record.get("repo")
    said = f"{org}/{name}" if isinstance(org, str) else name
    return isinstance(said, str) and "/" in said and said != str(repo)
