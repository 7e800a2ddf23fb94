"""What a command takes: on the clock, of the processor with all that it starts, and in memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
PROGRAM = str(Path(sys.executable).with_name("a11y-bench"))
#: ru_maxrss counts kibibytes, on macOS bytes
RSS_UNIT = 2**20 if sys.platform == "darwin" else 2**10
#: byte code is kept from one start to the next, whatever the shell of the benchmark says
AS_INSTALLED = {"PYTHONDONTWRITEBYTECODE": ""}


class Spent(NamedTuple):
    """Seconds on the clock, seconds of the processor, bytes of the largest process, and what it printed."""

    seconds: float
    processor: float
    memory: int
    said: str = ""


def spent(command: Sequence[str], *, folder: Path = TESTS, **environment: str) -> Spent:
    """Run a command to its end. Raises CalledProcessError, with what it said."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        given = os.environ | AS_INSTALLED | environment
        program = subprocess.Popen(command, cwd=folder, env=given, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        said.seek(0)
        if status:
            raise subprocess.CalledProcessError(program.returncode, command, said.read())
        return Spent(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT, said.read())
