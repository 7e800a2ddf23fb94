"""Which browser is used, and its version: the one that A11Y_BENCH_BROWSER names, otherwise the first of these names on
the PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache

#: Debian's names, then Google's
NAMES = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
#: seconds for a browser to say its version
ANSWERING = 10


def executable() -> str | None:
    """The path of a Chromium; None if there is none (`just browser-install`)."""
    names = (os.environ.get("A11Y_BENCH_BROWSER"), *NAMES)
    return next((path for name in names if name and (path := shutil.which(name))), None)


@cache
def version(program: str) -> str:
    """What a Chromium says of its version; empty if it says nothing."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=ANSWERING, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"\d+(?:\.\d+)+", done.stdout)
    return found[0] if found else ""
