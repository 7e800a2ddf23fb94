"""Hosts in network namespaces of this machine: each has an address, processes and files that the others cannot see.

A bridge in the first host's namespace joins the hosts. No packet leaves them. `Network` needs root and `ip`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

#: addresses for documentation (RFC 5737), which no real network uses
SUBNET = "192.0.2"
#: hides the folders before the first `--`, then becomes the command
BEGIN = 'until [ "$1" = -- ]; do mount -t tmpfs hidden "$1"; shift; done; shift; exec "$@"'


def lacking() -> str:
    """Why this machine cannot have such hosts; empty if it can."""
    if os.geteuid() or not shutil.which("ip"):
        return "needs root and ip (Debian's iproute2)"
    probe = f"a11y-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "delete", probe], capture_output=True)
    return f"cannot make network namespaces: {made.stderr.strip()}" if made.returncode else ""


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait for a condition, and return its value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"did not happen in {seconds} s"
        time.sleep(0.05)
    return found


class Host:
    """A machine: its namespace, its address, and a folder of its own, which is empty for other hosts."""

    def __init__(self, name: str, address: str, folder: Path) -> None:
        self.name, self.address, self.folder = name, address, folder
        self.others: list[Path] = []
        folder.mkdir(exist_ok=True)

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], log: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program here; its output goes to a file."""
        begin = ["ip", "netns", "exec", self.name, "sh", "-euc", BEGIN, "sh", *map(str, self.others), "--", *command]
        with (log or self.folder / "log").open("ab") as output:
            return subprocess.Popen(begin, env=os.environ | dict(environment), stdout=output, stderr=output)

    def run(self, *command: str) -> None:
        """Run a program to its end with the files that the host's first process sees."""
        subprocess.run(["nsenter", "--mount", f"--target={self.processes()[0]}", *command], check=True)

    def processes(self, name: str = "") -> list[int]:
        """The ids of all processes here, or of those with a name."""
        listed = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, text=True).stdout.split()
        return [int(process) for process in listed if not name or _name(process) == name]

    def kill(self) -> None:
        """Kill all processes at once, like a power failure."""
        while processes := self.processes():
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)


def _name(process: str) -> str:
    with suppress(OSError):
        return Path("/proc", process, "comm").read_text().strip()
    return ""


class Network:
    """As a context manager: hosts joined by a bridge in the namespace of the first one."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.hosts = [
            Host(f"a11y-{os.getpid()}-{name}", f"{SUBNET}.{number}", folder / name)
            for number, name in enumerate(names, 1)
        ]
        for host in self.hosts:
            host.others = [other.folder for other in self.hosts if other is not host]

    def __enter__(self) -> Network:
        center = self.hosts[0].name
        try:
            for host in self.hosts:
                _ip("netns", "add", host.name)
                _ip("-n", host.name, "link", "set", "lo", "up")
            _ip("-n", center, "link", "add", "lan", "type", "bridge")
            for host in self.hosts[1:]:
                port = _port(host)
                ends = ["link", "add", port, "type", "veth", "peer", "name", "lan", "netns", host.name]
                _ip("-n", center, *ends)
                _ip("-n", center, "link", "set", port, "master", "lan", "up")
            for host in self.hosts:
                _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "lan")
                _ip("-n", host.name, "link", "set", "lan", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def cut(self, host: Host) -> None:
        """Pull the host's cable: packets are lost, and nobody is told."""
        _ip("-n", self.hosts[0].name, "link", "set", _port(host), "down")

    def join(self, host: Host) -> None:
        """Plug it in again."""
        _ip("-n", self.hosts[0].name, "link", "set", _port(host), "up")

    def __exit__(self, *_: object) -> None:
        for host in self.hosts:
            host.kill()
            subprocess.run(["ip", "netns", "delete", host.name], capture_output=True)


def _port(host: Host) -> str:
    """The host's port at the bridge."""
    return f"port{host.address.rpartition('.')[2]}"


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
