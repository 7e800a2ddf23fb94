"""Figures drawn in a process of their own, while this one reads, counts and writes.

The process starts at once, and meanwhile imports what drawing needs. It draws each figure as soon as its tables are
made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures import each_table
from pipeline.analyze.plots import FIGURES, Figure, figure, figures
from pipeline.core.cycles import no_cycles
from pipeline.core.work import Spawned, Tell, silent
from pipeline.report.figures.style import Image

Tables = Mapping[str, pd.DataFrame]
#: the images of figures, some of which may not be drawn yet
Images = Callable[[], list[Image]]
#: the tables of frames, and the images of their figures
Draw = Callable[[Frames], tuple[Tables, Images]]
#: the result of an order
Made = Image | Exception | None


def in_this_process(frames: Frames, tables: Tables) -> Images:
    """Draw all figures in this process, when their images are needed."""
    return lambda: [plot.image() for plot in figures(frames, tables)]


@contextmanager
def in_another_process() -> Iterator[Draw]:
    """Draw figures in another process. An error there is raised here, when the images are needed."""
    process = Spawned()
    with ThreadPoolExecutor(1) as thread:

        def order(drawing: _Drawing) -> Future[Made]:
            return thread.submit(process.attempt, drawing, silent)

        order(_Drawing())
        try:
            yield partial(_drawn, order)
        finally:
            thread.shutdown(wait=False, cancel_futures=True)
            process.end()


class _Drawing(NamedTuple):
    """The order to draw a figure; without frames, only to be ready for it."""

    name: str = ""
    frames: Frames | None = None
    tables: Tables = {}
    affinity: str = ""

    def perform(self, _tell: Tell) -> Made:
        with no_cycles():
            plot = figure(self.frames, self.name, self.tables) if self.frames else None
            return plot.image() if plot else None

    def failed(self, error: Exception) -> Made:
        return error


def _drawn(order: Callable[[_Drawing], Future[Made]], frames: Frames) -> tuple[Tables, Images]:
    """Make the tables, and order each figure when the last of its tables is made."""
    tables: dict[str, pd.DataFrame] = {}
    orders: dict[str, Future[Made]] = {}
    for name, table in each_table(frames):
        tables[name] = table
        for spec in FIGURES:
            if name in spec.tables and spec.tables <= tables.keys():
                drawing = _Drawing(spec.name, _shown(frames, spec), _filled(tables, spec.tables))
                orders[spec.name] = order(drawing)
    return _filled(tables, tables), partial(_images, [orders[spec.name] for spec in FIGURES])


def _shown(frames: Frames, spec: Figure) -> Frames:
    """The frames that a figure shows, without the others, which are large."""
    rest: dict[str, Any] = {name: frame[:0] for name, frame in frames.items().items() if name not in spec.frames}
    return replace(frames, **rest, statements={}, patches={})


def _filled(tables: Tables, names: Iterable[str]) -> dict[str, pd.DataFrame]:
    """These tables, without empty ones."""
    return {name: tables[name] for name in names if len(tables[name])}


def _images(orders: list[Future[Made]]) -> list[Image]:
    made = [order.result() for order in orders]
    for result in made:
        if isinstance(result, Exception):
            raise result
    return [result for result in made if isinstance(result, Image)]
