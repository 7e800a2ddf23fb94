"""The viewer in a process of its own, for tests in a browser."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from raters_bench import GIVEN

from pipeline.core.store import Store
from pipeline.llm.models import DEMO as MODELS

PROGRAM = Path(sys.executable).with_name("a11y-bench")


class Server:
    """The viewer in a process of its own, which can be killed and started again on the same port."""

    def __init__(self, store: Store) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.store, self.url = store, f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = ("triage", "serve", "--port", str(self.port), "--list", str(MODELS), "--data", str(self.store.root))
        surroundings = os.environ | GIVEN
        self.process = subprocess.Popen([PROGRAM, *words], stderr=subprocess.DEVNULL, env=surroundings)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url, timeout=5).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the viewer does not start")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
