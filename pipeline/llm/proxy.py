"""Starts the LiteLLM proxy inside its own environment, and ends with the process that started it.

Reads standard input, which the gateway keeps open while it lives. Arguments are LiteLLM's own.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from litellm.proxy.proxy_cli import run_server
from litellm.proxy.proxy_server import app

from pipeline.llm import replays, streams
from pipeline.llm.ends import Ends
from pipeline.llm.fence import Fence
from pipeline.llm.hooks import before_sending, limits, models
from pipeline.llm.rate_limits import Turns

#: seconds that running requests have to end after the process that started the proxy has ended
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
    app.add_middleware(Ends)
    replays.install(before_sending)
    streams.install()
    run_server()
