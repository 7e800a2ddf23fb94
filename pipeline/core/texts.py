"""Reading text files that people write, with a UserError for any fault of the file itself.

The mark with which some editors begin a file (BOM) is no part of the text. Does not cover the content: each reader
checks that.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tomllib
import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.core.errors import UserError, fault

if TYPE_CHECKING:
    from pydantic import ValidationError

_OF_STORED = "put back a copy of it; or remove its folder, and run the same command again"
#: far more bytes than a stored log or report has: somebody else's file could fill the memory
MOST_UNZIPPED = 2**30


def is_there(path: Path) -> bool:
    """Whether a file or folder exists. Raises UserError for a broken link: it means that its target was lost."""
    if path.exists():
        return True
    if path.is_symlink():  # another process may have written a file meanwhile
        raise UserError("the link leads nowhere", path=path, hint="restore what it led to, or remove the link")
    return False


def is_file(path: Path) -> bool:
    """Whether a file of this name exists. The name may be any text, even one that is too long for a file name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def reading(path: Path, hint: str | None = None) -> Iterator[None]:
    """Raise UserError for a file that is missing or not readable, such as a folder in its place."""
    try:
        yield
    except FileNotFoundError:
        raise UserError("no such file", path=path, hint=hint) from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", path=path, hint=hint) from None


def read_text(path: Path, hint: str | None = None) -> str:
    """The text of a file. Raises UserError for one that is missing, not readable, or not UTF-8 (with the line)."""
    with reading(path, hint):
        data = path.read_bytes()
    return decoded(data, path)


def decoded(data: bytes, path: Path) -> str:
    """The text of a file's bytes. Raises UserError if they are not UTF-8 (with the line)."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UserError("the file is not UTF-8", path=path, line=line, hint="save it as UTF-8") from None


def unzipped(path: Path) -> bytes:
    """The content of a stored gzip file. Raises UserError for one that is missing, not readable, cut off, damaged or
    larger than we store."""
    with reading(path, _OF_STORED):
        data = path.read_bytes()
    try:
        if not data:
            raise EOFError("the file is empty")
        content = bytearray()
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while part := file.read(2**20):
                content += part
                if len(content) > MOST_UNZIPPED:
                    raise UserError(f"it unzips to more than {MOST_UNZIPPED} bytes", path=path, hint=_OF_STORED)
        return bytes(content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UserError(f"not a whole gzip file: {error}", path=path, hint=_OF_STORED) from None


def read_table(
    path: Path, columns: Collection[str] = (), hint: str | None = None
) -> list[tuple[int, dict[str, str | None]]]:
    """The rows of a CSV file, each with the line on which it ends. Raises UserError as `read_text` does, for a column
    that is missing or there twice, for a row with more cells than columns, and for invalid CSV, such as a quotation
    mark that is never closed."""
    rows = csv.DictReader(io.StringIO(read_text(path, hint), newline=""), strict=True)
    found: list[tuple[int, dict[str, str | None]]] = []
    ended = 0
    try:
        _require_columns(rows.fieldnames or (), columns, path, hint)
        ended = rows.line_num
        for row in rows:
            ended = rows.line_num
            if rows.restkey in row:
                raise UserError("the row has more cells than there are columns", path=path, line=ended, hint=hint)
            found.append((ended, row))
    except csv.Error as error:
        raise UserError(f"invalid CSV: {error}", path=path, line=ended + 1, hint=hint) from None
    return found


def _require_columns(present: Sequence[str], columns: Collection[str], path: Path, hint: str | None) -> None:
    if missing := [column for column in columns if column not in present]:
        raise UserError("no such column", path=path, line=1, field=missing[0], hint=hint)
    if repeated := [column for column in present if present.count(column) > 1]:
        raise UserError("the column occurs twice", path=path, line=1, field=repeated[0], hint=hint)


def read_toml(path: Path, hint: str | None = None) -> dict[str, Any]:
    """The tables of a TOML file. Raises UserError as `read_text` does, and for invalid TOML, with the line."""
    return parse_toml(read_text(path, hint), path, hint)


def parse_toml(text: str, path: Path, hint: str | None = None) -> dict[str, Any]:
    """The tables of a TOML file's text. Raises UserError with the line."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib also raises these for long numbers and deep nesting
        line = re.search(r"at line (\d+)", str(error))
        message = f"invalid TOML: {error}"
        raise UserError(message, path=path, line=int(line[1]) if line else None, hint=hint) from None


#: the keys and positions (from 0) that lead to a value of a TOML file, the outermost first
Place = Sequence[str | int]


def wrong_value(
    path: Path | None, place: Place, message: str, hint: str | None = None, field: str | None = None
) -> UserError:
    """The error for a value at a place in a TOML file, with its line, or that of the closest table around it. Without
    a path, it is a file of ours. `field` is the place as people see it, if it differs."""
    named = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
    line = line_in_toml(read_text(path), place) if path and is_file(path) else None
    return UserError(message, path=path, line=line, field=field or named or None, hint=hint)


def misfit(path: Path, error: ValidationError, hint: str | None = None, place: Place = ()) -> UserError:
    """The error for the first value of a TOML file that does not fit a record, which stands at a place in the file."""
    first = error.errors()[0]
    return wrong_value(path, (*place, *first["loc"]), fault(first), hint)


def line_in_toml(text: str, place: Place) -> int | None:
    """The line, from 1, in which a value of a valid TOML file begins, or the closest table around it; None if neither
    is there."""
    lines = io.StringIO(text).readlines()
    for depth in range(len(place), 0, -1):
        begin = bisect_left(range(len(lines) + 1), True, key=lambda end: _has(_beginning(lines, end), place[:depth]))
        if begin <= len(lines):
            return begin
    return None


def _beginning(lines: Sequence[str], end: int) -> Any:
    """The values of the first `end` lines, and of as many more as the last of these values has."""
    for further in range(end, len(lines) + 1):
        with suppress(ValueError):
            return tomllib.loads("".join(lines[:further]))
    return {}


def _has(value: Any, place: Place) -> bool:
    """Whether there is a value at a place."""
    for part in place:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


class RepeatedKey(ValueError):
    """A key that occurs twice in a JSON object: one of its values would be lost."""


def parse_json(text: str | bytes, *, unique: bool = False) -> Any:
    """The value of a JSON text that anybody may have written. Raises ValueError, also if it nests too deep, and
    RepeatedKey if its keys must be `unique`."""
    try:
        return json.loads(text, object_pairs_hook=_unique if unique else None)
    except RecursionError:
        raise ValueError("it nests too deep") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise RepeatedKey(f"the key '{repeated}' occurs twice")
    return found


#: what PyYAML raises for a text, besides its own errors: for long numbers, deep nesting, and values of a wrong tag
_FAULTS_OF_YAML = (ValueError, RecursionError, KeyError, AttributeError, IndexError)


def parse_yaml(text: str, path: Path, hint: str | None = None, *, plain: Collection[str] | None = None) -> Yaml:
    """The value of a YAML text and its nodes. `plain` names the types that values without quotation marks can have,
    such as `int`; all others are then texts as they are written. Raises UserError with the line for invalid YAML, for a
    value that contains itself, and for a key that occurs twice in a table, where YAML would take the last value without
    a word."""
    import yaml

    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    if plain is not None:
        tags = [f"tag:yaml.org,2002:{kind}" for kind in (*plain, "merge")]
        resolvers = {first: [row for row in rows if row[0] in tags] for first, rows in resolvers.items()}
    loader: Any = type("Loader", (yaml.SafeLoader,), {"yaml_implicit_resolvers": resolvers})
    try:
        found = Yaml(loader(text).get_single_data(), loader(text).get_single_node())
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise UserError(f"invalid YAML: {error.problem}", path=path, line=line, hint=hint) from None
    except (yaml.YAMLError, *_FAULTS_OF_YAML) as error:
        raise UserError(f"invalid YAML: {error}", path=path, hint=hint) from None
    if recursive := _in_itself(found.root):
        line = recursive.start_mark.line + 1
        raise UserError("the value contains itself", path=path, line=line, hint="write it without a reference (*NAME)")
    for key, earlier in _repeated(found.root):
        line, message = key.start_mark.line + 1, f"'{key.value}' is also in line {earlier.start_mark.line + 1}"
        raise UserError(message, path=path, line=line, field=key.value, hint="only one of them would count")
    return found


class Yaml(NamedTuple):
    """What a YAML text says, and its root node, which knows the lines; None for an empty text."""

    value: Any
    root: Any

    def line(self, place: Place) -> int | None:
        """The line, from 1, of the value at a place, or of the closest value around it; None for an empty text."""
        node = self.root
        for part in place:
            inner = next((value for name, value in _named(node) if name == part), None)
            if inner is None:
                break
            node = inner
        return node.start_mark.line + 1 if node else None


def _named(node: Any) -> Iterator[tuple[Any, Any]]:
    """The values in a node of YAML, each with its key or position."""
    if node.id == "mapping":
        yield from ((key.value, value) for key, value in node.value)
    elif node.id == "sequence":
        yield from enumerate(node.value)


def _inner(node: Any) -> list[Any]:
    """The nodes in a node of YAML."""
    if node.id == "mapping":
        return [part for pair in node.value for part in pair]
    return node.value if node.id == "sequence" else []


def _in_itself(root: Any) -> Any:
    """A node that contains itself; None if there is none."""
    pending, around, done = [root] if root else [], set(), set()
    while pending:
        node = pending[-1]
        if id(node) in around or id(node) in done:
            around.discard(id(node))
            done.add(id(pending.pop()))
            continue
        around.add(id(node))
        for inner in _inner(node):
            if id(inner) in around:
                return inner
            pending.append(inner)
    return None


def _repeated(root: Any) -> Iterator[tuple[Any, Any]]:
    """The keys that are in one table twice, each with its first place."""
    pending, seen = [root] if root else [], set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        pending += _inner(node)
        first: dict[str, Any] = {}
        for key, _ in node.value if node.id == "mapping" else ():
            if key.id == "scalar" and first.setdefault(key.value, key) is not key:
                yield key, first[key.value]
