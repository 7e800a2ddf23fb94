"""Which locked versions the npm registry has no longer: asked before anything is downloaded, side by side.

A version is there when its archive answers to HEAD, or the package's document names it; it is gone when the document
does not, or there is none. What the registry will not say (offline, a login, too many requests) is not known, and then
the install finds out. Reads and writes `CACHE/registry/<registry>.txt`: versions that were there, one a line.

Does not cover addresses outside the registry, and versions that are there but cannot be installed.
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

if TYPE_CHECKING:
    import httpx

#: requests side by side; seconds for one answer; seconds after which no more is asked
WIDTH, PATIENCE, LIMIT = 32, 20, 90

Version = tuple[str, str]


#: an archive in a registry: its host, with the port, and the package
_ARCHIVES = re.compile(
    rb"https?://(?:[^/\s@\"']+@)?([^/\s\"']+)/(?:[^\s\"'/]+/)*?((?:@[^/\s\"']+(?:/|%2[fF]))?[^/\s\"'@]+)/(?:-|download)/"
)
_SCOPES = re.compile(r"^\s*(@[^:\s]+):registry\s*=|^  ['\"]?([\w.-]+)['\"]?:\n    npmRegistryServer:", re.MULTILINE)
#: registries that any other one stands for
_PUBLIC = {b"registry.npmjs.org", b"registry.yarnpkg.com", b"registry.npmjs.org:443", b"registry.yarnpkg.com:443"}


class Looked(NamedTuple):
    """What a look-up found: versions that are gone, how many of them all were not known, and why."""

    gone: tuple[Version, ...] = ()
    unknown: int = 0
    why: str = ""


def elsewhere(files: Mapping[str, bytes]) -> Callable[[str], bool]:
    """Whether manifests (path -> content) fetch a package from another registry than the host's own."""
    lines = "\n".join(files[path].decode(errors="replace") for path in filter(edits.is_settings, files))
    scopes = {scope or f"@{own}" for scope, own in _SCOPES.findall(lines)}
    found = (pair for path, content in files.items() if locks.is_lock(path) for pair in _ARCHIVES.findall(content))
    names = {unquote(name.decode(errors="replace")) for host, name in found if host not in _PUBLIC}
    return lambda name: name in names or name.partition("/")[0] in scopes


class _Silent(Exception):
    """The registry does not say."""


class Registry:
    """One registry, whose answers are kept in a file of `folder`; `now` are seconds of a clock."""

    def __init__(self, address: str, folder: Path, now: Callable[[], float] = time.monotonic) -> None:
        self.address, self.now = f"{address.rstrip('/')}/", now
        self.path = folder / "registry" / f"{folder_name(self.address)}.txt"

    def look_up(self, packages: Iterable[Locked]) -> Looked:
        """Which of these packages are gone. Never raises for what the registry does."""
        wanted = sorted({(one.name, one.version) for one in packages if one.version[:1].isdigit()} - self._known())
        if not wanted:
            return Looked()
        with self._client() as client, ThreadPoolExecutor(WIDTH) as pool:
            asked = _Asked(client, self.now() + LIMIT, self.now)
            answers = list(pool.map(asked.has, wanted))
        self._keep([one for one, there in zip(wanted, answers, strict=True) if there])
        gone = tuple(one for one, there in zip(wanted, answers, strict=True) if there is False)
        return Looked(gone, answers.count(None), asked.why)

    def _client(self) -> httpx.Client:
        import httpx

        bundle = install.host_ca()
        verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=str(bundle)) if bundle else True
        limits = httpx.Limits(max_connections=WIDTH)
        return httpx.Client(
            base_url=self.address, timeout=PATIENCE, limits=limits, verify=verify, follow_redirects=True
        )

    def _known(self) -> set[Version]:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return {(name, version) for name, _, version in (line.rpartition("@") for line in lines)}

    def _keep(self, there: list[Version]) -> None:
        """In one write of an appended file, which others may do as well."""
        if there:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(f"{name}@{version}\n" for name, version in there))


class _Asked:
    """One look-up: it ends for all when the registry is not reached, or at a time."""

    def __init__(self, client: httpx.Client, end: float, now: Callable[[], float]) -> None:
        self.client, self.end, self.now, self.why = client, end, now, ""
        self.versions = cache(self._versions)

    def has(self, wanted: Version) -> bool | None:
        """Whether a version is there; None where the registry does not say."""
        if self.why or self.now() > self.end:
            self.why = self.why or f"no time left after {LIMIT} s"
            return None
        try:
            return self._archive(*wanted) or wanted[1] in self.versions(wanted[0])
        except _Silent:
            return None

    def _archive(self, name: str, version: str) -> bool:
        return self._send("HEAD", archive(name, version, ""), {404, 405, 501}).status_code == 200

    def _versions(self, name: str) -> frozenset[str]:
        """What the package's document names; nothing for a package that is gone."""
        reply = self._send("GET", quote(name, safe="@"), {404})
        if reply.status_code == 404:
            return frozenset()
        try:
            found = reply.json()["versions"]
        except (ValueError, KeyError, TypeError):
            raise _Silent from None
        return frozenset(found)

    def _send(self, method: str, path: str, others: set[int]) -> httpx.Response:
        import httpx

        try:
            reply = self.client.request(method, path)
        except httpx.ConnectError as error:
            self.why = f"it is not reached: {error}"
            raise _Silent from None
        except httpx.HTTPError:
            raise _Silent from None
        if reply.status_code not in {200, *others}:
            raise _Silent
        return reply
