"""The user's cache folder: files that are slow to make and safe to delete, made by the first process that needs them.

Reads the environment variable A11Y_BENCH_CACHE. It holds no results; those are in `data/` (store.py).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.errors import UserError

if TYPE_CHECKING:
    import filelock


def cache_root() -> Path:
    """A11Y_BENCH_CACHE, else the platform's cache folder. Raises UserError if there is none."""
    import platformdirs

    chosen = os.environ.get("A11Y_BENCH_CACHE")
    if chosen:
        return Path(chosen).absolute()
    with home():
        return Path(platformdirs.user_cache_dir("a11y-bench"))


@contextmanager
def home() -> Iterator[None]:
    """Raise UserError if the user has no home folder, as in some containers."""
    try:
        yield
    except RuntimeError as error:
        hint = "set HOME, or A11Y_BENCH_CACHE and XDG_CONFIG_HOME"
        raise UserError(f"no home folder is known: {error}", hint=hint) from None


def lock(path: Path) -> filelock.BaseFileLock:
    """A lock between threads and processes. The system releases it when its process ends."""
    import filelock

    path.parent.mkdir(parents=True, exist_ok=True)
    return filelock.FileLock(path)


def once(folder: Path, make: Callable[[Path], Any]) -> Any:
    """What `make(folder)` returned (plain data) when it first succeeded; other callers wait for it.

    An interrupted folder is made again. It is made in place, since tools write absolute paths into it.
    """
    from pipeline.core.store import Unit

    with lock(folder.with_name(f"{folder.name}.lock")):
        unit = Unit(folder)
        if not unit.path.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            unit.finish(make(folder))
        return unit.result()
