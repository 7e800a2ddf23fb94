"""The hierarchy of errors.

A11yBenchError
├── UserError             bad input: names file, line, field and what to do; exit code 2, nothing written
└── InfrastructureError   a broken engine, registry, disk or provider: never a model's failure; worth a retry
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.recipes import runnable

if TYPE_CHECKING:
    from pydantic import ValidationError


class A11yBenchError(Exception):
    """The root of everything this project raises on purpose."""


class UserError(A11yBenchError):
    """Input that cannot be used.

    `path`, `line` (from 1) and `field` say where; `hint` says what to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message, self.path, self.line, self.field, self.hint = message, path, line, field, hint
        super().__init__(str(self))

    def __str__(self) -> str:
        position = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        field = f"field '{self.field}'" if self.field else ""
        text = ": ".join(part for part in (position, field, self.message) if part)
        return runnable(f"{text}\n  {self.hint}" if self.hint else text)


class InfrastructureError(A11yBenchError):
    """Something outside broke. `cause` is one word of a closed list that records keep."""

    def __init__(self, message: str, *, cause: str) -> None:
        self.cause = cause
        super().__init__(message)


def fault(error: Mapping[str, Any]) -> str:
    """One of pydantic's errors as a message. People write lists, even where Python reads tuples."""
    return str(error["msg"]).removeprefix("Value error, ").replace("valid tuple", "list")


def unfit(
    error: ValidationError, *, path: Path | str | None = None, line: int | None = None, hint: str | None = None
) -> UserError:
    """The error for the first value that does not fit a record, with its field."""
    first = error.errors()[0]
    return UserError(fault(first), path=path, line=line, field=".".join(map(str, first["loc"])) or None, hint=hint)


def unknown(kind: str, name: str, choices: list[str]) -> UserError:
    """The error for a name that is not in a table; it lists the names that are."""
    available = ", ".join(sorted(choices)) or "none yet"
    return UserError(f"unknown {kind} '{name}'", hint=f"available: {available}")
