"""Where the scripts of docker/ are, and how a test runs one. Imported by the tests beside it."""

import os
import shutil
import subprocess
from pathlib import Path

from lacking import lack

DOCKER = Path(__file__).resolve().parents[2] / "docker"
START, STOP = DOCKER / "engine/start.sh", DOCKER / "engine/stop.sh"
BUILD, MIRRORS, BOOTSTRAP = (DOCKER / "base" / f"{name}.sh" for name in ("build", "mirrors", "from-debootstrap"))


def need(*programs: str, root: bool = False) -> None:
    """Skip the running test if programs are not installed or it is not run as root; fail it in CI."""
    missing = [program for program in programs if not shutil.which(program)]
    missing += ["root"] if root and os.geteuid() else []
    if missing:
        lack(f"needs {', '.join(missing)}")


def run(*command: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command with `env` on top of this process's environment."""
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True, check=False, timeout=600)
