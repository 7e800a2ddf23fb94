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


class Route(NamedTuple):
    """A container's only connection: to `address`, which its commands know as `url`. `hosts` are names in the
    container."""

    address: Address
    url: str
    hosts: dict[str, str]


def route_to(url: str) -> Route:
    """The connection to an address. A host name stays, so its certificate is valid; an IP address becomes the
    loopback's."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    if host == "localhost" or _is_number(host):
        return Route((host, port), parts._replace(netloc=f"{LOOPBACK}:{port}").geturl(), {})
    return Route((host, port), url, {host: LOOPBACK})


def _is_number(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


@contextmanager
def relayed(container: Container, address: Address) -> Iterator[None]:
    """Forward the container's connections to the port of `address`, for the duration of the block."""
    with forward(container, {(LOOPBACK, address[1]): address}):
        yield


@contextmanager
def forward(
    container: Container, addresses: Mapping[Address, Address], connect: Connect = connect, folder: str = FOLDER
) -> Iterator[None]:
    """Forward connections to addresses in the container to the addresses that they stand for, for the duration of the
    block.

    The container's end is a script in `folder`.
    """
    relay = _start_relay(container, [f"{host}:{port}" for host, port in addresses], folder)
    try:
        Relay(relay.send, iter(relay), list(addresses.values()), connect).open()
        yield
    finally:
        relay.close()


@faults()
def _start_relay(container: Container, addresses: list[str], folder: str) -> Attached:
    """Start the container's end, as a user whose processes the agent's commands cannot touch."""
    put(container, folder, tar.of_entries({SCRIPT.name: SCRIPT.read_bytes()}, tar.ROOT))
    return Attached(container, ["node", f"{folder}/{SCRIPT.name}", *addresses], user="root")
