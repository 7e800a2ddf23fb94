"""Binary files of a patch that say only `Binary files … differ`, as `git diff` without `--binary` writes them: git
refuses such a patch until their content is put in.

Contents must have the object names that the patch gives, so no other version of a file is taken. Does not call git.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from base64 import b85encode
from collections.abc import Callable, Iterable
from string import ascii_letters, ascii_uppercase

from pipeline.collect.sources import Unavailable
from pipeline.core.patches import sections

_STUB = re.compile(
    r"^index (?P<old>[0-9a-f]+)\.\.(?P<new>[0-9a-f]+)(?P<mode> \d+)?\r?\n(?P<text>Binary files .* differ)\r?(?:\n|\Z)",
    re.MULTILINE,
)
#: the bytes of a line of a binary hunk, and the letters that stand for their number
_WIDTH, _LENGTHS = 52, ascii_uppercase + ascii_letters[:26]
_NONE = "0" * 40

#: the contents that a file may have, by its path and the beginning of its object's name
Contents = Callable[[str, str], Iterable[bytes | None]]


def completed(patch: str, contents: Contents) -> str:
    """The patch with the contents of all binary files. Raises Unavailable if one cannot be had."""
    if not _STUB.search(patch):
        return patch
    return patch[: patch.index("diff --git ")] + "".join(
        _completed(path, part, contents) for path, part in sections(patch)
    )


def _completed(path: str, part: str, contents: Contents) -> str:
    match = _STUB.search(part)
    if match is None:
        return part
    (old, before), (new, after) = (_found(path, match[side], contents, match["text"]) for side in ("old", "new"))
    hunks = f"index {old}..{new}{match['mode'] or ''}\nGIT binary patch\n{_hunk(after)}{_hunk(before)}"
    return part[: match.start()] + hunks + part[match.end() :]


def _found(path: str, name: str, contents: Contents, stub: str) -> tuple[str, bytes]:
    """The whole name and the content of one side of a file. Raises Unavailable."""
    if not name.strip("0"):
        return _NONE, b""
    for data in contents(path, name):
        if data is not None and (whole := _object_name(data)).startswith(name):
            return whole, data
    raise Unavailable("binary", stub)


def _object_name(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%s" % (len(data), data), usedforsecurity=False).hexdigest()


def _hunk(data: bytes) -> str:
    """A content as git writes it: compressed, in base 85, each line with its length."""
    packed = zlib.compress(data)
    rows = (packed[start : start + _WIDTH] for start in range(0, len(packed), _WIDTH))
    lines = "".join(f"{_LENGTHS[len(row) - 1]}{b85encode(row, pad=True).decode()}\n" for row in rows)
    return f"literal {len(data)}\n{lines}\n"
