"""A laptop and a server: a real OpenSSH server on loopback, with a home folder of its own.

On the server, `uv run` starts this Python on the transferred project; the installation of packages is not tested here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lacking import lack
from ssh_double import NAME, Server

from pipeline.core.retry import Patience
from pipeline.core.store import Store
from pipeline.remote.host import Host

#: variables with the certificates of a network that inspects TLS, on this machine and thus on the server
AUTHORITIES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
QUICK = Patience(tries=2, seconds=0.1)
#: `uv run` without installing packages: the program and `just` are those of this Python
UV = """\
#!/bin/sh
until [ "$1" = a11y-bench ] || [ "$1" = just ]; do shift; done
program=$1
shift
[ $program = just ] && exec {bin}/just "$@"
exec {bin}/python -c 'from pipeline.cli import main; main()' "$@"
"""


class Laptop:
    """The laptop's side: its store, and the server as it sees it."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.home, self.store = folder / "home", Store(folder / "data")
        self.host = Host(NAME, str(self.home / "work/a11y bench"), QUICK)  # a session begins in its user's own home
        self.there = Path(self.host.folder)
        self.server = server

    @property
    def remote(self) -> Store:
        return Store(self.there / "data")


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laptop]:
    if not Path("/usr/sbin/sshd").exists():
        lack("needs openssh-server")
    uv = tmp_path / "home/.local/bin/uv"
    uv.parent.mkdir(parents=True)
    uv.write_text(UV.format(bin=Path(sys.executable).parent))
    uv.chmod(0o755)
    trusted = {name: os.environ[name] for name in AUTHORITIES if name in os.environ}
    with Server(tmp_path, {"HOME": str(tmp_path / "home"), **trusted}) as server:
        monkeypatch.setenv("PATH", f"{server.folder}{os.pathsep}{os.environ['PATH']}")
        laptop = Laptop(server, tmp_path)
        until_it_answers(laptop)
        laptop.host.run(f"mkdir -p '{laptop.host.folder}'")
        yield laptop


def until_it_answers(laptop: Laptop) -> None:
    until = time.monotonic() + 20
    while subprocess.run(["ssh", NAME, "true"], capture_output=True).returncode:
        assert time.monotonic() < until
        time.sleep(0.1)
