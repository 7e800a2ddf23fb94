"""Progress while pages are read: how many, how fast, the remaining rate limit, and the estimated time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import chain

from pipeline.collect.sources import Page, Source
from pipeline.core.names import Repo
from pipeline.core.progress import Progress


def watch(repo: Repo, source: Source, pages: Iterator[Page]) -> Iterator[Page]:
    """The same pages, each reported after it was processed."""
    first = next(pages, None)
    if first is None:
        return
    started, done = time.monotonic(), 0
    with Progress("pages", math.ceil(first.total / max(1, len(first.pulls)))) as progress:
        for page in chain([first], pages):
            yield page
            done += len(page.pulls)
            line = _line(done, page.total, time.monotonic() - started, source.status())
            progress.finish(str(repo), line) if page.total else progress.step(str(repo), line)


def _line(done: int, total: int, seconds: float, status: str) -> str:
    rate = done / max(seconds, 0.001)
    parts = [f"{done:,} pull requests", f"{rate:,.0f}/s", status]
    if total > done:
        parts += [f"{_clock((total - done) / max(rate, 0.001))} to go"]
    return ", ".join(filter(None, parts))


def _clock(seconds: float) -> str:
    minutes, remaining = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{remaining:02d}"
