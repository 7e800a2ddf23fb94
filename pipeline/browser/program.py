"""Which browser looks at pages: the one that is named in A11Y_BENCH_BROWSER, else the first that is on the PATH."""

from __future__ import annotations

import os
import shutil

#: Debian's names, then Google's
NAMES = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")


def executable() -> str | None:
    """The path of a Chromium, None where there is none (`just browser-install`)."""
    names = (os.environ.get("A11Y_BENCH_BROWSER"), *NAMES)
    return next((found for name in names if name and (found := shutil.which(name))), None)
