"""`a11y-bench scheduler`: where coordinators and workers meet. It keeps nothing: what was under way is sent again."""

from __future__ import annotations

import os
from typing import Any

import click

from pipeline.workers.serving import own_address, run

#: settings of dask.distributed, unless the environment has others. A host that was cut off is noticed within a minute.
#: Coordinators count the workers that end, and choose the worker of each unit. Dask's profiles and logs of messages are
#: off, since nobody reads them: they take time for each unit and keep the last 100,000 results in memory
SETTINGS = {
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.scheduler.allowed-failures": 100,
    "distributed.comm.timeouts.connect": "10s",
    "distributed.comm.timeouts.tcp": "30s",
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.low-level-log-length": 0,
}


def settings() -> dict[str, Any]:
    """SETTINGS without those that the environment has (DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL and so on)."""
    named = {name: f"DASK_{name.replace('.', '__').replace('-', '_').upper()}" for name in SETTINGS}
    return {name: value for name, value in SETTINGS.items() if named[name] not in os.environ}


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, callback=own_address, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help="The port; 0 takes any free one."
)
def command(host: str, port: int) -> None:
    """Start the scheduler, which passes work from commands with --engine dask to workers.

    Prints its address, and runs until Ctrl-C. Anyone who can reach the port can run code on the workers. Make it
    reachable only through an ssh tunnel or a private network, or set up TLS (docs/remote.md).
    """
    run(lambda: _serve(host, port))


async def _serve(host: str, port: int) -> None:
    import logging

    import dask
    from distributed import Scheduler

    from pipeline.core.errors import UserError

    logging.getLogger("distributed").setLevel(logging.WARNING)
    with dask.config.set(settings()):
        scheduler = Scheduler(host=host, port=port, dashboard=False, dashboard_address=f"{host}:0")
        try:
            await scheduler
        except RuntimeError as error:
            hint = "another scheduler may run there; name a free one with --port (0 takes any)"
            raise UserError(f"cannot listen on {host}:{port}: {error.__cause__}", field="--port", hint=hint) from None
        try:
            click.echo(scheduler.address)
            await scheduler.finished()
        finally:
            await scheduler.close()
