"""The proxy's process, with misbehaving programs in its place."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.llm.process import running_proxy

#: answers every request, starts a child process, and ignores requests to end
STUBBORN = """
    import http.server, os, signal, subprocess, sys
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"])
    open("pids", "w").write(f"{os.getpid()} {child.pid}")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()

    http.server.HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
"""


def program(folder: Path, code: str) -> Path:
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\n{textwrap.dedent(code)}", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_proxy_that_dies_shows_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    python = program(tmp_path, "raise SystemExit('no such module: fastapi')")
    with (
        pytest.raises(InfrastructureError, match="did not start:\nno such module: fastapi") as caught,
        running_proxy(python, tmp_path / "home", {}, {}, say=print, log=tmp_path / "proxy.log"),
    ):
        pass
    assert caught.value.cause == "proxy"


def test_a_proxy_that_never_answers_is_given_up(tmp_path: Path) -> None:
    """With a system load of fifteen, it took more than two minutes; the error named neither the time nor the limit."""
    (tmp_path / "home").mkdir()
    python = program(tmp_path, "import time; time.sleep(60)")
    how = {"say": print, "log": tmp_path / "proxy.log", "start_limit": 0.2}
    with (
        pytest.raises(InfrastructureError, match=r"did not start within 0\.2 s"),
        running_proxy(python, tmp_path / "home", {}, {}, **how),
    ):
        pass


def test_all_processes_of_the_proxy_end(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    python = program(tmp_path, STUBBORN)
    environment = {"PATH": os.environ["PATH"]}
    with running_proxy(python, home, {}, environment, say=print, log=tmp_path / "proxy.log", stop_limit=0.5):
        pids = [int(pid) for pid in (home / "pids").read_text().split()]
    deadline = time.monotonic() + 5
    while [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline


def alive(pid: int) -> bool:
    """Whether a process is running, and is no zombie."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
