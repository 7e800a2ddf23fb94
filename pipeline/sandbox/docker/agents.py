"""Containers in which agents work: an instance's image, the agent's own tools, and no way out but to one address.

A container has no network; a relay carries the connections to its own loopback (relay.py). Tools are made once in a
container of the base image, which has the network, kept as an archive in the cache folder, and put into each container
as they are, owned by root. The runner's cache is left out: the tests of later code may have filled it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple
from urllib.parse import urlsplit

from docker.models.containers import Container

from pipeline.core.cache import once
from pipeline.core.errors import UserError
from pipeline.core.store import digest
from pipeline.sandbox import install, node
from pipeline.sandbox.base import COMMON, Limits
from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.commands import execute, fetch
from pipeline.sandbox.docker.engine import put, start
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.names import base_image
from pipeline.sandbox.docker.relay import SCRIPT, Address, Relay
from pipeline.sandbox.docker.sandbox import DockerSandbox
from pipeline.sandbox.docker.stream import Attached
from pipeline.sandbox.docker.workspace import DockerWorkspace
from pipeline.sandbox.progress import telling

#: where an agent's own files and tools lie in every container
TOOLS = "/opt/agent"
PARENT = "/opt"
LOOPBACK = "127.0.0.1"
PORTS = {"http": 80, "https": 443}
#: what an install may do: all that root may in a container, or no package could be installed
INSTALLING = {"network_mode": "bridge", "user": "root", "cap_drop": [], "security_opt": []}


class Kit(NamedTuple):
    """An agent's own files with their digest, and the script (sh, as root, in their folder) that adds what it needs."""

    files: Path
    digest: str
    script: str


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


class AgentWorkspace(DockerWorkspace):
    """A workspace with the agent's tools in TOOLS; `url` is where it reaches the model."""

    def __init__(self, container: Container, limits: Limits, url: str) -> None:
        super().__init__(container, limits)
        self.url = url

    def fetch(self, folder: str, target: Path) -> None:
        """Copy the regular files of a folder to the host, up to the limit on output."""
        with TemporaryFile() as archive:
            fetch(self._container, folder, archive, self._limits.output)
            archive.seek(0)
            tar.extract_files(archive, target)


class DockerAgents(DockerSandbox):
    """The docker sandbox, with room for agents."""

    def tools(self, kit: Kit, say: Callable[[str], None]) -> Path:
        """The archive of TOOLS, made unless it is there. Raises UserError when the script fails."""
        base = self._engine.image(base_image())
        name = digest(base.id if base else "", kit.digest, kit.script)
        folder = self.cache / "agents" / name
        once(folder, lambda made: self._install(kit, made / "tools.tar", say))
        return folder / "tools.tar"

    def _install(self, kit: Kit, archive: Path, say: Callable[[str], None]) -> None:
        with self._engine.container(base_image(), "build", install.LIMITS, **INSTALLING) as container:
            start(container)
            put(container, PARENT, tar.of_folder(kit.files, Path(TOOLS).name, tar.ROOT))
            if kit.script:
                with telling(say, "installing the agent"):
                    _run(container, kit.script)
            with archive.open("wb") as file:
                fetch(container, TOOLS, file)

    @contextmanager
    def room(self, image: str, tools: Path, url: str, limits: Limits) -> Iterator[AgentWorkspace]:
        """A fresh workspace of an instance's image for one agent, which reaches `url` and nothing else."""
        way = way_to(url)
        with self._started(image, limits, extra_hosts=way.hosts) as container:
            with tools.open("rb") as archive:
                put(container, PARENT, archive)
            with _relayed(container, way.address):
                yield AgentWorkspace(container, limits, way.url)


def _run(container: Container, script: str) -> None:
    """Run an agent's install script, with this host's registries and CA bundle."""
    ca, scratch = install.host_ca(), "/tmp/a11y-install"
    files = {"a11y-install": None, "a11y-install/install.sh": script.encode()}
    put(container, "/tmp", tar.of_entries(files | ({"a11y-install/ca.crt": ca.read_bytes()} if ca else {}), tar.ROOT))
    trust = dict.fromkeys(install.TRUST, f"{scratch}/ca.crt") if ca else {}
    env = {**COMMON, "DEBIAN_FRONTEND": "noninteractive", "npm_config_registry": node.registry(), **trust}
    command = ["sh", "-eu", f"{scratch}/install.sh"]
    done = execute(container, command, folder=TOOLS, env=env, limits=install.LIMITS, user="root")
    if done.code:
        said = install.mask(done.output.decode(errors="replace"))[-2000:]
        raise UserError(f"the agent's install script ended with {done.code}:\n{said}", field="install")


@contextmanager
def _relayed(container: Container, address: Address) -> Iterator[None]:
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
    put(container, PARENT, tar.of_entries({SCRIPT.name: SCRIPT.read_bytes()}, tar.ROOT))
    return Attached(container, ["node", f"{PARENT}/{SCRIPT.name}", str(port)], user="root")
