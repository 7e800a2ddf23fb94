"""The protocol of what a sandbox keeps on its disk: images in layers, agents' tools, and the data that uses them.

An image has two layers (dependencies, sources), named by digests of their contents. Anything can be removed and is made
again when needed. Data directories that refer to images are recorded, since one sandbox may serve several directories
of several people.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pipeline.sandbox.installation import Installation


class Machine(NamedTuple):
    """The machine that runs commands: processors, bytes of memory, and free bytes on the disk of the layers."""

    processors: int
    memory: int
    free: int


class Identity(NamedTuple):
    """What really runs, for records: the sandbox, the architecture (`amd64`, `arm64`), the base image's id.

    `base_image` is empty if there is none.
    """

    sandbox: str
    architecture: str
    base_image: str


class Installed(NamedTuple):
    """What a layer of dependencies was made with: the exact Node, the tools as `name@version` (the manager last), the
    base image's id, deviations from the request (such as another version of Node), and the browser as `name@version`,
    empty for none."""

    node: str
    tools: tuple[str, ...]
    base_image: str = ""
    deviations: tuple[str, ...] = ()
    browser: str = ""


#: kinds of kept objects
Kind = Literal["tools", "environment", "instance", "cache", "container", "leftover"]


class Kept(NamedTuple):
    """Something that a sandbox keeps on its disk. `size` are its own bytes, without those of the layer below.

    `digest` is an environment's or an instance's, `on` the name of the layer below, `created` are seconds since the
    epoch. `busy` is true while it is in use.
    """

    kind: Kind
    name: str
    digest: str
    size: int
    on: str = ""
    created: float = 0
    busy: bool = False


#: kinds of images that a registry can hold
Layer = Literal["environment", "instance"]


class Transfer(NamedTuple):
    """What became of an image that was sent to a registry or fetched. `moved` is False if it was there already.

    `wire` are the compressed bytes that travelled: the missing layers with the image's description. None if the
    registry does not tell this machine their sizes.
    """

    moved: bool
    wire: int | None = 0


class Kit(NamedTuple):
    """An agent's own files with their digest, and the install script (sh, run as root in their folder)."""

    files: Path
    digest: str
    script: str


class Directory(NamedTuple):
    """A data directory that refers to images, and its host."""

    host: str
    path: str

    @classmethod
    def here(cls, path: Path) -> Directory:
        """A data directory of this host."""
        return cls(socket.gethostname(), str(path.absolute()))

    @property
    def is_here(self) -> bool:
        """Whether it is on this host: directories on other hosts cannot be seen."""
        return self.host == socket.gethostname()

    @property
    def is_gone(self) -> bool:
        """Whether it was on this host and no longer exists."""
        return self.is_here and not os.path.lexists(self.path)

    def __str__(self) -> str:
        return self.path if self.is_here else f"{self.host}:{self.path}"


class Images(Protocol):
    """Makes layers and keeps them. Every method raises InfrastructureError if the machine fails."""

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> Installed:
        """Make the layer of dependencies, once per `digest`, from a folder with the manifests and lock files.

        `say` takes progress lines. Returns what it was made with, also if it exists already. Raises InstallFailed or
        InfrastructureError.
        """

    def instance(self, environment: str, digest: str, checkout: Path, *, generated: bool = False) -> None:
        """Make the layer of sources on the environment's: `checkout` has one commit, without history or patch.

        With `generated`, it also has files that were made from the sources, and must stay newer than they are.
        """

    def has(self, digest: str) -> bool:
        """Whether the instance's image exists."""

    def push(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        """Send an image to a registry, without the layers that it has; None if the image is not here.

        Raises UserError, with what to do, if the registry cannot be used or images cannot be shared.
        """

    def pull(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        """Fetch an image from a registry, without the layers that are here; None if the registry does not have it.

        Raises UserError, with what to do, if the registry cannot be used or images cannot be shared.
        """

    def tools(self, kit: Kit, say: Callable[[str], None]) -> Path:
        """Make an agent's tools, once, for `open`. Raises UserError if its script fails or tools cannot work here."""

    def machine(self) -> Machine:
        """The machine that all workspaces share."""

    def identity(self) -> Identity:
        """What runs commands here."""

    def kept(self) -> list[Kept]:
        """Everything on the disk, except open workspaces and the base image; no byte is counted twice."""

    def remove(self, kept: Kept) -> bool:
        """Remove a kept object; False if it is in use. Layers on top of it must be removed first. It is made again when
        needed."""

    def serve(self, directory: Directory) -> None:
        """Record that a data directory refers to what is kept here."""

    def served(self) -> list[Directory]:
        """The data directories that were served and not forgotten."""

    def forget(self, directory: Directory) -> None:
        """Forget that a data directory refers to what is kept here."""
