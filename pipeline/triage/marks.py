"""Evidence highlighted in the text in which it was found. The text is escaped. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from pipeline.core.records import Evidence


def marked(text: str, field: str, evidence: Sequence[Evidence]) -> Markup:
    """A field's text with its evidence in `mark` elements; overlapping matches share one. Evidence that no longer
    fits the text, because the text has changed, is not marked."""
    markup, end = Markup(""), 0
    for start, stop in _spans(text, [piece for piece in evidence if piece.field == field]):
        markup += escape(text[end:start]) + Markup("<mark>") + escape(text[start:stop]) + Markup("</mark>")
        end = stop
    return markup + escape(text[end:])


def _spans(text: str, evidence: Sequence[Evidence]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for piece in sorted(evidence, key=lambda piece: piece.place):
        start, stop = piece.place, piece.place + len(piece.text)
        if text[start:stop] != piece.text:
            continue
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(stop, spans[-1][1]))
        else:
            spans.append((start, stop))
    return spans
