"""The tools of agents: their own files and what an install adds to them, as an archive that is put into containers.

Made once in a container of the base image with network access, and kept in the cache folder. They are the same in every
container, and owned by root.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from pathlib import Path

from docker.models.containers import Container

from pipeline.core.cache import once
from pipeline.core.errors import UserError
from pipeline.core.store import digest
from pipeline.sandbox import install, node
from pipeline.sandbox.base import COMMON
from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.commands import execute, fetch
from pipeline.sandbox.docker.engine import Engine, put, start
from pipeline.sandbox.docker.names import TOOLS, base_image
from pipeline.sandbox.images import Kit
from pipeline.sandbox.progress import reporting

PARENT = posixpath.dirname(TOOLS)
#: an install may do everything that root may in a container; otherwise no package could be installed
INSTALLING = {"network_mode": "bridge", "user": "root", "cap_drop": [], "security_opt": []}


def archive(engine: Engine, cache: Path, kit: Kit, say: Callable[[str], None]) -> Path:
    """The archive of TOOLS, made if it is missing. Raises UserError if the script fails."""
    base = engine.image(base_image())
    folder = cache / "agents" / digest(base.id if base else "", kit.digest, kit.script)
    once(folder, lambda path: _install(engine, kit, path / "tools.tar", say))
    return folder / "tools.tar"


def give(container: Container, tools: Path) -> None:
    """Put an archive of tools into a container."""
    with tools.open("rb") as file:
        put(container, PARENT, file)


def _install(engine: Engine, kit: Kit, target: Path, say: Callable[[str], None]) -> None:
    with engine.container(base_image(), "build", install.LIMITS, **INSTALLING) as container:
        start(container)
        put(container, PARENT, tar.of_folder(kit.files, Path(TOOLS).name, tar.ROOT))
        if kit.script:
            with reporting(say, "installing the agent"):
                code, output = run_script(container, kit.script, TOOLS)
            if code:
                raise UserError(f"the agent's install script ended with {code}:\n{output}", field="install")
        with target.open("wb") as file:
            fetch(container, TOOLS, file)


def run_script(container: Container, script: str, folder: str) -> tuple[int, str]:
    """Run an install script as root in a folder, with this host's registries and CA bundle; returns exit code and
    output."""
    ca, scratch = install.host_ca(), "/tmp/a11y-install"
    files = {"a11y-install": None, "a11y-install/install.sh": script.encode()}
    put(container, "/tmp", tar.of_entries(files | ({"a11y-install/ca.crt": ca.read_bytes()} if ca else {}), tar.ROOT))
    trust = dict.fromkeys(install.TRUST, f"{scratch}/ca.crt") if ca else {}
    env = {**COMMON, "DEBIAN_FRONTEND": "noninteractive", "npm_config_registry": node.registry(), **trust}
    command = ["sh", "-eu", f"{scratch}/install.sh"]
    completed = execute(container, command, folder=folder, env=env, limits=install.LIMITS, user="root")
    return completed.code, install.mask(completed.output.decode(errors="replace"))[-2000:]
