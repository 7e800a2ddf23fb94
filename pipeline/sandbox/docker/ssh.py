"""Access to an engine behind ssh: OpenSSH forwards its socket, with the user's own keys, hosts and settings.

The Docker SDK's own access needs another ssh library, which ignores these. Writes a socket to a temporary folder.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from pipeline.core.errors import InfrastructureError

SOCKET = "/var/run/docker.sock"


class Tunnel:
    """A tunnel that is open as long as this object; `host` is the socket here. Ends with this process, even if killed.

    `address` is `ssh://[USER@]HOST[:PORT][/SOCKET]`. Raises InfrastructureError if it does not open in `seconds`.
    """

    def __init__(self, address: str, seconds: float) -> None:
        self._folder = TemporaryDirectory(prefix="a11y-bench-")
        path = Path(self._folder.name, "sock")
        self.host = f"unix://{path}"
        target = urlsplit(address)
        server = f"ssh://{target.netloc}"
        forward = ("-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes", "-L", f"{path}:{target.path or SOCKET}")
        # `cat` ends when its input does, and so with this process
        self._ssh = subprocess.Popen(
            ["ssh", "-T", *forward, server, "cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is meant for the units under way, which still need the tunnel
        )
        deadline = time.monotonic() + seconds
        while not path.exists():
            if self._ssh.poll() is not None or time.monotonic() > deadline:
                raise InfrastructureError(f"no way to {address}: {self._end()}", cause="engine")
            time.sleep(0.05)

    def _end(self) -> str:
        self._ssh.kill()
        return self._ssh.communicate()[1].decode(errors="replace").strip()
