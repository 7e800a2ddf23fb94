"""What a person sees while work goes on: progress on stderr, results on stdout, details in the log file of a run.

`Progress` counts units and shows the latest step of each; on a terminal as a live view, elsewhere as plain lines.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click


class Progress:
    """Counts `total` units of `what`; `before` are the kinds of those that had ended already.

    Thread-safe; use it as a context manager.
    """

    def __init__(self, what: str, total: int, before: Iterable[str] = ()) -> None:
        self.what, self.total, self.kinds = what, total, Counter(before)
        self.before = self.done = self.kinds.total()
        self.started = time.monotonic()
        self.under_way: dict[str, Step] = {}
        self.notes: dict[str, str] = {}
        self._lock, self._view = threading.RLock(), None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from pipeline.core.live import start

            self._view = start(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._view:
            self._view.stop()

    def step(self, unit: str, text: str) -> None:
        """One unit got further; so did something that units wait for, which ends with `leave`."""
        with self._lock:
            since = self.under_way[unit].since if unit in self.under_way else time.monotonic()
            self.under_way[unit] = Step(text, since)
        self._tell(f"{unit}: {text}", passing=True)

    def leave(self, unit: str) -> None:
        """Something that units waited for is there."""
        with self._lock:
            self.under_way.pop(unit, None)

    def finish(self, unit: str, text: str, kind: str = "") -> None:
        """One unit ended, well or badly; `kind` is what it counts as."""
        with self._lock:
            self.under_way.pop(unit, None)
            self.done += 1
            self.kinds.update(filter(None, [kind]))
            place = f"{self.done} of {self.total}"
            rest = self.seconds_to_go
        self._tell(f"{unit}: {text} ({place}{f', {clock(rest)} to go' if rest > 60 else ''})")

    def note(self, name: str, text: str) -> None:
        """Something that holds for the whole, and is shown while there is a live view."""
        with self._lock:
            self.notes[name] = text

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_to_go(self) -> float:
        """By the units that ended since the start; 0 as long as there is none."""
        ended = self.done - self.before
        return self.seconds / ended * (self.total - self.done) if ended else 0

    def lines(self) -> dict[str, Step]:
        """What is under way, at this moment."""
        with self._lock:
            return dict(self.under_way)

    def stopping(self) -> None:
        """Say that no new work starts, and what is waited for."""
        waiting = ", ".join(self.lines()) or "nothing"
        say(f"stopping; under way: {waiting}; press Ctrl-C again to stop at once")

    def _tell(self, line: str, passing: bool = False) -> None:
        """A line of the log, and of the console; a live view shows what passes in its place."""
        logging.getLogger(__name__).info(line)
        with self._lock:
            if not self._view:
                click.echo(f"  [{clock(self.seconds)}] {line}", err=True)
            elif not passing:
                self._view.console.print(f"  {line}", highlight=False, markup=False)


class Step(NamedTuple):
    """What a unit does now, and since when it is under way (monotonic seconds)."""

    text: str
    since: float


def clock(seconds: float) -> str:
    """`MM:SS`, or `H:MM:SS` from an hour on."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02d}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


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
