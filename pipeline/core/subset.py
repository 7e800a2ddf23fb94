"""Selecting instances of a dataset or of a list: by number, by name, from a file or a named subset, or the first N.

Reads the file of a subset; writes nothing. A file has one instance per line, or JSON Lines with `instance_id`; empty
lines and lines that begin with `#` are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.store import Store
from pipeline.core.texts import is_file, read_text

HERE = Path()


class Named(Protocol):
    """What has the name of an instance."""

    @property
    def instance_id(self) -> str: ...


N = TypeVar("N", bound=Named)


@dataclass(frozen=True)
class Subset:
    """Instances by pull request and by name; of these, the first `limit`. By default all.

    `names` may be of several repositories; for each, only its own count.
    """

    numbers: tuple[int, ...] = ()
    names: tuple[str, ...] | None = None
    limit: int | None = None

    @property
    def is_all(self) -> bool:
        return not self.numbers and self.names is None and self.limit is None

    def pulls(self, repo: Repo) -> tuple[int, ...]:
        """The pull requests of a repository that are selected by number or name; empty if all are."""
        named = (parse_instance_id(name) for name in self.names or ())
        return tuple(dict.fromkeys([*self.numbers, *(number for repository, number in named if repository == repo)]))

    def of(self, dataset: Sequence[N]) -> tuple[N, ...]:
        """The selected instances, in the dataset's order. Raises UserError for an unknown one, or if there are none."""
        by_name = {instance.instance_id: instance for instance in dataset}
        repos = {parse_instance_id(name)[0] for name in by_name}
        wanted = {repo.instance_id(number) for repo in repos for number in self.numbers}
        wanted |= {name for name in self.names or () if parse_instance_id(name)[0] in repos}
        if missing := sorted(wanted - by_name.keys()):
            raise unknown("instance", missing[0], list(by_name))
        named = bool(self.numbers) or self.names is not None
        found = tuple(instance for instance in dataset if instance.instance_id in wanted or not named)[: self.limit]
        if not found and dataset:
            hint = "--pr, --instances and --limit select nothing in this dataset; check the numbers"
            raise UserError(f"no instance of {', '.join(map(str, repos))} is selected", hint=hint)
        return found


#: all instances
ALL = Subset()


def read_names(text: str) -> tuple[str, ...]:
    """Names of instances, in any form, from a file or a comma-separated list. Raises UserError with the line, or if
    there is no name."""
    path = Path(text)
    if is_file(path):
        names = tuple(dict.fromkeys(_name_in(path, number, line) for number, line in _lines(path)))
        return names or _none(path)
    try:
        return parse_names(name for name in text.split(",") if name.strip()) or _none()
    except UserError:
        if not _is_path(text):
            raise
        raise UserError("no such file", path=path, hint="give a file, or instances separated by commas") from None


def read_selection(text: str, store: Store, folder: Path = HERE) -> tuple[str, ...]:
    """The same, also from a named subset of a data directory. Paths are relative to `folder`. Raises UserError."""
    files = [path for path in (folder / text, store.subset(text)) if is_file(path)]
    if not files and re.fullmatch(r"\w+", text):
        hint = f"write it with just dataset-subset {text}, or name a file or instances"
        raise UserError(f"there is no subset '{text}'", hint=hint)
    return read_names(str(files[0]) if files else text)


def _none(path: Path | None = None) -> NoReturn:
    raise UserError("no instance is named", path=path, hint="leave the option or field out to select all")


def parse_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of instances, each in any form, without duplicates. Raises UserError for one that names none."""
    return tuple(dict.fromkeys(map(_canonical, names)))


def _is_path(text: str) -> bool:
    """Whether a text that names no instances looks like a path."""
    number = re.split("[-#:]", text)[-1]
    return bool(Path(text).suffix) or "/" in text and not number.isdecimal()


def _lines(path: Path) -> list[tuple[int, str]]:
    lines = enumerate(map(str.strip, read_text(path).split("\n")), 1)
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def _name_in(path: Path, number: int, line: str) -> str:
    try:
        return _canonical(str(json.loads(line)["instance_id"]) if line.startswith("{") else line)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError("no instance_id in this line", path=path, line=number) from None
    except UserError as error:
        raise UserError(error.message, path=path, line=number, hint=error.hint) from None


def _canonical(text: str) -> str:
    repo, number = parse_instance_id(text)
    return Repo(*repo).instance_id(number)
