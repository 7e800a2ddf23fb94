"""The user's cache folder: what is slow to make and safe to delete.

Reads the environment variable A11Y_BENCH_CACHE. Nothing in there is a result; results live under `data/` (store.py).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_root() -> Path:
    """A11Y_BENCH_CACHE, else the platform's own folder for caches."""
    import platformdirs

    chosen = os.environ.get("A11Y_BENCH_CACHE")
    return Path(chosen).absolute() if chosen else Path(platformdirs.user_cache_dir("a11y-bench"))


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """The cached folder `name`, which `make` fills at first use.

    It is made beside its place and renamed last: a folder that is there is whole. A second process waits for the first.
    """
    import filelock

    target = cache_root() / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(target.with_name(f"{target.name}.lock")):
        if not target.exists():
            _make(target, make)
    return target


def _make(target: Path, make: Callable[[Path], None]) -> None:
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        make(draft)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
