"""Where work runs: threads of this process. One broken unit never stops a batch.

Each unit's result is handed over as it completes, so that the caller writes it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from pipeline.core.console import say

T = TypeVar("T")
R = TypeVar("R")


def each(items: Sequence[T], work: Callable[[T], R], *, jobs: int) -> Iterator[R]:
    """Do `work` on every item, `jobs` at a time, and yield results as they come.

    `work` records its own failures as data; what it raises all the same ends the batch, after the units under way.
    """
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        except KeyboardInterrupt:
            say("stopping after the units under way; press Ctrl-C again to stop at once")
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
