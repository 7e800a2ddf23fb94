"""Figures inside a page: smaller than their files, and drawn alike.

Coordinates have two decimals, a hundredth of a point. Comments, metadata and unused names are left out.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from markupsafe import Markup

_UNSEEN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
#: the coordinates of paths, and of what is moved
_COORDINATES = re.compile(r'(?<= d=")[^"]*|(?<=translate\()[^)]*')
_PRECISE = re.compile(r"-?\d*\.\d{3,}")
_NAME, _NAMED = re.compile(r' id="([^"]*)"'), re.compile(r"#([\w-]+)")
#: what matplotlib calls the outlines of letters, thousands of times
_LETTER, _SHORT = "DejaVuSans-", "g"
#: what may stand in a data URI between quotation marks
_PLAIN = " !$()*+,-./:;=?@[]^_`{|}~'"


def data_uri(svg: bytes) -> Markup:
    """An SVG file by matplotlib as a data URI. Between quotation marks, nothing in it means anything to HTML."""
    text = _COORDINATES.sub(lambda found: _PRECISE.sub(_rounded, found[0]), _UNSEEN.sub("", svg.decode()))
    used = set(_NAMED.findall(text))
    text = _NAME.sub(lambda found: found[0] if found[1] in used else "", text).replace(_LETTER, _SHORT)
    text = " ".join(text.split()).replace("> <", "><")
    return Markup("data:image/svg+xml,") + Markup(quote(text.replace("'", "&apos;").replace('"', "'"), safe=_PLAIN))


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
