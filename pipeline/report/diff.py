"""Patches as HTML: additions and removals are marked up, and keep their signs in addition to colors."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup, escape

#: the maximum number of characters of a patch in the report; predictions.jsonl has all
MOST = 40_000

#: how the lines of headers begin; some begin with the signs of changed lines
_HEADERS = ("diff --git ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode", "rename ")
_SIGNS = {"+": "ins", "-": "del"}


def marked(patch: str) -> Markup:
    """The lines of a patch, each run of the same kind in one element. A patch that is too long is cut, with a note."""
    cut = f"\n… {len(patch) - MOST:,} characters more" if len(patch) > MOST else ""
    lines = str(escape(patch[:MOST] + cut)).rstrip("\n").split("\n")
    runs = ((kind, "\n".join(run)) for kind, run in groupby(lines, _kind))
    return Markup("".join(f"<{kind}>{text}</{kind}>" for kind, text in runs))


def _kind(line: str) -> str:
    """The element around a line."""
    if line.startswith(_HEADERS):
        return "b"
    return "i" if line.startswith("@@") else _SIGNS.get(line[:1], "span")
