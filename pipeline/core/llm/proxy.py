"""Starts the LiteLLM proxy inside its own environment, and ends with the process that started it.

Reads standard input, which the gateway holds open for as long as it lives. Arguments are LiteLLM's own.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from litellm.proxy.proxy_cli import run_server


def _end_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    run_server()
