"""Serving the viewer on a port until it is stopped. Contacts no other machine."""

from __future__ import annotations

import secrets
from ipaddress import ip_address
from pathlib import Path

from pipeline.core.console import say
from pipeline.core.errors import UserError
from pipeline.core.store import Store
from pipeline.triage.web.app import Asker, make_app
from pipeline.triage.web.asks import Asks

#: requests that are handled in parallel
THREADS = 8


def serve(store: Store, host: str, port: int, models: Path) -> None:
    """Serve until SIGINT or SIGTERM; models of the list `models` can be asked. Raises UserError for an unusable
    address."""
    from waitress.server import create_server

    token = "" if is_loopback(host) else secrets.token_urlsafe(24)
    try:
        app = make_app(store, token, Asker(Asks(), models))
        server = create_server(app, host=host, port=port, threads=THREADS, ident=None)
    except OSError as error:
        raise UserError(f"{host}:{port} cannot be used: {error.strerror}", hint="choose another --port") from None
    address = f"http://{f'[{host}]' if ':' in host else host}:{server.effective_port}/"
    say(f"the viewer is at {address}{f'?token={token}' if token else ''}  (Ctrl-C stops it)")
    try:
        server.run()
    finally:
        server.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
