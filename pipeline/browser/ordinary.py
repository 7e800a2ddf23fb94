"""What a browser says of itself to pages: the same as an ordinary Chrome, not that it is automated and has no window.

A page could show accessible markup to automation alone. Does not cover all signs: the address of a page, functions that
are replaced here, what the graphics say of themselves, and what a popup finds before it is closed.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import Any

#: `navigator.webdriver` is false
ARGUMENTS = ("--disable-blink-features=AutomationControlled",)
#: sys.platform -> the system in the user agent, its name and the processor, as in Chrome for any machine
SYSTEMS = {
    "linux": ("X11; Linux x86_64", "Linux", "x86"),
    "darwin": ("Macintosh; Intel Mac OS X 10_15_7", "macOS", "arm"),
}


def agent(version: str) -> dict[str, Any] | None:
    """The parameters of `Emulation.setUserAgentOverride` for a version of Chromium. None if it, or the system, is
    unknown: then the browser says what it says."""
    if not version or sys.platform not in SYSTEMS:
        return None
    system, platform, architecture = SYSTEMS[sys.platform]
    major = version.partition(".")[0]
    known = {"Chromium": version, "Google Chrome": version, "Not:A-Brand": "8.0.0.0"}
    metadata = {
        "brands": [{"brand": brand, "version": full.partition(".")[0]} for brand, full in known.items()],
        "fullVersionList": [{"brand": brand, "version": full} for brand, full in known.items()],
        "platform": platform,
        "platformVersion": "",
        "architecture": architecture,
        "bitness": "64",
        "model": "",
        "mobile": False,
    }
    user = f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
    return {"userAgent": user, "userAgentMetadata": metadata}


def script() -> str:
    """A script for the page's own world in each new document, which adds what a browser without a window lacks."""
    return files(__package__).joinpath("ordinary.js").read_text(encoding="utf-8")
