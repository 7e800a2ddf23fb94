"""Words of identifiers, paths and prose, split in the same way to compare them: `getByRole` is get, by, role. And texts
without the link or tag that a model puts around a path."""

from __future__ import annotations

import re

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
SHORTEST = 3
#: Markdown's `[src/a.tsx](src/a.tsx)`, and a tag such as `<file>src/a.tsx</file>`
LINK = re.compile(r"\[([^\[\]\s]+)\]\([^()\s]*\)")
TAG = re.compile(r"<(file(?:name|path)?|path)>\s*([^<>\s]+)\s*</\1>", re.I)


def identifiers(text: str) -> set[str]:
    """The identifiers of a text in lower case, not split, of at least three characters."""
    return {name.lower() for name in IDENTIFIER.findall(text) if len(name) >= SHORTEST}


def parts(text: str) -> set[str]:
    """The words in the identifiers of a text, in lower case, of at least three characters."""
    return {word.lower() for word in WORD.findall(text) if len(word) >= SHORTEST}


def unwrapped(line: str) -> str:
    """The line with the text of each link, and the content of each tag that names a file, in place of the whole."""
    return TAG.sub(r"\2", LINK.sub(r"\1", line))
