"""Folders that are made once, whoever asks first; reads and writes only below the folder that it is given."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock

from pipeline.core.store import Unit


def lock(path: Path) -> filelock.BaseFileLock:
    """A lock between threads and processes; one whose process ended is free by itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return filelock.FileLock(path)


def once(folder: Path, make: Callable[[Path], Any]) -> Any:
    """What `make(folder)` returned (plain data) when it first succeeded; others wait for it meanwhile.

    A folder whose making was interrupted is made anew. It is made in place, since tools write absolute paths into it.
    """
    with lock(folder.with_name(f"{folder.name}.lock")):
        unit = Unit(folder)
        if not unit.path.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            unit.finish(make(folder))
        return unit.result()
