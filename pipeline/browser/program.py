"""Which browser is used: the one that A11Y_BENCH_BROWSER names, otherwise the first of these names on the PATH."""

from __future__ import annotations

import os
import shutil

#: Debian's names, then Google's
NAMES = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")


def executable() -> str | None:
    """The path of a Chromium; None if there is none (`just browser-install`)."""
    names = (os.environ.get("A11Y_BENCH_BROWSER"), *NAMES)
    return next((path for name in names if name and (path := shutil.which(name))), None)
