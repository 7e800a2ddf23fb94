"""Output for people: progress on stderr, results on stdout, details in the log file of a run."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from pipeline.core.recipes import runnable

#: control characters, except line breaks and tabs: a terminal would obey them
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: str) -> str:
    """Text of others for a terminal: control characters as `\\xNN`, except line breaks and tabs."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def clock(seconds: float) -> str:
    """`MM:SS`, or `H:MM:SS` for an hour or more."""
    minutes, remainder = divmod(int(seconds), 60)
    return f"{minutes:02d}:{remainder:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{remainder:02d}"


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """The singular or plural of a noun."""
    return noun if number == 1 else noun.removesuffix("y") + "ies" if noun.endswith("y") else f"{noun}s"


def say(text: str) -> None:
    """A line of progress, on stderr."""
    text = visible(runnable(text))
    logging.getLogger(__name__).info(text)
    click.echo(text, err=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream leads to a terminal. A closed one is None."""
    return stream is not None and stream.isatty()


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on stdout, with numbers aligned to the right."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for index, name in enumerate(header):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        grid.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(visible(runnable(str(cell))) for cell in row))
    width = None if is_terminal(sys.stdout) else 140
    Console(width=width, markup=False, emoji=False).print(grid)


@contextmanager
def log_file(path: Path) -> Iterator[None]:
    """Send the details of a run to `path` (debug level), besides what the console shows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger("pipeline")
    root.setLevel(logging.DEBUG)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
