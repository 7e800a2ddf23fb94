"""The cost of a command: wall-clock time, processor time with all its child processes, and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
PROGRAM = str(Path(sys.executable).with_name("a11y-bench"))
#: ru_maxrss counts kibibytes, on macOS bytes
RSS_UNIT = 2**20 if sys.platform == "darwin" else 2**10
#: byte code is kept between starts, whatever the shell's settings
AS_INSTALLED = {"PYTHONDONTWRITEBYTECODE": ""}


class Spent(NamedTuple):
    """Wall-clock seconds, processor seconds, bytes of the largest process, and the output."""

    seconds: float
    processor: float
    memory: int
    said: str = ""


#: runs a command and writes its cost: the kernel counts a process's memory from that of the process that starts it,
#: which is small here, while a benchmark's own is not
_RUN = """\
import json, resource, subprocess, sys, time
started = time.perf_counter()
code = subprocess.call(sys.argv[2:])
seconds = time.perf_counter() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([code, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss], file)
"""


def spent(command: Sequence[str], *, folder: Path = TESTS, **environment: str) -> Spent:
    """Run a command to its end. Raises CalledProcessError with its output."""
    given = os.environ | AS_INSTALLED | environment
    with tempfile.TemporaryDirectory() as own:
        took = Path(own, "took.json")
        starting = [sys.executable, "-ISc", _RUN, str(took), *command]
        output = subprocess.run(
            starting, cwd=folder, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
        ).stdout
        code, seconds, processor, memory = json.loads(took.read_text())
    if code:
        raise subprocess.CalledProcessError(code, command, output)
    return Spent(seconds, processor, memory * RSS_UNIT, output)
