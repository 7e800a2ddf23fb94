"""The only way out of a container without network: a relay carries what reaches its loopback to one address."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from docker.models.containers import Container

from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.engine import put
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.relay import SCRIPT, Address, Relay
from pipeline.sandbox.docker.stream import Attached

#: where the container's end of the relay lies
FOLDER = "/opt"
LOOPBACK = "127.0.0.1"
PORTS = {"http": 80, "https": 443}


class Way(NamedTuple):
    """The only way out of a container: to `address`, which its commands know as `url`; `hosts` are names there."""

    address: Address
    url: str
    hosts: dict[str, str]


def way_to(url: str) -> Way:
    """The way to an address, which keeps its name: a certificate holds for a name. Numbers become the loopback's."""
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
    """Carry the container's connections to the port of `address`, as long as the block."""
    end = _other_end(container, address[1])
    try:
        Relay(end.send, iter(end), address).open()
        yield
    finally:
        end.close()


@faults()
def _other_end(container: Container, port: int) -> Attached:
    """The container's end, as a user whom no command of the agent may touch."""
    put(container, FOLDER, tar.of_entries({SCRIPT.name: SCRIPT.read_bytes()}, tar.ROOT))
    return Attached(container, ["node", f"{FOLDER}/{SCRIPT.name}", str(port)], user="root")
