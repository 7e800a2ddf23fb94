"""The live view of a Progress on a terminal: how far it is, how units ended, what is under way. Writes to stderr."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pipeline.core.console import clock

if TYPE_CHECKING:
    from pipeline.core.console import Progress


def start(progress: Progress) -> Live:
    """Show a progress from now on, until `stop` is called."""
    live = Live(
        get_renderable=lambda: view(progress), console=Console(stderr=True), refresh_per_second=2, transient=True
    )
    live.start()
    return live


def view(progress: Progress) -> RenderableType:
    """A line on the whole, a line on how units ended, and a line for each that is under way."""
    kinds = " · ".join(f"{kind} {count}" for kind, count in progress.kinds.most_common())
    return Group(_whole(progress), *([_line(kinds)] if kinds else []), _under_way(progress))


def _whole(progress: Progress) -> Table:
    rest = f"{clock(progress.seconds_to_go)} to go" if progress.seconds_to_go else ""
    words = [f"{progress.done} of {progress.total}", clock(progress.seconds), rest]
    words += [f"{name} {text}" for name, text in progress.notes.items()]
    row = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=max(1, progress.total), completed=progress.done, width=16)
    row.add_row(progress.what, bar, _line(" · ".join(filter(None, words))))
    return row


def _under_way(progress: Progress) -> Table:
    rows = Table.grid(padding=(0, 2))
    for unit, step in progress.lines().items():
        rows.add_row(f"  {unit}", clock(time.monotonic() - step.since), _line(step.text))
    return rows


def _line(text: str) -> Text:
    """One line, cut where it is too long."""
    return Text(text, no_wrap=True, overflow="ellipsis")
