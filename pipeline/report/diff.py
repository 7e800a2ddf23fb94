"""Patches as HTML: additions and removals are marked up as such, and keep their signs beside their colours."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup, escape

#: characters of a patch that the report shows; predictions.jsonl has all
MOST = 40_000

#: how a line begins -> the element around it; headers come before the signs that they begin with
_KINDS = (
    (("diff --git ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode", "rename "), "b"),
    (("@@",), "i"),
    (("+",), "ins"),
    (("-",), "del"),
)


def marked(patch: str) -> Markup:
    """The lines of a patch, each run of one kind in one element; what is too long is cut, and says so."""
    cut = f"\n… {len(patch) - MOST:,} characters more" if len(patch) > MOST else ""
    lines = str(escape(patch[:MOST] + cut)).rstrip("\n").split("\n")
    runs = ((kind, "\n".join(run)) for kind, run in groupby(lines, _kind))
    return Markup("".join(f"<{kind}>{text}</{kind}>" for kind, text in runs))


def _kind(line: str) -> str:
    return next((kind for begins, kind in _KINDS if line.startswith(begins)), "span")
