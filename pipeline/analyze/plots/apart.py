"""Figures drawn in a process of their own, while this one reads, counts and writes.

The process starts at once: until there is something to draw, it imports what drawing needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.plots import figures
from pipeline.core.work import Spawned, Tell, silent
from pipeline.report.figures.style import Image

Tables = Mapping[str, pd.DataFrame]
#: the images of figures, which may still have to be drawn
Images = Callable[[], list[Image]]
Draw = Callable[[Frames, Tables], Images]

#: the frames that figures show; the others stay here
_SHOWN = ("instances", "predictions")


def here(frames: Frames, tables: Tables) -> Images:
    """Draw all figures in this process, when their images are needed."""
    return lambda: [plot.image() for plot in figures(frames, tables)]


@contextmanager
def apart() -> Iterator[Draw]:
    """Draw figures in another process. An error there is raised here, when the images are needed."""
    process = Spawned()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(process.attempt, _Drawing(), silent)

        def draw(frames: Frames, tables: Tables) -> Images:
            drawing = thread.submit(process.attempt, _Drawing(_shown(frames), tables), silent)
            return lambda: _unless_failed(drawing.result())

        try:
            yield draw
        finally:
            process.end()


class _Drawing(NamedTuple):
    """The order to draw all figures; without frames, only to be ready for it."""

    frames: Frames | None = None
    tables: Tables = {}
    name: str = "figures"
    affinity: str = ""

    def perform(self, _tell: Tell) -> list[Image] | Exception:
        return here(self.frames, self.tables)() if self.frames else []

    def failed(self, error: Exception) -> list[Image] | Exception:
        return error


def _shown(frames: Frames) -> Frames:
    """The frames without what no figure shows: the largest ones."""
    rest: dict[str, Any] = {name: frame[:0] for name, frame in frames.items().items() if name not in _SHOWN}
    return replace(frames, **rest, statements={}, patches={})


def _unless_failed(result: list[Image] | Exception) -> list[Image]:
    if isinstance(result, Exception):
        raise result
    return result
