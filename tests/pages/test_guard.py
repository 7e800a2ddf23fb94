"""A guarded command ends with all processes that it started; no browser is needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from pages_bench import running

from pipeline.pages import guard

#: how a command starts a process that would outlive it, and goes on
STARTS = {
    "a child": "sleep {left} & exec {on}",
    "a session of its own": "setsid sleep {left} & exec {on}",
    "a grandchild": "(setsid sleep {left} &) & exec {on}",
    "one that ignores signals": "(trap '' TERM HUP; sleep {left}) & exec {on}",
}


def guarded(*command: str, **more: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-I", "-S", guard.__file__, *command], **more)


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("ends", [True, False])
def test_a_command_ends_with_what_it_started(kind: str, ends: bool) -> None:
    left = f"3{os.getpid()}.{len(kind)}"
    on = "sleep 0.2" if ends else "sleep 300"
    process = guarded("/bin/sh", "-c", STARTS[kind].format(left=left, on=on))
    deadline = time.monotonic() + 5
    while not running(left) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert running(left)
    if not ends:
        process.send_signal(signal.SIGTERM)
    process.wait(10)
    assert running(left) == []


def test_a_command_gets_the_descriptors_and_the_environment() -> None:
    ours, theirs = os.pipe()
    script = f"echo $LEFT > /dev/fd/{theirs}"
    process = guarded("/bin/sh", "-c", script, pass_fds=[theirs], env={**os.environ, "LEFT": "yes"})
    os.close(theirs)
    with os.fdopen(ours) as answers:
        assert answers.read() == "yes\n", "and the guard holds none of them"
    process.wait(10)
