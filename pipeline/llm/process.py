"""The proxy's process: starting it, waiting for it, ending it with all its children.

Writes its folder `home` (configuration and a link to this package) and its log. Does not handle keys or the ledger.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pipeline
from pipeline.core.errors import InfrastructureError

#: seconds for the proxy to start (15 on an idle machine, minutes on a busy one) and to end
START_LIMIT, STOP_LIMIT = 300, 10
#: seconds between messages during a slow start
MESSAGE_EVERY = 5


@contextmanager
def running_proxy(
    python: Path,
    home: Path,
    configuration: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    say: Callable[[str], None],
    log: Path,
    start_limit: float = START_LIMIT,
    stop_limit: float = STOP_LIMIT,
) -> Iterator[str]:
    """Run a proxy during the block; yields its address. Raises InfrastructureError if it does not start."""
    _write_home(home, configuration)
    log.parent.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    command = [str(python), "-m", "pipeline.llm.proxy", "--config", "config.yaml", "--host", "127.0.0.1"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--telemetry", "False"],
            cwd=home,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/health/liveliness", start_limit, say, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        _end(process, stop_limit)


def _write_home(home: Path, configuration: Mapping[str, Any]) -> None:
    """Write the proxy's folder. The hooks import this package, but nothing else of our environment."""
    (home / "pipeline").symlink_to(Path(pipeline.__file__).parent)
    (home / "config.yaml").write_text(json.dumps(configuration, indent=2), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(process: subprocess.Popen[bytes], health: str, limit: float, say: Callable[[str], None], log: Path) -> None:
    began = time.monotonic()
    last_message = 0.0
    while not _is_ready(health):
        elapsed = time.monotonic() - began
        if process.poll() is not None or elapsed > limit:
            within = f" within {limit:g} s" if process.poll() is None else ""
            text = f"the LiteLLM proxy did not start{within}:\n{_tail(log)}\n(all of it: {log})"
            raise InfrastructureError(text, cause="proxy")
        if elapsed - last_message >= MESSAGE_EVERY:
            last_message = elapsed
            say(f"the LiteLLM proxy is starting ({elapsed:.0f} s)")
        time.sleep(0.1)


def _is_ready(health: str) -> bool:
    try:
        with urlopen(health, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def _tail(log: Path, lines: int = 20) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def _end(process: subprocess.Popen[bytes], limit: float) -> None:
    """End the process, first gently, so that answers are booked, then with its whole group."""
    process.terminate()
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin:
        process.stdin.close()
