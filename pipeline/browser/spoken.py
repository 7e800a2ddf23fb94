"""What a screen reader would say about a page: the log of a virtual screen reader, as JavaScript.

Reads `@guidepup/virtual-screen-reader` from npm, pinned, once. It walks the document's accessibility tree as a screen
reader does. Does not cover how real screen readers behave in a browser.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from pipeline.core.npm_package import NpmPackage

READER = NpmPackage(
    "@guidepup/virtual-screen-reader@0.33.0",
    "sha512-CXMkIx19oFZ7BS7TcvDibXn6A2RsEs8nVX9IijHW7HQ0qTGHgc2WErkaMi12YPQi1Zypxr36NfRYWgBxUNvMtQ==",
    "lib/esm/index.browser.js",
)
#: the maximum number of phrases
MOST = 500

_EXPORT = re.compile(r"\bexport\s*\{([^}]*)\};?")


@cache
def source() -> str:
    """The reader as a script that defines `screenReader`. Raises InfrastructureError if npm cannot download it."""
    text = READER.file().read_text(encoding="utf-8")
    return f'(() => {{ "use strict";\n{_EXPORT.sub(_as_global, text)}\n}})();'


def _as_global(export: re.Match[str]) -> str:
    """An export statement as an assignment to a global variable."""
    pairs = (pair.split(" as ") for pair in export[1].split(","))
    return "globalThis.screenReader = {" + ", ".join(f"{pair[-1].strip()}: {pair[0].strip()}" for pair in pairs) + "};"


@cache
def function() -> str:
    """The reading as a function expression: takes the maximum number of phrases, returns a list of them."""
    return files(__package__).joinpath("spoken.js").read_text(encoding="utf-8")
