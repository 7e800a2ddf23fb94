"""Work in the background, and the end of a process that has some."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from pipeline.core.aside import Aside


def test_work_is_done_in_order_and_its_result_is_the_futures() -> None:
    done = []
    with Aside() as aside:
        futures = [aside.submit(done.append, number) for number in range(100)]
        failed = aside.submit(int, "x")
    assert done == list(range(100)) and all(one.done() for one in futures)
    assert isinstance(failed.exception(), ValueError)


def test_what_was_given_is_awaited_also_when_the_block_fails() -> None:
    done = []

    def work() -> None:
        time.sleep(0.2)
        done.append(1)

    with pytest.raises(ValueError, match="no"), Aside() as aside:
        aside.submit(work)
        raise ValueError("no")
    assert done == [1]


def test_who_is_asked_to_end_does_not_wait() -> None:
    never = threading.Event()
    with pytest.raises(KeyboardInterrupt), Aside() as aside:
        aside.submit(never.wait, 60)
        raise KeyboardInterrupt
    never.set()


AT_THE_END = """
import atexit, threading
from pipeline.core.aside import Aside
aside = Aside()
atexit.register(lambda: print(aside.submit(int, "7").result()))
aside.submit(lambda: None)
Aside().submit(threading.Event().wait)
"""


def test_the_end_of_a_process_is_not_held_up_and_may_give_more_work() -> None:
    """The standard library's pools wait for their threads and say `cannot schedule new futures after shutdown`."""
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
