"""The only connection of a container without network: a relay forwards its loopback to one address."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from docker.models.containers import Container

from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.engine import put
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.relay import SCRIPT, Address, Connect, Relay, connect
from pipeline.sandbox.docker.stream import Attached

#: the folder of the container's end of the relay
FOLDER = "/opt"
LOOPBACK = "127.0.0.1"
PORTS = {"http": 80, "https": 443}


class Way(NamedTuple):
    """A container's only connection: to `address`, which its commands know as `url`. `hosts` are names in the
    container."""

    address: Address
    url: str
    hosts: dict[str, str]


def way_to(url: str) -> Way:
    """The connection to an address. A host name stays, so its certificate is valid; an IP address becomes the
    loopback's."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    if host == "localhost" or _is_number(host):
        return Way((host, port), parts._replace(netloc=f"{LOOPBACK}:{port}").geturl(), {})
    return Way((host, port), url, {host: LOOPBACK})


def _is_number(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


@contextmanager
def relayed(container: Container, address: Address) -> Iterator[None]:
    """Forward the container's connections to the port of `address`, for the duration of the block."""
    with carried(container, {(LOOPBACK, address[1]): address}):
        yield


@contextmanager
def carried(
    container: Container, ways: Mapping[Address, Address], connect: Connect = connect, folder: str = FOLDER
) -> Iterator[None]:
    """Forward connections to addresses in the container to the addresses that they stand for, for the duration of the
    block.

    The container's end is a script in `folder`.
    """
    end = _other_end(container, [f"{host}:{port}" for host, port in ways], folder)
    try:
        Relay(end.send, iter(end), list(ways.values()), connect).open()
        yield
    finally:
        end.close()


@faults()
def _other_end(container: Container, own: list[str], folder: str) -> Attached:
    """Start the container's end, as a user whose processes the agent's commands cannot touch."""
    put(container, folder, tar.of_entries({SCRIPT.name: SCRIPT.read_bytes()}, tar.ROOT))
    return Attached(container, ["node", f"{folder}/{SCRIPT.name}", *own], user="root")
