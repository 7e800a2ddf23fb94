"""What other programs use while a page is tested; a page, and all that it starts, adds nothing to it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.pages import others
from pipeline.pages.others import Others, wait_for_quiet

pytestmark = pytest.mark.rule("busy-machine")

#: a process that starts another one in a session of its own, which computes for a second, waits for it, and stays
STARTS = """
import subprocess, sys
code = "import time\\nwhile time.process_time() < 1: pass"
subprocess.run([sys.executable, "-c", code], start_new_session=True)
print(flush=True)
sys.stdin.read()
"""


def spent(root: Callable[[int], int]) -> float:
    """The seconds that all processes use, less those that are counted if `root` of that process is the root."""
    command = [sys.executable, "-c", STARTS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        since = time.monotonic()
        with Others() as everything, Others(root(process.pid)) as counted:
            assert process.stdout and process.stdout.readline()
        process.communicate()
    assert everything.used is not None and counted.used is not None
    return (everything.used - counted.used) * (time.monotonic() - since)


def test_what_is_below_the_root_is_not_counted_even_if_it_has_ended() -> None:
    assert spent(lambda process: process) > 0.7


def test_everything_else_is_counted() -> None:
    assert abs(spent(lambda process: 0)) < 0.3


def test_a_root_that_has_ended_leaves_nothing_known() -> None:
    """Its descendants are no longer below it, and would seem to be other programs."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with process, Others(process.pid) as measured:
        process.kill()
        time.sleep(0.2)
    assert (measured.used, measured.busy) == (None, "")


def written(folder: Path, seconds: dict[str, int]) -> None:
    """A /proc with a kernel's thread and three processes: the engine, its browser, and another program."""
    kinds = {"engine": (2, 1, 0), "browser (x) y": (3, 2, 0), "other": (4, 1, 0), "kswapd0": (5, 0, 0x00A00000)}
    for name, (process, parent, flags) in kinds.items():
        (folder / str(process)).mkdir(exist_ok=True)
        used = 100 * seconds.get(name, 0)
        line = f"{process} ({name}) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {used} {used} {used} {used} 20 0 1 0 9"
        (folder / str(process) / "stat").write_text(line)


@pytest.mark.parametrize(
    ("name", "is_counted"), [("engine", False), ("browser (x) y", False), ("other", True), ("kswapd0", False)]
)
def test_only_the_time_of_other_programs_counts(
    name: str, is_counted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(others, "PROC", tmp_path)
    monkeypatch.setattr(others.os, "sysconf", lambda _: 100)
    written(tmp_path, {})
    with Others(2) as measured:
        written(tmp_path, {name: 1})
    assert measured.used == (4 / others.SHORTEST if is_counted else 0)


@pytest.mark.parametrize(
    ("used", "there", "is_busy"),
    [
        (1.6, 2, True),
        (1.4, 2, False),
        (0.6, 1, True),
        (0.4, 1, False),
        (7.6, 8, True),
        (7.0, 8, False),
        (2.1, 2, True),
        (40, 2, False),
        (None, 2, False),
    ],
)
def test_a_page_needs_half_a_processor(
    used: float | None, there: int, is_busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(others.os, "cpu_count", lambda: there)
    measured = Others()
    measured.used = used
    assert bool(measured.busy) is is_busy
    if is_busy:
        expected = f"other programs used {min(used or 0, there):.1f} of {there} processors while the page was tested"
        assert measured.busy == expected


def test_without_proc_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(others, "PROC", tmp_path)
    with Others() as measured:
        pass
    assert (measured.used, measured.busy) == (None, "")


@pytest.mark.parametrize(("needed", "waits"), [(-1.0, 1), (1000.0, 3)])
def test_waiting_for_quiet_ends_when_it_is_quiet_or_in_time(
    needed: float, waits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(others, "NEEDED", needed)
    monkeypatch.setattr(others.time, "sleep", slept.append)
    monkeypatch.setattr(others.time, "monotonic", lambda: sum(slept))
    wait_for_quiet(3 * others.SAMPLE)
    assert len(slept) == waits
