"""The proxy's own virtual environment, made at first use: LiteLLM needs other versions of libraries than we do.

Reads `vendors/litellm/requirements.txt` (pinned with hashes), writes to the user's cache folder. Needs uv and a package
index; uv's own settings say which.
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
from pipeline.core.store import digest

REQUIREMENTS = Path(__file__).parents[3] / "vendors" / "litellm" / "requirements.txt"
TIME_LIMIT = 900


def proxy_python(say: Callable[[str], None]) -> Path:
    """The interpreter of the proxy's environment. Raises InfrastructureError when it can not be made."""
    key = digest(REQUIREMENTS.read_bytes(), sys.version)[:16]

    def make(folder: Path) -> None:
        say("making the environment of the LiteLLM proxy (first use; about 600 MB in the cache folder)")
        _uv("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
        python = str(folder / "venv" / "bin" / "python")
        _uv("pip", "sync", "--quiet", "--require-hashes", "--python", python, str(REQUIREMENTS))

    folder = cache_root() / "litellm" / key
    once(folder, make)
    return folder / "venv" / "bin" / "python"


def _uv(*arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run(
        [_uv_binary(), *arguments], env=environment, capture_output=True, text=True, timeout=TIME_LIMIT
    )
    if done.returncode:
        raise InfrastructureError(f"uv {arguments[0]} failed:\n{done.stderr.strip()[-2000:]}", cause="install")


def _uv_binary() -> str:
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if not found:
        raise UserError("uv is not there", hint="install the extra: uv sync --extra predict")
    return found
