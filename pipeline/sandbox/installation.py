"""The request for an install: tools, commands, variables and known faults, as plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

#: patterns of log messages when the machine or the registry is at fault, each with the cause
Faults = tuple[tuple[str, str], ...]

#: names that a registry's packages can have, also old ones: no address, no path
_NAME = re.compile(r"(?:@[\w~-][\w.~-]*/)?[\w~-][\w.~!*'()-]*", re.ASCII)


def is_name(name: str) -> bool:
    """Whether a package in a registry can have this name. A repository may write anything in its place."""
    return bool(_NAME.fullmatch(name))


class Package(NamedTuple):
    """An npm package with a version or a range; `programs` are those that it does not declare itself."""

    name: str
    version: str
    programs: Mapping[str, str] = {}

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class Installation(NamedTuple):
    """How the dependencies of an environment are installed.

    `node` is a version of Node, or a range. `tools` returns the npm packages on the PATH, for an exact Node and an
    architecture (`x64`, `arm64`). `commands` run in order. `variables` may contain `{scratch}`, `{registry}`,
    `{patience}` and `{ca}`; a variable with `{ca}` is set only if the host names a bundle. In `faults`, `{codes}` means
    the error codes of a lost connection and `{status}` the status codes of a busy registry. `browser` is the browser
    that the tests need (`chromium`), empty for none.
    """

    node: str
    tools: Callable[[str, str], tuple[Package, ...]]
    commands: tuple[tuple[str, ...], ...]
    variables: Mapping[str, str]
    faults: Faults = ()
    browser: str = ""
