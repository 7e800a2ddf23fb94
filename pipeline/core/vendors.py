"""Virtual environments for programs in `vendors/`, which need other versions of libraries than we do.

Reads `vendors/NAME/requirements.txt` (pinned with hashes), writes to the user's cache folder. Needs uv and a package
index, chosen by uv's own settings.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pipeline.core.cache import cache_root, once
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.shipped import ROOT
from pipeline.core.store import Unit, digest

VENDORS = ROOT / "vendors"
TIME_LIMIT = 900


def vendor_python(name: str, say: Callable[[str], None]) -> Path:
    """The interpreter of the environment of `vendors/NAME`, made at first use.

    Raises InfrastructureError if it cannot be made.
    """
    folder = _folder(name)
    python = folder / "venv" / "bin" / "python"

    def make(folder: Path) -> None:
        say(f"making the environment of {name} (first use; kept in the cache folder)")
        _uv("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
        _uv("pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(_requirements(name)))

    once(folder, make)
    return python


def has_environment(name: str) -> bool:
    """Whether the environment of `vendors/NAME` exists."""
    return Unit(_folder(name)).path.exists()


def _folder(name: str) -> Path:
    return cache_root() / name / digest(_requirements(name).read_bytes(), sys.version)[:16]


def _requirements(name: str) -> Path:
    return VENDORS / name / "requirements.txt"


def _uv(*arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    process = subprocess.run(
        [_uv_binary(), *arguments], env=environment, capture_output=True, text=True, timeout=TIME_LIMIT
    )
    if process.returncode:
        raise InfrastructureError(f"uv {arguments[0]} failed:\n{process.stderr.strip()[-2000:]}", cause="install")


def _uv_binary() -> str:
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if not found:
        raise UserError("uv is not installed", hint="reinstall the project: uv sync")
    return found
