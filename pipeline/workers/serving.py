"""What the scheduler and workers share as programs: an address to listen on, and an orderly end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import click


def own_address(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The value of `--host`, if this machine can listen there."""
    import socket

    if value is None:
        return None
    try:
        family, kind, *_, place = socket.getaddrinfo(value, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.bind(place)
    except OSError as error:
        raise click.BadParameter(f"'{value}' is not an address of this machine: {error.strerror}") from None
    return value


def run(serve: Callable[[], Awaitable[None]]) -> None:
    """Serve until Ctrl-C or a request to end (SIGTERM), and close down before KeyboardInterrupt is raised."""
    import asyncio
    import signal

    async def main() -> None:
        task = asyncio.current_task()
        assert task
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        await serve()

    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
