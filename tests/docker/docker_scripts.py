"""Where the scripts of docker/ are and how a test runs one. Imported by the tests beside it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

DOCKER = Path(__file__).resolve().parents[2] / "docker"
START, STOP = DOCKER / "engine/start.sh", DOCKER / "engine/stop.sh"
BUILD, MIRRORS, BOOTSTRAP = (DOCKER / "base" / f"{name}.sh" for name in ("build", "mirrors", "from-debootstrap"))

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def needs(program: str) -> pytest.MarkDecorator:
    """Skip where `program` is not installed."""
    return pytest.mark.skipif(not shutil.which(program), reason=f"needs {program}")


def run(*command: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command with `env` on top of this process's environment."""
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True, check=False, timeout=600)
