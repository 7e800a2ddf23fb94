"""Installing dependencies in any sandbox: variables and commands, and whose fault a failure is.

An `Installation`, made by `ecosystems.installation`, has the details. Reads the host's CA bundle and npm registry, by
the names below; they are used for the install only and are in no layer. Does not cover credentials of a private
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

#: milliseconds to wait for one answer of a registry: the managers' own 30 s are too short on a busy machine
PATIENCE = "300000"

#: variables with the host's CA bundle; complete bundles come first, the last may have additions only
CA_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
#: variables in which programs of an agent's install look for one
TRUST = (*CA_BUNDLES, "CURL_CA_BUNDLE", "PIP_CERT", "npm_config_cafile")

_CODES = (
    r"(?:ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|ECONNRESET|ECONNREFUSED|EAI_AGAIN|ENOTFOUND|EPROTO|EPIPE"
    r"|ENETUNREACH|EHOSTUNREACH|UND_ERR_\w+)"
)
_STATUS = r"(?:429|50[0-9])"
#: a host that does not answer is the registry, or an address that the repository chose
_UNREACHED = re.compile("ENOTFOUND|ECONNREFUSED|ETIMEDOUT")
_HOST = re.compile(r"https?://(?:[^/\s@]+@)?([\w.-]+)|ENOTFOUND ([\w-]+(?:\.[\w-]+)+)")
#: registries that always recover: no answer is a temporary fault of theirs or of this machine
_PUBLIC = {"registry.npmjs.org", "registry.yarnpkg.com"}
#: messages of faults of the machine, for every manager. A package's script that fails to download something is not
#: among them on purpose: that is the repository's fault
ANYWHERE: Faults = ((r"ENOSPC", "disk"),)


def host_ca() -> Path | None:
    """The CA bundle that this host trusts in addition to the usual ones, if it names one."""
    paths = (Path(os.environ[name]) for name in CA_BUNDLES if os.environ.get(name))
    return next((path for path in paths if path.is_file()), None)


def variables(spec: Installation, scratch: str, registry: str, ca: str | None) -> dict[str, str]:
    """The environment of an install whose downloads go to `scratch`, with the CA bundle at `ca`.

    Variables of the specification take precedence.
    """
    placeholders = {"{scratch}": scratch, "{registry}": registry, "{patience}": PATIENCE, "{ca}": ca or ""}
    applicable = {name: value for name, value in spec.variables.items() if ca or "{ca}" not in value}
    trust = {"NODE_EXTRA_CA_CERTS": ca} if ca else {}
    filled = {name: _filled(value, placeholders) for name, value in applicable.items()}
    return {**COMMON, "TMPDIR": scratch, "XDG_CACHE_HOME": f"{scratch}/cache", **trust, **filled}


def _filled(text: str, placeholders: Mapping[str, str]) -> str:
    for name, value in placeholders.items():
        text = text.replace(name, value)
    return text


def mask(text: str) -> str:
    """A log without user names and passwords in addresses, such as those of a private registry."""
    return re.sub(r"(?<=://)[^/\s@]+@", "***@", text)


def failure(message: str, log: str, faults: Faults, registry: str = "", lines: int = 2000) -> A11yBenchError:
    """The error for a failed install: the machine's or the registry's fault, else the repository's.

    If a host does not answer, it is the machine's fault for the `registry` and the repository's for any other host,
    since waiting does not help there.
    """
    for pattern, cause in (*ANYWHERE, *faults):
        expression = _filled(pattern, {"{codes}": _CODES, "{status}": _STATUS})
        for match in re.finditer(expression, log, re.MULTILINE):
            if not _elsewhere(match[0] + log[match.end() :].partition("\n")[0], registry):
                return InfrastructureError(f"{message}: {match[0].splitlines()[0]}", cause=cause)
    return InstallFailed(message, "\n".join(log.splitlines()[-lines:]))


def _elsewhere(message: str, registry: str) -> bool:
    hosts = {host for pair in _HOST.findall(message) for host in pair if host}
    known = {urlsplit(registry).hostname} | (_PUBLIC if "ETIMEDOUT" in message else set())
    return bool(registry and hosts and _UNREACHED.search(message)) and hosts.isdisjoint(known)


def run_all(spec: Installation, registry: str, execute: Callable[[tuple[str, ...]], Completed]) -> None:
    """Run the commands of an installation in order. Raises as `check` does."""
    for argv in spec.commands:
        check(argv, execute(argv), spec.faults, registry)


def check(argv: tuple[str, ...], completed: Completed, faults: Faults, registry: str = "") -> None:
    """Raise if a command of the install failed."""
    command = " ".join(argv)
    if completed.limit:
        raise InfrastructureError(f"{command} ran out of {completed.limit}", cause=completed.limit)
    if completed.code:
        log = mask(completed.output.decode(errors="replace"))
        raise failure(f"{command} ended with {completed.code}", log, faults, registry)
