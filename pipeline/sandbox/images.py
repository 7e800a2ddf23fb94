"""The protocol of what a sandbox keeps on its disk: images in layers, agents' tools, and who uses them.

An image has two layers (dependencies, sources), named by digests of their contents. Anything can be removed and is made
again when needed. Data directories that refer to images are known here, since one sandbox may serve several of them, of
several people.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pipeline.sandbox.installation import Installation


class Machine(NamedTuple):
    """Where commands run: its processors, bytes of memory, and bytes that are free on the disk of the layers."""

    processors: int
    memory: int
    free: int


class Identity(NamedTuple):
    """What really ran, as it stands in records: the sandbox, the architecture (`amd64`, `arm64`), the base image's id.

    `base_image` is empty where there is none.
    """

    sandbox: str
    architecture: str
    base_image: str


class Installed(NamedTuple):
    """What a layer of dependencies was made with: the exact Node, the tools as `name@version` (the manager last), the
    base image's id, deviations from what was asked for (a Node of another version, ...), and the browser as
    `name@version`, empty for none."""

    node: str
    tools: tuple[str, ...]
    base_image: str = ""
    deviations: tuple[str, ...] = ()
    browser: str = ""


#: what something kept is
Kind = Literal["tools", "environment", "instance", "cache", "container", "leftover"]


class Kept(NamedTuple):
    """Something that a sandbox keeps on its disk: `size` are the bytes of its own, without those of what it stands on.

    `digest` is an environment's or an instance's, `on` the name of what it stands on, `created` are seconds since the
    epoch. What is `busy` is in use by somebody.
    """

    kind: Kind
    name: str
    digest: str
    size: int
    on: str = ""
    created: float = 0
    busy: bool = False


class Kit(NamedTuple):
    """An agent's own files with their digest, and the script (sh, as root, in their folder) that adds what it needs."""

    files: Path
    digest: str
    script: str


class Directory(NamedTuple):
    """A data directory that refers to images, on the host that it is known from."""

    host: str
    path: str

    @classmethod
    def here(cls, path: Path) -> Directory:
        """One of this host."""
        return cls(socket.gethostname(), str(path.absolute()))

    @property
    def is_here(self) -> bool:
        """Whether it is one of this host: what is on others cannot be seen."""
        return self.host == socket.gethostname()

    @property
    def is_gone(self) -> bool:
        """Whether it was on this host and is no more."""
        return self.is_here and not os.path.lexists(self.path)

    def __str__(self) -> str:
        return self.path if self.is_here else f"{self.host}:{self.path}"


class Images(Protocol):
    """Makes layers and keeps them. Raises InfrastructureError, in every method, where the machine fails."""

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> Installed:
        """Make the layer of dependencies, once per `digest`, from a folder that holds the manifests and lock files.

        `say` takes progress lines. Returns what it was made with, which it remembers. Raises InstallFailed or
        InfrastructureError.
        """

    def instance(self, environment: str, digest: str, checkout: Path) -> None:
        """Make the layer of sources on the environment's: `checkout` holds one commit, no history, no patch."""

    def has(self, digest: str) -> bool:
        """Whether the instance's image is there."""

    def tools(self, kit: Kit, say: Callable[[str], None]) -> Path:
        """Make an agent's tools, once, for `open`. Raises UserError when its script fails, or where none can work."""

    def machine(self) -> Machine:
        """What there is to share among all who work here."""

    def identity(self) -> Identity:
        """What runs here."""

    def kept(self) -> list[Kept]:
        """All that is on the disk beside open workspaces and what they start from; no byte is counted twice."""

    def remove(self, kept: Kept) -> bool:
        """Remove one; False when somebody uses it. What stands on it must be gone. It is made again when asked for."""

    def serve(self, directory: Directory) -> None:
        """Know from now on that a data directory refers to what is kept here."""

    def served(self) -> list[Directory]:
        """The data directories that were served and not forgotten."""

    def forget(self, directory: Directory) -> None:
        """Serve it no more."""
