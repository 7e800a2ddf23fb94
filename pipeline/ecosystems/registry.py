"""Which locked versions no longer exist in the npm registry: checked in parallel, before anything is downloaded.

A version exists if its archive answers to HEAD, or if the package's document names it; it is missing if the document
does not name it, or if there is no document. Without an answer (offline, a login, too many requests) it is unknown, and
the install finds out. Reads and writes `CACHE/registry/<registry>.txt`: versions that existed, one per line.

Does not cover addresses outside the registry, and versions that exist but cannot be installed.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from pipeline.core.names import folder_name
from pipeline.ecosystems import edits, locks
from pipeline.ecosystems.locked import Locked, archive
from pipeline.sandbox import install
from pipeline.sandbox.installation import is_name

if TYPE_CHECKING:
    import httpx

#: parallel requests; seconds to wait for one answer; seconds after which no request is sent
WIDTH, PATIENCE, LIMIT = 32, 20, 90
#: attempts to connect: name servers drop some of many queries at once
CONNECTS = 3

Version = tuple[str, str]

#: a released version; a lock file may have anything in its place
_RELEASE = re.compile(r"\d[\w.+-]*", re.ASCII)
#: an archive in a registry: its host, with the port, and the package
_ARCHIVES = re.compile(
    rb"https?://(?:[^/\s@\"']+@)?([^/\s\"']+)/(?:[^\s\"'/]+/)*?((?:@[^/\s\"']+(?:/|%2[fF]))?[^/\s\"'@]+)/(?:-|download)/"
)
_SCOPES = re.compile(r"^\s*(@[^:\s]+):registry\s*=|^  ['\"]?([\w.-]+)['\"]?:\n    npmRegistryServer:", re.MULTILINE)
#: registries that any other one can replace
_PUBLIC = {b"registry.npmjs.org", b"registry.yarnpkg.com", b"registry.npmjs.org:443", b"registry.yarnpkg.com:443"}


class LookUp(NamedTuple):
    """The result of a look-up: versions that are missing, and how many are unknown for which reason."""

    missing: tuple[Version, ...] = ()
    unknown: int = 0
    reason: str = ""


def elsewhere(files: Mapping[str, bytes]) -> Callable[[str], bool]:
    """A test for packages that manifests (path -> content) fetch from another registry than the host's."""
    lines = "\n".join(files[path].decode(errors="replace") for path in filter(edits.is_settings, files))
    scopes = {scope or f"@{scope_name}" for scope, scope_name in _SCOPES.findall(lines)}
    pairs = (pair for path, content in files.items() if locks.is_lock(path) for pair in _ARCHIVES.findall(content))
    names = {unquote(name.decode(errors="replace")) for host, name in pairs if host not in _PUBLIC}
    return lambda name: name in names or name.partition("/")[0] in scopes


class _NoAnswer(Exception):
    """The registry gave no answer."""


class Registry:
    """One registry, whose answers are cached in a file in `folder`; `now` returns a clock's seconds."""

    def __init__(self, address: str, folder: Path, now: Callable[[], float] = time.monotonic) -> None:
        self.address, self.now = f"{address.rstrip('/')}/", now
        self.path = folder / "registry" / f"{folder_name(self.address)}.txt"

    def look_up(self, packages: Iterable[Locked]) -> LookUp:
        """Which of these packages are missing; what no registry can have is not looked up. Never raises for faults of
        the registry."""
        pairs = {(package.name, package.version) for package in packages}
        released = {(name, version) for name, version in pairs if is_name(name) and _RELEASE.fullmatch(version)}
        versions = sorted(released - self._cached())
        if not versions:
            return LookUp()
        with self._client() as client, ThreadPoolExecutor(WIDTH) as pool:
            query = _Query(client, self.now() + LIMIT, self.now)
            answers = list(pool.map(query.has, versions))
        self._add_to_cache([version for version, exists in zip(versions, answers, strict=True) if exists])
        missing = tuple(version for version, exists in zip(versions, answers, strict=True) if exists is False)
        return LookUp(missing, answers.count(None), query.reason)

    def _client(self) -> httpx.Client:
        import httpx

        bundle = install.host_ca()
        verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=str(bundle)) if bundle else True
        limits = httpx.Limits(max_connections=WIDTH)
        return httpx.Client(
            base_url=self.address, timeout=PATIENCE, limits=limits, verify=verify, follow_redirects=True
        )

    def _cached(self) -> set[Version]:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return {(name, version) for name, _, version in (line.rpartition("@") for line in lines)}

    def _add_to_cache(self, versions: list[Version]) -> None:
        """Append in one write, since other processes may append too."""
        if versions:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(f"{name}@{version}\n" for name, version in versions))


class _Query:
    """One look-up. It ends for all versions if the registry cannot be reached, or when its time is over."""

    def __init__(self, client: httpx.Client, end: float, now: Callable[[], float]) -> None:
        self.client, self.end, self.now, self.reason = client, end, now, ""
        self.versions = cache(self._versions)

    def has(self, version: Version) -> bool | None:
        """Whether a version exists; None if the registry gives no answer."""
        if self.reason or self.now() > self.end:
            self.reason = self.reason or f"no time left after {LIMIT} s"
            return None
        try:
            return self._archive(*version) or version[1] in self.versions(version[0])
        except _NoAnswer:
            return None

    def _archive(self, name: str, version: str) -> bool:
        return self._send("HEAD", archive(name, version, ""), {404, 405, 501}).status_code == 200

    def _versions(self, name: str) -> frozenset[str]:
        """The versions in the package's document; empty for a missing package."""
        reply = self._send("GET", quote(name, safe="@"), {404})
        if reply.status_code == 404:
            return frozenset()
        try:
            versions = reply.json()["versions"]
        except (ValueError, KeyError, TypeError):
            raise _NoAnswer from None
        return frozenset(versions)

    def _send(self, method: str, path: str, expected: set[int]) -> httpx.Response:
        import httpx
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        unconnected = retry_if_exception_type(httpx.ConnectError)
        try:
            reply = Retrying(retry=unconnected, stop=stop_after_attempt(CONNECTS), reraise=True)(
                self.client.request, method, path
            )
        except httpx.ConnectError as error:
            self.reason = f"it cannot be reached: {error}"
            raise _NoAnswer from None
        except httpx.HTTPError:
            raise _NoAnswer from None
        if reply.status_code not in {200, *expected}:
            raise _NoAnswer
        return reply
