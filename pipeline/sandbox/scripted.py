"""ScriptedSandbox: for tests of what stands on a sandbox. Nothing runs; a function says how each command ends.

It writes nothing to disk. What was asked of it is in `environments`, `instances` and `commands`; `opened` are the
images of open workspaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipeline.sandbox.base import DEFAULT, Cache, Completed, Kept, Limits, Machine
from pipeline.sandbox.installation import Installation

Files = dict[str, bytes]
Respond = Callable[[tuple[str, ...], Files], Completed]


def succeed(argv: tuple[str, ...], files: Files) -> Completed:
    return Completed(0, b"", 0)


class ScriptedSandbox:
    """`respond(argv, files)` ends a command; it may raise, and may write to the workspace's `files` (path -> bytes).

    `failures` are raised by environment(), by digest: InstallFailed or InfrastructureError.
    """

    name = "scripted"

    def __init__(self, cache: Path, respond: Respond = succeed, failures: dict[str, Exception] | None = None) -> None:
        self.respond, self.failures = respond, failures or {}
        self.environments: list[str] = []
        self.instances: dict[str, str] = {}
        self.commands: list[tuple[str, ...]] = []
        self.opened: list[str] = []

    def check(self) -> None:
        """It always works."""

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> list[str]:
        if digest in self.failures:
            raise self.failures[digest]
        if digest not in self.environments:
            say(f"scripted: {' '.join(spec.commands[0])}")
            self.environments.append(digest)
        return []

    def has(self, digest: str) -> bool:
        return digest in self.instances

    def instance(self, environment: str, digest: str, checkout: Path) -> None:
        self.instances[digest] = environment

    @contextmanager
    def open(self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT) -> Iterator[ScriptedWorkspace]:
        self.opened.append(digest)
        yield ScriptedWorkspace(self)
        self.opened.remove(digest)

    def machine(self) -> Machine:
        return Machine(2, 8 * 2**30, 10)

    def kept(self) -> list[Kept]:
        """Every layer takes one byte."""
        used = {*self.opened, *(self.instances[digest] for digest in self.opened)}
        made = [("environment", digest, "") for digest in self.environments]
        made += [("instance", digest, environment) for digest, environment in self.instances.items()]
        return [Kept(kind, digest, digest, 1, on, busy=digest in used) for kind, digest, on in made]

    def remove(self, kept: Kept) -> bool:
        if kept.digest in self.opened:
            return False
        self.instances.pop(kept.digest, None)
        self.environments = [digest for digest in self.environments if digest != kept.digest]
        return True

    def abort(self) -> None:
        """Nothing runs."""


class ScriptedWorkspace:
    root, scratch, cache = "/repo", "/scratch", "/cache"

    def __init__(self, sandbox: ScriptedSandbox) -> None:
        self.sandbox, self.files = sandbox, Files()

    def run(
        self, argv: Sequence[str], *, env: dict[str, str] | None = None, seconds: float | None = None, folder: str = ""
    ) -> Completed:
        self.sandbox.commands.append(tuple(argv))
        return self.sandbox.respond(tuple(argv), self.files)

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)
