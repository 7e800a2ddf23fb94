"""What installing dependencies takes in any sandbox: its variables and commands, and who is to blame when it fails.

An `Installation` says which these are; `ecosystems.installation` makes it. Reads the host's CA bundle and npm registry,
by the names below; they are for the install only and end up in no layer. Does not cover credentials of a private
registry, registries on the host's loopback interface, and Plug'n'Play (the manager's caches are not kept, only what it
links or copies into node_modules).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.sandbox.base import COMMON, Completed, InstallFailed, Limits
from pipeline.sandbox.installation import Faults, Installation

LIMITS = Limits(seconds=1800, memory=8 * 2**30, processes=4096, disk=24 * 2**30)

#: milliseconds that one answer of a registry may take: on a busy machine the managers' own 30 s are too short
PATIENCE = "300000"

#: where hosts name their CA bundle; whole bundles come first, the last may hold additions only
CA_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
#: where programs of an agent's install look for one
TRUST = (*CA_BUNDLES, "CURL_CA_BUNDLE", "PIP_CERT", "npm_config_cafile")

_CODES = (
    r"(?:ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|ECONNRESET|ECONNREFUSED|EAI_AGAIN|ENOTFOUND|EPROTO|EPIPE"
    r"|ENETUNREACH|EHOSTUNREACH|UND_ERR_\w+)"
)
_STATUS = r"(?:429|50[0-9])"
#: a host that does not answer is the registry, or an address that the repository chose
_UNREACHED = re.compile("ENOTFOUND|ECONNREFUSED|ETIMEDOUT")
_HOST = re.compile(r"https?://(?:[^/\s@]+@)?([\w.-]+)|ENOTFOUND ([\w-]+(?:\.[\w-]+)+)")
#: registries that always come back: silence is a bad moment of theirs or of this machine
_PUBLIC = {"registry.npmjs.org", "registry.yarnpkg.com"}
#: what a log says when the machine is to blame, whatever the manager; scripts of packages that fail to download
#: something of their own look otherwise on purpose: those are the repository's
ANYWHERE: Faults = ((r"ENOSPC", "disk"),)


def host_ca() -> Path | None:
    """The CA bundle that this host trusts beyond the usual, if it names one."""
    named = (Path(os.environ[name]) for name in CA_BUNDLES if os.environ.get(name))
    return next((path for path in named if path.is_file()), None)


def variables(spec: Installation, scratch: str, registry: str, ca: str | None) -> dict[str, str]:
    """The environment of an install whose downloads go to `scratch`, with the CA bundle at `ca`.

    What the specification sets wins.
    """
    places = {"{scratch}": scratch, "{registry}": registry, "{patience}": PATIENCE, "{ca}": ca or ""}
    told = {name: value for name, value in spec.variables.items() if ca or "{ca}" not in value}
    trust = {"NODE_EXTRA_CA_CERTS": ca} if ca else {}
    filled = {name: _filled(value, places) for name, value in told.items()}
    return {**COMMON, "TMPDIR": scratch, "XDG_CACHE_HOME": f"{scratch}/cache", **trust, **filled}


def _filled(text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(name, value)
    return text


def mask(text: str) -> str:
    """Without the user names and passwords of addresses: a private registry's stand in the manager's log."""
    return re.sub(r"(?<=://)[^/\s@]+@", "***@", text)


def failure(message: str, log: str, faults: Faults, registry: str = "", lines: int = 2000) -> A11yBenchError:
    """The error for a failed install: the machine's or the registry's fault, else the repository's.

    A host that does not answer is the machine's fault when it is the `registry`, the repository's otherwise: waiting
    does not bring back what it asks elsewhere.
    """
    for pattern, cause in (*ANYWHERE, *faults):
        written = _filled(pattern, {"{codes}": _CODES, "{status}": _STATUS})
        for match in re.finditer(written, log, re.MULTILINE):
            if not _elsewhere(match[0] + log[match.end() :].partition("\n")[0], registry):
                return InfrastructureError(f"{message}: {match[0].splitlines()[0]}", cause=cause)
    return InstallFailed(message, "\n".join(log.splitlines()[-lines:]))


def _elsewhere(said: str, registry: str) -> bool:
    hosts = {host for pair in _HOST.findall(said) for host in pair if host}
    ours = {urlsplit(registry).hostname} | (_PUBLIC if "ETIMEDOUT" in said else set())
    return bool(registry and hosts and _UNREACHED.search(said)) and hosts.isdisjoint(ours)


def run_all(spec: Installation, registry: str, execute: Callable[[tuple[str, ...]], Completed]) -> None:
    """The commands of an installation, one by one. Raises as `check`."""
    for argv in spec.commands:
        check(argv, execute(argv), spec.faults, registry)


def check(argv: tuple[str, ...], done: Completed, faults: Faults, registry: str = "") -> None:
    """Raise unless a command of the install ended well."""
    command = " ".join(argv)
    if done.limit:
        raise InfrastructureError(f"{command} ran out of {done.limit}", cause=done.limit)
    if done.code:
        raise failure(f"{command} ended with {done.code}", mask(done.output.decode(errors="replace")), faults, registry)
