"""Words of identifiers, paths and prose, split in the same way to compare them: `getByRole` is get, by, role."""

from __future__ import annotations

import re

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
SHORTEST = 3


def identifiers(text: str) -> set[str]:
    """The identifiers of a text in lower case, not split, of at least three characters."""
    return {name.lower() for name in IDENTIFIER.findall(text) if len(name) >= SHORTEST}


def parts(text: str) -> set[str]:
    """The words in the identifiers of a text, in lower case, of at least three characters."""
    return {word.lower() for word in WORD.findall(text) if len(word) >= SHORTEST}
