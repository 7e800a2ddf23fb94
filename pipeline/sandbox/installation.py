"""What a sandbox is told of an install: tools, commands, variables and faults, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

#: patterns of a log that says that the machine or the registry is to blame, each with the cause
Faults = tuple[tuple[str, str], ...]


class Package(NamedTuple):
    """An npm package at a version, or at a range of them; `programs` are those that it does not name itself."""

    name: str
    version: str
    programs: Mapping[str, str] = {}

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class Installation(NamedTuple):
    """How the dependencies of an environment are installed.

    `node` is a version of Node, or a range. `tools` are the npm packages on the PATH, for the Node that is there and an
    architecture (`x64`, `arm64`). `commands` run in order. `variables` may hold `{scratch}`, `{registry}`, `{patience}`
    and `{ca}`: one with `{ca}` is set where the host names a bundle. In `faults`, `{codes}` stands for
    those of a lost connection and `{status}` for those of a busy registry. `browser` is one that the tests must find
    (`chromium`), empty for none.
    """

    node: str
    tools: Callable[[str, str], tuple[Package, ...]]
    commands: tuple[tuple[str, ...], ...]
    variables: Mapping[str, str]
    faults: Faults = ()
    browser: str = ""
