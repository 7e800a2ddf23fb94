"""What a person sees while work goes on: progress on stderr, results on stdout, details in the log file of a run.

`Progress` counts units and shows the latest step of each; on a terminal as a live bar, elsewhere as plain lines.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click


class Progress:
    """Counts `total` units of `what`. Thread-safe; use it as a context manager."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done, self.started = what, total, 0, time.monotonic()
        self._lock = threading.Lock()
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._bar = _live_bar(self.what, self.total)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def step(self, unit: str, text: str) -> None:
        """One unit got further."""
        logging.getLogger(__name__).info("%s: %s", unit, text)
        with self._lock:
            if self._bar:
                self._bar.update(0, unit=f"{unit}: {text}")
            else:
                click.echo(f"  [{self._clock()}] {unit}: {text}", err=True)

    def finish(self, unit: str, text: str) -> None:
        """One unit ended, well or badly."""
        with self._lock:
            self.done += 1
        if self._bar:
            self._bar.advance(0)
            self._bar.console.print(f"  {unit}: {text}", highlight=False, markup=False)
        self.step(unit, f"{text} ({self.done} of {self.total})")

    def _clock(self) -> str:
        seconds = int(time.monotonic() - self.started)
        return f"{seconds // 60:02d}:{seconds % 60:02d}"


def _live_bar(what: str, total: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    console, kept = Console(stderr=True), Column(no_wrap=True, min_width=8)
    wide = (BarColumn(bar_width=20), TimeRemainingColumn()) if console.width >= 110 else ()
    unit = TextColumn("{task.fields[unit]}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
    clock = TimeElapsedColumn(table_column=kept)
    columns = (TextColumn(what, table_column=Column(no_wrap=True, min_width=len(what))), *wide)
    bar = Bar(
        *columns, MofNCompleteColumn(table_column=kept), clock, unit, console=console, transient=True, expand=True
    )
    bar.add_task(what, total=total, unit="")
    bar.start()
    return bar


def say(text: str) -> None:
    """A line of progress, on stderr."""
    logging.getLogger(__name__).info(text)
    click.echo(text, err=True)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on stdout, numbers to the right."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for index, name in enumerate(header):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        grid.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(str(cell) for cell in row))
    width = None if sys.stdout.isatty() else 140
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
