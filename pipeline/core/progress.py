"""The progress of a batch: units counted, the latest step of each, a live view on a terminal. Writes to stderr."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import click

from pipeline.core.console import clock, is_terminal, say

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from pipeline.core.work import Event


class Progress:
    """Counts `total` units of `what`; `before` are the kinds of units that ended in earlier runs.

    Thread-safe; use it as a context manager.
    """

    def __init__(self, what: str, total: int, before: Iterable[str] = ()) -> None:
        self.what, self.total, self.kinds = what, total, Counter(before)
        self.before = self.done = self.kinds.total()
        self.started = time.monotonic()
        self.under_way: dict[str, Step] = {}
        self.notes: dict[str, str] = {}
        self._lock = threading.RLock()
        self._view: Live | None = None

    def __enter__(self) -> Progress:
        if is_terminal(sys.stderr):
            self._view = _live(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._view:
            self._view.stop()

    def step(self, unit: str, text: str) -> None:
        """Report a step of a unit, or of something that units wait for, which ends with `leave`."""
        with self._lock:
            since = self.under_way[unit].since if unit in self.under_way else time.monotonic()
            self.under_way[unit] = Step(text, since)
        self._tell(f"{unit}: {text}", passing=True)

    def hear(self, event: Event) -> None:
        """Show the event of a unit of work."""
        if event.text:
            self.step(event.unit, event.text)

    def leave(self, unit: str) -> None:
        """Something that units waited for is ready."""
        with self._lock:
            self.under_way.pop(unit, None)

    def finish(self, unit: str, text: str, kind: str = "") -> None:
        """Report the end of a unit, successful or not; `kind` is what it counts as."""
        with self._lock:
            self.under_way.pop(unit, None)
            self.done += 1
            self.kinds.update(filter(None, [kind]))
            count = f"{self.done} of {self.total}"
            remaining = self.seconds_to_go
        self._tell(f"{unit}: {text} ({count}{f', {clock(remaining)} to go' if remaining > 60 else ''})")

    def note(self, name: str, text: str) -> None:
        """A note on the whole batch, shown in the live view."""
        with self._lock:
            self.notes[name] = text

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_to_go(self) -> float:
        """An estimate from the units that ended since the start; 0 if there is none yet."""
        ended = self.done - self.before
        return self.seconds / ended * (self.total - self.done) if ended else 0

    def lines(self) -> dict[str, Step]:
        """The units under way at this moment, with their latest steps."""
        with self._lock:
            return dict(self.under_way)

    def stopping(self) -> None:
        """Announce that no new work starts, and which units are still awaited."""
        waiting = ", ".join(self.lines()) or "nothing"
        say(f"stopping after: {waiting}; press Ctrl-C again to stop at once")

    def _tell(self, line: str, passing: bool = False) -> None:
        """Write a line to the log and the console; with a live view, passing steps go to the log only."""
        logging.getLogger(__name__).info(line)
        with self._lock:
            if not self._view:
                click.echo(f"  [{clock(self.seconds)}] {line}", err=True)
            elif not passing:
                self._view.console.print(f"  {line}", highlight=False, markup=False)


class Step(NamedTuple):
    """What a unit is doing, and when it started (monotonic seconds)."""

    text: str
    since: float


def _live(progress: Progress) -> Live:
    """Show the progress until `stop` is called."""
    from rich.console import Console
    from rich.live import Live

    live = Live(
        get_renderable=lambda: view(progress), console=Console(stderr=True), refresh_per_second=2, transient=True
    )
    live.start()
    return live


def view(progress: Progress) -> RenderableType:
    """A line for the whole batch, a line with counts of outcomes, and a line for each unit under way."""
    from rich.console import Group

    kinds = " · ".join(f"{kind} {count}" for kind, count in progress.kinds.most_common())
    return Group(_whole(progress), *([_line(kinds)] if kinds else []), _under_way(progress))


def _whole(progress: Progress) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    remaining = f"{clock(progress.seconds_to_go)} to go" if progress.seconds_to_go else ""
    parts = [f"{progress.done} of {progress.total}", clock(progress.seconds), remaining]
    parts += [f"{name} {text}" for name, text in progress.notes.items()]
    row = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=max(1, progress.total), completed=progress.done, width=16)
    row.add_row(_line(progress.what), bar, _line(" · ".join(filter(None, parts))))
    return row


def _under_way(progress: Progress) -> Table:
    from rich.table import Table

    rows = Table.grid(padding=(0, 2))
    for unit, step in progress.lines().items():
        rows.add_row(_line(f"  {unit}"), clock(time.monotonic() - step.since), _line(step.text))
    return rows


def _line(text: str) -> Text:
    """One line, cut off if it is too long."""
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")
