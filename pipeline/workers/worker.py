"""`a11y-bench worker`: lets this machine perform units for coordinators elsewhere."""

from __future__ import annotations

from contextlib import suppress

import click

from pipeline.workers.serving import own_address, run

#: seconds between two tries to reach a scheduler
WAIT = 2.0


def _address(context: click.Context, parameter: click.Parameter, value: str) -> str:
    from pipeline.core.cluster import endpoint

    with suppress(ValueError):
        endpoint(value)
        return value
    raise click.BadParameter(f"'{value}' is not the address of a scheduler, such as tcp://server:8786")


@click.command()
@click.argument("address", callback=_address)
@click.option(
    "--slots", type=click.IntRange(1), default=1, show_default=True, help="Units of work to perform in parallel."
)
@click.option(
    "--host",
    default=None,
    callback=own_address,
    help="The address to listen on, which the scheduler must reach [default: the address from which this machine "
    "reaches the scheduler].",
)
def command(address: str, slots: int, host: str | None) -> None:
    """Perform units of work for the commands that use the scheduler at ADDRESS (tcp://HOST:8786), until Ctrl-C.

    \b
    Needs what the stage needs: a container engine and the base image (just doctor). If the scheduler disappears, the
    worker waits for it, and work in progress is repeated.
    Example: a11y-bench worker tcp://server:8786 --slots 4
    """
    run(lambda: _serve(address, slots, host))


async def _serve(address: str, slots: int, host: str | None) -> None:
    import asyncio
    from tempfile import TemporaryDirectory

    import dask

    from pipeline.core import slot
    from pipeline.core.console import say
    from pipeline.workers.scheduler import settings

    waiting = False
    with dask.config.set(settings()), TemporaryDirectory(prefix="a11y-bench-") as folder:
        while True:
            try:
                await _joined(address, slots, host, folder)
                say(f"lost the scheduler {address}; waiting for it")
                waiting = True
            except OSError as error:
                if not waiting:
                    say(f"no scheduler yet: {error}")
                waiting = True
            slot.stop()
            await asyncio.sleep(WAIT)


async def _joined(address: str, slots: int, host: str | None, folder: str) -> None:
    """Work until the scheduler is gone. Raises OSError where there is none."""
    import logging

    from distributed import Worker
    from distributed.comm import get_local_address_for

    from pipeline.core.console import say

    logging.getLogger("distributed").setLevel(logging.WARNING)
    own = host or get_local_address_for(address).partition("://")[2]  # without a host, it listens on all addresses
    worker = Worker(address, nthreads=slots, host=own, local_directory=folder, memory_limit=0, dashboard=False)
    try:
        await worker
        say(f"working for {address}, {slots} units in parallel")
        await worker.finished()
    finally:
        await worker.close(timeout=5, nanny=False)
