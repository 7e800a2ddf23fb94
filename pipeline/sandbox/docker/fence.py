"""The network of an install: the package registry, and the hosts that the lock files name; nothing else is reached.

An install runs untrusted code. Its container has no network: names of hosts that it may reach lead to addresses of its
own loopback, from which a relay carries connections (reach.py) to that host, on the port of its protocol. So no manager
has to know of a proxy, and certificates hold. Any other name is not found. A host that a repository chose has to have a
public address: a name that leads to this machine or its network is refused here. Reads A11Y_BENCH_INSTALL_HOSTS. Does
not cover installs of agents' tools and of the browser, whose scripts are not a repository's.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from docker.models.containers import Container

from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.commands import read
from pipeline.sandbox.docker.engine import put
from pipeline.sandbox.docker.reach import LOOPBACK, PORTS, carried, way_to
from pipeline.sandbox.docker.relay import Address, connect

#: more hosts that installs may reach, apart by blanks: HOST, or HOST:PORT
MORE = "A11Y_BENCH_INSTALL_HOSTS"
#: registries that lock files name whatever registry is asked, and what a git host's archives come from
PUBLIC = ("registry.npmjs.org", "registry.yarnpkg.com")
BESIDE = {"github.com": ("codeload.github.com",)}
#: what names a source of packages in lock files and settings of managers: other addresses in them are for people
_SOURCE = re.compile(
    r"(?:resolved|version|from|resolution|tarball|repo|specifier|registry|npmRegistryServer)[\"']?[:=\s]+[^\n\s]*?"
    r"(?:https?|git(?:\+\w+)?|ssh)://(?:[^/\s\"'@]*@)?([a-z\d-]+(?:\.[a-z\d-]+)+)(?=[:/])",
    re.IGNORECASE,
)
#: short forms of git hosts
_SHORT = re.compile(r"[\"'@:\s](github|gitlab|bitbucket):[\w.-]+/[\w.-]+")
_SHORTS = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
#: the fields of a package.json whose values say where packages are from
_DEPENDENCIES = (
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "resolutions",
    "overrides",
)
#: hosts that one install may name: every one has an address of its own
MOST = 200
#: where programs in a container look names up, and that there is nobody to ask
LOOK_UP, NOBODY = "/etc/nsswitch.conf", b"hosts: files\npasswd: files\ngroup: files\n"


class Ways(NamedTuple):
    """The registry's address as the container is told it, hosts with their addresses there, connections that are
    carried, and whom the machine chose itself."""

    registry: str
    hosts: dict[str, str]
    carried: dict[Address, Address]
    chosen: frozenset[str]


def ways(
    registry: str, files: Mapping[str, bytes], more: str | None = None, reaches: Callable[[str], bool] = lambda _: True
) -> Ways:
    """The ways out of an install with these manifests and lock files, by path. A registry without a name is told as
    the container's own loopback. What this machine does not reach is a name that is not found there either: a manager
    says so at once, where it would try a connection that breaks again and again."""
    way = way_to(registry)
    given = os.environ.get(MORE, "") if more is None else more
    own = [way.address, *(_address(f"https://{one}") for one in given.split())]
    others = {host for host, _ in own}
    public = [(host, PORTS["https"]) for host in PUBLIC if host in others or reaches(host)]
    chosen = [*own, *public]
    trusted = list(dict.fromkeys(host for host, _ in chosen))
    named = [host for host in _named(files) if host not in {*trusted, *PUBLIC} and reaches(host)]
    names = [host for host in (*trusted, *named) if way.hosts or host != way.address[0]]
    hosts = {host: f"127.9.{number // 250}.{number % 250 + 1}" for number, host in enumerate(names[:MOST])}
    ends = [*dict.fromkeys(chosen), *((host, port) for host in named for port in PORTS.values())]
    led = {(hosts[host], port): (host, port) for host, port in ends if host in hosts}
    if not way.hosts:
        led |= {(LOOPBACK, way.address[1]): way.address}
    return Ways(way.url, hosts, led, frozenset(trusted))


def _address(url: str) -> Address:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or PORTS[parts.scheme]


def _named(files: Mapping[str, bytes]) -> list[str]:
    """The hosts that manifests and lock files name as sources of packages, in their order."""
    found: dict[str, None] = {}
    for path, data in files.items():
        text = data.decode(errors="replace")
        if PurePosixPath(path).name == "package.json":
            text = _dependencies(text)
        for host in (*map(str.lower, _SOURCE.findall(text)), *(_SHORTS[name] for name in _SHORT.findall(text))):
            found |= dict.fromkeys((host, *BESIDE.get(host, ())))
    return list(found)


def _dependencies(manifest: str) -> str:
    """What a package.json says of where packages are from, in the form of a lock file."""
    try:
        said = json.loads(manifest)
        asked = [said.get(field) for field in _DEPENDENCIES]
    except (ValueError, AttributeError, RecursionError):
        return ""
    values = [value for one in asked if isinstance(one, dict) for value in one.values() if isinstance(value, str)]
    return "\n".join(f'resolved "{value}"' for value in values)


@contextmanager
def fenced(container: Container, out: Ways, folder: str) -> Iterator[None]:
    """Give a container of the image of Node these ways out, as long as the block; `folder` takes the relay's end.

    The container was made with `out.hosts`, and without network.
    """
    before = read(container, LOOK_UP, 2**16)
    put(container, "/etc", tar.of_entries({Path(LOOK_UP).name: NOBODY}, tar.ROOT))
    try:
        with carried(container, out.carried, lambda address: _connect(address, out.chosen), folder):
            yield
    finally:
        if before is not None:
            put(container, "/etc", tar.of_entries({Path(LOOK_UP).name: before}, tar.ROOT))


def _connect(address: Address, chosen: Collection[str]) -> socket.socket:
    """A connection. Raises OSError for a host that a repository chose and that is none of the public network."""
    host, port = address
    if host in chosen:
        return connect(address)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    places = [(str(place[0]), port) for *_, place in found]
    if not places or not all(ipaddress.ip_address(place).is_global for place, _ in places):
        raise OSError(f"{host} is no host of the public network")
    return connect(places[0])


@cache
def reaches(host: str) -> bool:
    """Whether this machine reaches a host that lock files name; asked once in a process."""
    for port in reversed(PORTS.values()):
        with suppress(OSError):
            _connect((host, port), PUBLIC).close()
            return True
    return False


def manifests_in(folder: Path) -> Mapping[str, bytes]:
    """What an install is given: path -> content."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
