"""Evidence highlighted in the text in which it was found. The text is escaped. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from pipeline.core.records import Evidence


def marked(text: str, field: str, evidence: Sequence[Evidence]) -> Markup:
    """A field's text with its evidence in `mark` elements; overlapping matches share one. Evidence that no longer
    fits the text, because the text has changed, is not marked."""
    made, end = Markup(""), 0
    for start, stop in _spans(text, [one for one in evidence if one.field == field]):
        made += escape(text[end:start]) + Markup("<mark>") + escape(text[start:stop]) + Markup("</mark>")
        end = stop
    return made + escape(text[end:])


def _spans(text: str, evidence: Sequence[Evidence]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for one in sorted(evidence, key=lambda each: each.place):
        start, stop = one.place, one.place + len(one.text)
        if text[start:stop] != one.text:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found
