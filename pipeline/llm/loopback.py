"""A server on loopback, for programs of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from typing import Any


class LoopbackServer(ThreadingHTTPServer):
    """Serves from its creation until `close`, with a thread for each connection. Simultaneous connections are queued: a
    refused one would be retried only after a second."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, handler: Callable[..., Any]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def close(self) -> None:
        self.shutdown()
        self.server_close()
