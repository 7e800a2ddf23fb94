"""Benchmark of the way between machines: an engine behind ssh, and images through a registry.

`just bench wire [--data DIR --repo ORG/REPO ...] [--json FILE]`. Needs an engine with the base image, OpenSSH's server,
and for the images of a dataset Debian's `docker-registry`, which starts empty. Both servers listen on the loopback: a
real network adds its own time. Writes a temporary folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch

import click
from layer_registry import Gate, LayerRegistry
from ssh_double import Server

from benchmarks.goals import Figure, report
from pipeline.build.share import Shared, share
from pipeline.core.cache import cache_root
from pipeline.core.console import say
from pipeline.core.dataset import built, read_dataset
from pipeline.core.names import Repo, parse_repo
from pipeline.core.store import Store
from pipeline.sandbox import open_sandbox
from pipeline.sandbox.base import DEFAULT
from pipeline.sandbox.docker.engine import Engine, put
from pipeline.sandbox.docker.names import base_image
from pipeline.sandbox.docker.tar import of_entries
from pipeline.sandbox.images import Directory

#: containers, and copies of that many bytes, for each connection
CONTAINERS, COPIES, SIZE = 8, 3, 50_000_000
MB = 1e6


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="A data directory with built datasets.")
@click.option("--repo", "repos", multiple=True, help="Only this dataset (several times).")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here too.")
def main(data: Path | None, repos: Sequence[str], path: Path | None) -> None:
    """Measure calls to an engine over its socket and over ssh, and the sizes of the images of datasets."""
    with TemporaryDirectory(prefix="a11y-bench-wire-") as folder:
        figures = list(_calls(Path(folder)))
        if data:
            figures += _images(Path(folder), Store(data), [parse_repo(repo) for repo in repos])
    report("Between machines", figures, path)


# -- an engine behind ssh ---------------------------------------------------------------------------------------------
def _calls(folder: Path) -> Iterator[Figure]:
    """The same calls both ways, in turns, so that other load affects both."""
    socket, archive = Engine(), of_entries({"random": os.urandom(SIZE)})
    calls = (
        ("a command in a new container", _command, CONTAINERS),
        (f"{SIZE / MB:.0f} MB, copied into a container", partial(_copy, archive=archive), COPIES),
    )
    with Server(folder) as server, patch.dict(os.environ, _led_to(server)):
        ways = {"over the socket": socket, "over ssh": Engine()}
        for what, call, times in calls:
            turns = [{way: call(engine) for way, engine in ways.items()} for _ in range(times)]
            for way in ways:
                yield Figure(f"{what}, {way}", median(turn[way] for turn in turns), "s")


def _led_to(server: Server) -> dict[str, str]:
    return {"DOCKER_HOST": server.address, "PATH": f"{server.folder}{os.pathsep}{os.environ['PATH']}"}


def _command(engine: Engine) -> float:
    started = time.monotonic()
    engine.probe("true")
    return time.monotonic() - started


def _copy(engine: Engine, archive: bytes) -> float:
    with engine.container(base_image(), "benchmark", DEFAULT) as container:
        started = time.monotonic()
        put(container, "/tmp", archive)
        return time.monotonic() - started


# -- images -----------------------------------------------------------------------------------------------------------
def _images(folder: Path, store: Store, repos: Sequence[Repo]) -> Iterator[Figure]:
    """Push the images of each instance after those of the previous one."""
    sandbox = open_sandbox("docker", cache_root())
    sandbox.images.serve(Directory.here(store.root))
    with LayerRegistry(folder) as server, Gate(server) as gate:
        for repo in built(store, repos):
            for instance in read_dataset(store, repo):
                before, started = gate.passed, time.monotonic()
                images = share(sandbox, [instance], gate.host, "push", say)
                seconds, passed = time.monotonic() - started, gate.passed - before
                yield from _of_images(f"{repo} #{instance.number}", images)
                yield Figure(f"{repo} #{instance.number}, counted on the connection", passed / MB, "MB")
                yield Figure(f"{repo} #{instance.number}, time", seconds, "s")


def _of_images(name: str, images: Sequence[Shared]) -> Iterator[Figure]:
    for image in images:
        if image.state == "pushed":
            yield Figure(f"{name}, {image.kind}, on the wire", (image.wire_bytes or 0) / MB, "MB")
            yield Figure(f"{name}, {image.kind}, on disk", (image.disk_bytes or 0) / MB, "MB")


if __name__ == "__main__":
    main()
