"""Collecting in processes that are killed: `python killed.py SOURCE PATH FOLDER`, started by test_killed.py.

Each try has a folder of its own: one process is killed there, another one finishes. A timer kills at any moment, even
during a write; an audit hook kills at each rename, when a file replaces another. Prints the names of the folders.
Processes are forked after all imports, so that a try costs its own work only.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from factories import REPO

import pipeline.collect.github.source
import pipeline.collect.sources.clone  # noqa: F401
from pipeline.collect.sources import Options, open_source
from pipeline.collect.stage import collect_from
from pipeline.core.store import Store

RENAMINGS, MOMENTS = 7, 9


def collect(source: str, path: Path | None, folder: Path) -> None:
    collect_from(Store(folder / "data"), REPO, open_source(source, REPO, Options(path)))


def in_process(work: Callable[[], None]) -> int:
    """Do `work` in a child process; returns its exit status in the system's form."""
    if child := os.fork():
        return os.waitpid(child, 0)[1]
    work()
    os._exit(0)


def kill_after(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)


def kill_at_renaming(number: int) -> None:
    left = [number]

    def hook(event: str, _: tuple[object, ...]) -> None:
        if event == "os.rename":
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def main() -> None:
    source, path, folder = sys.argv[1], Path(sys.argv[2]) if sys.argv[2] else None, Path(sys.argv[3])
    started = time.monotonic()
    in_process(lambda: collect(source, path, folder / "undisturbed"))
    took = time.monotonic() - started
    print("undisturbed alive")
    tries: dict[str, tuple[Callable[[float], None], float]] = {
        **{f"renaming-{n}": (kill_at_renaming, n) for n in range(1, RENAMINGS + 1)},
        **{f"moment-{n}": (kill_after, took * n / MOMENTS) for n in range(1, MOMENTS)},
    }
    for name, (arm, when) in tries.items():
        status = in_process(lambda arm=arm, when=when, name=name: (arm(when), collect(source, path, folder / name)))
        in_process(lambda name=name: collect(source, path, folder / name))
        print(name if os.WIFSIGNALED(status) else f"{name} alive")


if __name__ == "__main__":
    main()
