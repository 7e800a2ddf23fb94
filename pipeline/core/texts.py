"""Reading text files that people write, with a UserError for any fault of the file itself.

Does not cover the content: each reader checks that.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pipeline.core.errors import UserError


def read_text(path: Path, encoding: str = "utf-8", hint: str | None = None) -> str:
    """The text of a file. Raises UserError for one that is missing, not readable, or not UTF-8 (with the line)."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError("no such file", path=path, hint=hint) from None
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", path=path, hint=hint) from None
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UserError("the file is not UTF-8", path=path, line=line, hint="save it as UTF-8") from None


def read_table(
    path: Path, columns: Collection[str] = (), encoding: str = "utf-8", hint: str | None = None
) -> list[tuple[int, dict[str, str | None]]]:
    """The rows of a CSV file, each with the line on which it ends. Raises UserError as `read_text` does, for a column
    that is missing, and for invalid CSV."""
    rows = csv.DictReader(io.StringIO(read_text(path, encoding, hint), newline=""))
    try:
        if missing := [column for column in columns if column not in (rows.fieldnames or ())]:
            raise UserError("no such column", path=path, line=1, field=missing[0], hint=hint)
        return [(rows.line_num, row) for row in rows]
    except csv.Error as error:
        raise UserError(f"invalid CSV: {error}", path=path, line=rows.line_num + 1, hint=hint) from None


def read_toml(path: Path, hint: str | None = None) -> dict[str, Any]:
    """The tables of a TOML file. Raises UserError as `read_text` does, and for invalid TOML."""
    try:
        return tomllib.loads(read_text(path, hint=hint))
    except (ValueError, RecursionError) as error:  # tomllib raises these for bad dates and deep nesting
        raise UserError(f"invalid TOML: {error}", path=path, hint=hint) from None
