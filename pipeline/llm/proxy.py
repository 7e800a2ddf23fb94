"""Starts the LiteLLM proxy inside its own environment, and ends with the process that started it.

Reads standard input, which the gateway holds open for as long as it lives. Arguments are LiteLLM's own.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from litellm.proxy.proxy_cli import run_server
from litellm.proxy.proxy_server import app

from pipeline.llm.fence import Fence
from pipeline.llm.hooks import limits, models
from pipeline.llm.turns import Turns

#: seconds in which requests that are under way may end, when the process that started it is gone
GRACE = 10


def _end_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    provider_of = {name: model.provider for name, model in models().items()}
    app.add_middleware(Turns, provider_of=provider_of, limits=limits())
    app.add_middleware(Fence)
    run_server()
