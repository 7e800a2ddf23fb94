"""Processes of the local sandbox, below its protocol: no output is lost."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from pipeline.sandbox.base import Limits
from pipeline.sandbox.local import process


class LastWords:
    """A process that is silent when it is first read, and writes its last output just before it is asked whether it has
    ended."""

    def __init__(self, words: bytes) -> None:
        reader, self.writer = os.pipe()
        self.stdout, self.words = os.fdopen(reader, "rb"), words

    def poll(self) -> int:
        os.write(self.writer, self.words)
        self.words = b""
        return 0


@pytest.mark.trap("lost-tail")
def test_what_is_written_just_before_the_end_is_read() -> None:
    """The end of a report was lost between an empty read and the check whether the command had ended: an honest run
    became `tampered`. A child holds the output open, so end-of-file never comes."""
    words = LastWords(b"the last line\n")
    assert process.read_output(words, time.monotonic() + 5, 100) == b"the last line\n"


@pytest.mark.trap("lost-tail")
def test_nothing_is_lost_of_a_command_that_leaves_a_child_with_its_output(tmp_path: Path) -> None:
    script = "sleep 30 & sleep 0.1; head -c 60000 /dev/zero"
    env = {"PATH": os.environ["PATH"]}
    done = process.run(["sh", "-c", script], folder=tmp_path, env=env, limits=Limits(seconds=20))
    assert (len(done.output), done.limit) == (60_000, None)
    assert done.seconds < 10


def test_a_process_with_many_open_files_reads_on(tmp_path: Path) -> None:
    """`select` supports file numbers below 1,024 only, and a long batch may have that many connections to an engine."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2048)), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        env = {"PATH": os.environ["PATH"]}
        done = process.run(["echo", "here"], folder=tmp_path, env=env, limits=Limits(seconds=20))
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (done.code, done.output) == (0, b"here\n")
