"""ScriptedSandbox, for tests of code that uses a sandbox. Nothing runs; a function decides how each command ends.

It writes nothing to disk. `images.environments`, `images.instances` and `commands` record the requests; `opened` are
the images of open workspaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipeline.sandbox.base import DEFAULT, Ability, Cache, Completed, Limits, stopped
from pipeline.sandbox.images import Directory, Identity, Installed, Kept, Kind, Kit, Layer, Machine, Transfer
from pipeline.sandbox.installation import Installation

Files = dict[str, bytes]
Respond = Callable[[tuple[str, ...], Files], Completed]


def succeed(argv: tuple[str, ...], files: Files) -> Completed:
    return Completed(0, b"", 0)


class ScriptedImages:
    """`failures` are raised by environment(), by digest: InstallFailed or InfrastructureError.

    `registries` are shared by all that are given the same: (registry, kind, digest) -> the environment of an instance.
    """

    def __init__(self, opened: list[str], failures: dict[str, Exception] | None = None) -> None:
        self.opened, self.failures = opened, failures or {}
        self.environments: list[str] = []
        self.instances: dict[str, str] = {}
        self.directories: set[Directory] = set()
        self.registries: dict[tuple[str, Layer, str], str] = {}

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> Installed:
        if digest in self.failures:
            raise self.failures[digest]
        if digest not in self.environments:
            say(f"scripted: {' '.join(spec.commands[0])}")
            self.environments.append(digest)
        return Installed(spec.node, tuple(map(str, spec.tools(spec.node, "x64"))))

    def instance(self, environment: str, digest: str, checkout: Path, *, generated: bool = False) -> None:
        self.instances[digest] = environment

    def has(self, digest: str) -> bool:
        return digest in self.instances

    def push(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        """Every image takes ten bytes on the wire."""
        if digest not in (self.environments if kind == "environment" else self.instances):
            return None
        if (registry, kind, digest) in self.registries:
            return Transfer(False)
        self.registries[registry, kind, digest] = self.instances.get(digest, "")
        return Transfer(True, 10)

    def pull(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        if digest in (*self.environments, *self.instances):
            return Transfer(False)
        if (registry, kind, digest) not in self.registries:
            return None
        if kind == "environment":
            self.environments.append(digest)
        else:
            self.instances[digest] = self.registries[registry, kind, digest]
        return Transfer(True, 10)

    def tools(self, kit: Kit, say: Callable[[str], None]) -> Path:
        return kit.files

    def machine(self) -> Machine:
        return Machine(2, 8 * 2**30, 10)

    def identity(self) -> Identity:
        return Identity("scripted", "amd64", "")

    def kept(self) -> list[Kept]:
        """Every layer takes one byte."""
        used = {*self.opened, *(self.instances[digest] for digest in self.opened)}
        layers: list[tuple[Kind, str, str]] = [("environment", digest, "") for digest in self.environments]
        layers += [("instance", digest, environment) for digest, environment in self.instances.items()]
        return [Kept(kind, digest, digest, 1, on, busy=digest in used) for kind, digest, on in layers]

    def remove(self, kept: Kept) -> bool:
        if kept.digest in self.opened:
            return False
        self.instances.pop(kept.digest, None)
        self.environments = [digest for digest in self.environments if digest != kept.digest]
        return True

    def serve(self, directory: Directory) -> None:
        self.directories.add(directory)

    def served(self) -> list[Directory]:
        return sorted(self.directories)

    def forget(self, directory: Directory) -> None:
        self.directories.discard(directory)


class ScriptedSandbox:
    """`respond(argv, files)` ends a command; it may raise, and may write to the workspace's `files` (path -> bytes)."""

    name = "scripted"
    can = frozenset[Ability]({"contain", "reach", "browse", "share"})

    def __init__(self, cache: Path, respond: Respond = succeed, failures: dict[str, Exception] | None = None) -> None:
        self.respond, self.aborted = respond, False
        self.commands: list[tuple[str, ...]] = []
        self.opened: list[str] = []
        self.images = ScriptedImages(self.opened, failures)

    def check(self) -> None:
        """It always works."""

    @contextmanager
    def open(
        self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT, tools: Path | None = None, reach: str = ""
    ) -> Iterator[ScriptedWorkspace]:
        self.opened.append(digest)
        try:
            yield ScriptedWorkspace(self, reach)
        finally:
            self.opened.remove(digest)

    def abort(self) -> None:
        self.aborted = True


class ScriptedWorkspace:
    root, scratch, cache, tools = "/repo", "/scratch", "/cache", "/tools"

    def __init__(self, sandbox: ScriptedSandbox, url: str) -> None:
        self.sandbox, self.files, self.url = sandbox, Files(), url

    def run(
        self,
        argv: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        seconds: float | None = None,
        folder: str = "",
        ours: bool = False,
    ) -> Completed:
        if self.sandbox.aborted:
            raise stopped()
        self.sandbox.commands.append(tuple(argv))
        return self.sandbox.respond(tuple(argv), self.files)

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def outlet(self, name: str) -> None:
        """There is none: reports are read from `files`."""

    def peak(self) -> int:
        return 0

    def fetch(self, folder: str, target: Path) -> None:
        for path, data in self.files.items():
            if path.startswith(f"{folder}/"):
                destination = target / path.removeprefix(f"{folder}/")
                destination.parent.mkdir(parents=True, exist_ok=True)
                destination.write_bytes(data)
