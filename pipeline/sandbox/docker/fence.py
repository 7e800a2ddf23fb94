"""The network of an install: the package registry and the hosts that lock files name; nothing else can be reached.

An install runs untrusted code. Its container has no network. The names of hosts that it may reach resolve to addresses
of its own loopback, from which a relay (reach.py) forwards connections to that host, on the port of its protocol.
Package managers need no proxy settings, and certificates stay valid. Any other name is not found. A host that a
repository chose must have a public address: a name that resolves to this machine or its network is refused. Reads
A11Y_BENCH_INSTALL_HOSTS. Does not cover installs of agents' tools and of the browser, whose scripts do not come from a
repository.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from docker.models.containers import Container

from pipeline.core.errors import UserError
from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.commands import read
from pipeline.sandbox.docker.engine import put
from pipeline.sandbox.docker.reach import LOOPBACK, PORTS, forward, route_to
from pipeline.sandbox.docker.relay import Address, connect

#: further hosts that installs may reach, separated by spaces: HOST or HOST:PORT
MORE = "A11Y_BENCH_INSTALL_HOSTS"
_MORE = re.compile(r"(?:\[(?P<v6>[\da-f:]+)\]|(?P<host>[a-z\d][a-z\d._-]*))(?::(?P<port>\d{1,5}))?", re.IGNORECASE)
#: registries that lock files name even if another is used, and the host of a git host's archives
PUBLIC = ("registry.npmjs.org", "registry.yarnpkg.com")
BESIDE = {"github.com": ("codeload.github.com",)}
#: sources of packages in lock files and package managers' settings; other addresses in them are for people
_SOURCE = re.compile(
    r"(?:resolved|version|from|resolution|tarball|repo|specifier|registry|npmRegistryServer)[\"']?[:=\s]+[^\n\s]*?"
    r"(?:https?|git(?:\+\w+)?|ssh)://(?:[^/\s\"'@]*@)?([a-z\d-]+(?:\.[a-z\d-]+)+)(?=[:/\s\"']|$)",
    re.IGNORECASE,
)
#: short forms of git hosts
_SHORT = re.compile(r"[\"'@:\s](github|gitlab|bitbucket):[\w.-]+/[\w.-]+")
_SHORTS = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
#: the fields of a package.json with sources of packages
_DEPENDENCIES = (
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "resolutions",
    "overrides",
)
#: the most hosts that one install may name; each gets its own loopback address. So many are tried at once
MOST, _TRIED_AT_ONCE = 200, 32
#: the network through which IPv6 reaches addresses of IPv4
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
#: the container's name resolution: the hosts file, and no name server
LOOK_UP, NOBODY = "/etc/nsswitch.conf", b"hosts: files\npasswd: files\ngroup: files\n"


class Routes(NamedTuple):
    """The connections of an install: the registry's address in the container, hosts with their addresses there, the
    connections that are forwarded, and the hosts that this machine chose."""

    registry: str
    hosts: dict[str, str]
    forwarded: dict[Address, Address]
    chosen: frozenset[str]


def routes(
    registry: str, files: Mapping[str, bytes], extra: str | None = None, reaches: Callable[[str], bool] = lambda _: True
) -> Routes:
    """The connections of an install with these manifests and lock files (path -> content). A registry given by IP
    address appears as the container's loopback. Hosts that this machine cannot reach are not found in the container
    either: package managers then fail at once instead of retrying."""
    route = route_to(registry)
    own = [route.address, *configured(extra)]
    own_hosts = {host for host, _ in own}
    public = [(host, PORTS["https"]) for host in PUBLIC if host in own_hosts or reaches(host)]
    chosen = [*own, *public]
    trusted = list(dict.fromkeys(host for host, _ in chosen))
    named = [host for host in _source_hosts(files) if host not in {*trusted, *PUBLIC}][:MOST]
    with ThreadPoolExecutor(_TRIED_AT_ONCE) as pool:
        repository_hosts = [host for host, is_there in zip(named, pool.map(reaches, named), strict=True) if is_there]
    names = [host for host in (*trusted, *repository_hosts) if route.hosts or host != route.address[0]]
    hosts = {host: f"127.9.{number // 250}.{number % 250 + 1}" for number, host in enumerate(names[:MOST])}
    ends = [*dict.fromkeys(chosen), *((host, port) for host in repository_hosts for port in PORTS.values())]
    forwarded = {(hosts[host], port): (host, port) for host, port in ends if host in hosts}
    if not route.hosts:
        forwarded |= {(LOOPBACK, route.address[1]): route.address}
    return Routes(route.url, hosts, forwarded, frozenset(trusted))


def configured(words: str | None = None) -> list[Address]:
    """The further hosts that this machine's configuration names, by default in A11Y_BENCH_INSTALL_HOSTS. Raises
    UserError for what is no host."""
    return [_address(word) for word in (os.environ.get(MORE, "") if words is None else words).split()]


def _address(word: str) -> Address:
    match = _MORE.fullmatch(word)
    port = int(match["port"] or PORTS["https"]) if match else 0
    if not match or not 0 < port < 2**16:
        raise UserError(f"{MORE} has '{word}', which is no host", hint="write HOST or HOST:PORT, separated by spaces")
    return (match["v6"] or match["host"]).lower(), port


def _source_hosts(files: Mapping[str, bytes]) -> list[str]:
    """The hosts that manifests and lock files name as sources of packages, in order."""
    hosts: dict[str, None] = {}
    for path, data in files.items():
        text = data.decode(errors="replace")
        if PurePosixPath(path).name == "package.json":
            text = _dependencies(text)
        for host in (*map(str.lower, _SOURCE.findall(text)), *(_SHORTS[name] for name in _SHORT.findall(text))):
            hosts |= dict.fromkeys((host, *BESIDE.get(host, ())))
    return list(hosts)


def _dependencies(manifest: str) -> str:
    """The sources of packages in a package.json, in the form of a lock file."""
    try:
        manifest_data = json.loads(manifest)
        tables = [manifest_data.get(field) for field in _DEPENDENCIES]
    except (ValueError, AttributeError, RecursionError):
        return ""
    values = (value for table in tables if isinstance(table, dict) for value in table.values())
    return "\n".join(f'resolved "{value}"' for value in values if isinstance(value, str))


@contextmanager
def fenced(container: Container, allowed: Routes, folder: str) -> Iterator[None]:
    """Give a container of the Node image these connections for the duration of the block; `folder` receives the relay's
    end.

    The container must have been created with `allowed.hosts`, and without network.
    """
    before = read(container, LOOK_UP, 2**16)
    put(container, "/etc", tar.of_entries({Path(LOOK_UP).name: NOBODY}, tar.ROOT))
    try:
        with forward(container, allowed.forwarded, lambda address: _connect(address, allowed.chosen), folder):
            yield
    finally:
        if before is not None:
            put(container, "/etc", tar.of_entries({Path(LOOK_UP).name: before}, tar.ROOT))


def _connect(address: Address, chosen: Collection[str]) -> socket.socket:
    """Connect to a host. Raises OSError for a host that a repository chose and that has no public address."""
    host, port = address
    if host in chosen:
        return connect(address)
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [(str(sockaddr[0]), port) for *_, sockaddr in answers]
    if not addresses or not all(_is_elsewhere(ip) for ip, _ in addresses):
        raise OSError(f"{host} has no public address, or this machine's own")
    return connect(addresses[0])


def _is_elsewhere(ip: str) -> bool:
    """Whether an address is public, also the IPv4 address that it may contain, and not this machine's own."""
    address = ipaddress.ip_address(ip.partition("%")[0])
    if not address.is_global or address.is_multicast or _is_own(ip):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    inner += [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)] if address in _NAT64 else []
    return not address.is_site_local and all(_is_elsewhere(str(part)) for part in inner if part)


def _is_own(ip: str) -> bool:
    """Whether packets to an address leave from the same address; nothing is sent."""
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect((ip, PORTS["https"]))
        return str(probe.getsockname()[0]) == ip
    return False


@cache
def reaches(host: str) -> bool:
    """Whether this machine can reach a host that lock files name; tried once per process."""
    for port in reversed(PORTS.values()):
        with suppress(OSError):
            _connect((host, port), PUBLIC).close()
            return True
    return False


def manifests_in(folder: Path) -> Mapping[str, bytes]:
    """The files that an install gets: path -> content."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
