"""Globs of package managers and runners, read as Node's packages read them: `**`, `{a,b}`, `?(c|m)`, `!(dist)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from wcmatch import glob

_FLAGS = glob.GLOBSTAR | glob.EXTGLOB | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX
#: a group of alternatives without a sign, which picomatch reads like `@(a|b)`
_GROUP = re.compile(r"(?<![?*+@!\\])\(")


@cache
def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a whole path matches a glob. A glob with more than a thousand alternatives matches nothing."""
    try:
        return glob.compile(_GROUP.sub("@(", pattern), flags=_FLAGS).match
    except Exception:  # the class for too many alternatives is private
        return lambda path: False
