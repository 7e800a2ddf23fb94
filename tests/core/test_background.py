"""Work in the background, and the end of a process that has some."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from pipeline.core.background import Background


def test_work_is_done_in_order_and_returns_futures() -> None:
    done = []
    with Background() as background:
        futures = [background.submit(done.append, number) for number in range(100)]
        failed = background.submit(int, "x")
    assert done == list(range(100)) and all(future.done() for future in futures)
    assert isinstance(failed.exception(), ValueError)


def test_submitted_work_is_awaited_even_if_the_block_fails() -> None:
    done = []

    def work() -> None:
        time.sleep(0.2)
        done.append(1)

    with pytest.raises(ValueError, match="no"), Background() as background:
        background.submit(work)
        raise ValueError("no")
    assert done == [1]


def test_an_interrupt_does_not_wait_for_submitted_work() -> None:
    never = threading.Event()
    with pytest.raises(KeyboardInterrupt), Background() as background:
        background.submit(never.wait, 60)
        raise KeyboardInterrupt
    never.set()


AT_THE_END = """
import atexit, threading
from pipeline.core.background import Background
background = Background()
atexit.register(lambda: print(background.submit(int, "7").result()))
background.submit(lambda: None)
Background().submit(threading.Event().wait)
"""


def test_work_may_be_submitted_while_the_process_exits() -> None:
    """The standard library's pools wait for their threads and say `cannot schedule new futures after shutdown`."""
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
