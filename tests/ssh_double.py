"""An OpenSSH server on loopback that leads to this machine, and an `ssh` that knows its keys and no others."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

SERVER = """\
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
"""
CLIENT = """\
IdentityFile {folder}/user
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
Host {name}
    HostName 127.0.0.1
    Port {port}
"""
#: the server's name in the folder's `ssh`
NAME = "bench-server"


class Server:
    """`address` is the value for DOCKER_HOST, `folder` belongs into PATH: it contains the `ssh` that may log in.
    `environment` are variables on the server, such as another HOME."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder, self.environment = folder / "ssh", environment or {}
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address, self._port = f"ssh://127.0.0.1:{port}", port

    def __enter__(self) -> Server:
        self.folder.mkdir()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        self.configure()
        client = self.folder / "ssh"
        client.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {self.folder}/ssh_config "$@"\n')
        client.chmod(0o755)
        Path("/run/sshd").mkdir(exist_ok=True)  # where it separates its rights; Debian's service makes it
        self.start()
        return self

    def configure(self) -> None:
        """Write the configuration; a running server reads it when it is restarted."""
        for name, text in (("sshd_config", SERVER), ("ssh_config", CLIENT)):
            (self.folder / name).write_text(text.format(folder=self.folder, name=NAME, port=self._port))
        with (self.folder / "sshd_config").open("a") as configuration:
            pairs = (f'"{name}={value}"' for name, value in self.environment.items())
            configuration.write(f"SetEnv {' '.join(pairs)}\n" if self.environment else "")

    def start(self) -> None:
        command = ["/usr/sbin/sshd", "-D", "-p", str(self._port), "-f", self.folder / "sshd_config"]
        self._server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while socket.socket().connect_ex(("127.0.0.1", self._port)):
            assert time.monotonic() < until
            time.sleep(0.02)

    def stop(self) -> None:
        """New connections are refused; existing ones stay."""
        self._server.terminate()
        self._server.wait()

    def __exit__(self, *_: object) -> None:
        self.stop()
