"""Patches as HTML: additions and removals are marked up, and keep their signs in addition to colors."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup, escape

#: the maximum number of characters of a patch in the report; predictions.jsonl has all
MOST = 40_000

#: prefixes of lines -> the element around them; headers come before the signs with which they begin
_KINDS = (
    (("diff --git ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode", "rename "), "b"),
    (("@@",), "i"),
    (("+",), "ins"),
    (("-",), "del"),
)


def marked(patch: str) -> Markup:
    """The lines of a patch, each run of the same kind in one element. A patch that is too long is cut, with a note."""
    cut = f"\n… {len(patch) - MOST:,} characters more" if len(patch) > MOST else ""
    lines = str(escape(patch[:MOST] + cut)).rstrip("\n").split("\n")
    runs = ((kind, "\n".join(run)) for kind, run in groupby(lines, _kind))
    return Markup("".join(f"<{kind}>{text}</{kind}>" for kind, text in runs))


def _kind(line: str) -> str:
    return next((kind for prefixes, kind in _KINDS if line.startswith(prefixes)), "span")
