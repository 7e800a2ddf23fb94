"""Properties of a Docker engine and of its containers: each is a line, and whether that is enough.

Asks the engine, and otherwise looks in a short-lived container of the base image. Raises InfrastructureError if no
engine answers. Changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from pipeline.sandbox.docker.engine import OPEN_FILES, Engine
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.names import base_image

#: free bytes below which an engine's disk is low: a few environments, and what tests may write
ROOM = 20 * 2**30

#: storage drivers that copy every layer instead of sharing it
COPYING = ("vfs",)


class Fact(NamedTuple):
    text: str
    enough: bool = True


def version(engine: Engine) -> Fact:
    info = engine.info
    return Fact(f"engine {info['ServerVersion']}: {info['NCPU']} CPUs, {_gb(info['MemTotal'])} of memory")


def base(engine: Engine) -> Fact | None:
    size = engine.size(base_image())
    return Fact(f"{base_image()} ({size / 10**6:.0f} MB)") if size else None


def storage(engine: Engine) -> Fact:
    driver = engine.info["Driver"]
    return Fact(driver, driver not in COPYING)


@faults()
def disk(engine: Engine) -> Fact:
    """The file system of the engine's layers, as a container sees it, since the engine may be on another machine."""
    free = engine.machine().free
    return Fact(f"{_gb(free)} free in {engine.info['DockerRootDir']}", free >= ROOM)


def open_files(engine: Engine) -> Fact:
    limit = engine.open_files
    return Fact(f"{limit} for a process", limit >= OPEN_FILES)


def builder(engine: Engine) -> Fact:
    return Fact(f"{engine.builder}; not used: images are made from containers")


def _gb(size: int) -> str:
    return f"{size / 2**30:.0f} GB"
