"""First step: the model names the files that the report concerns.

The paths on offer are the tracked files that the settings let through, those first whose path shares most words with
the issues. Only offered paths are believed; what the model writes is compared with them and otherwise not used.
Not covered: elements and lines inside the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch

from magentless.causes import Cause, Ended
from magentless.inputs import Files, Task
from magentless.words import parts

FENCED = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
BULLET = re.compile(r"^\s*(?:[-*+•]\s+|\d+[.)]\s+)?")


def offered(files: Iterable[str], settings: Files) -> list[str]:
    """The files that the settings let through. Folders are compared as whole path segments, never as substrings."""
    return [path for path in files if _is_offered(path, settings)]


def ranked(paths: Iterable[str], task: Task) -> list[str]:
    """The paths, those first that share most words with the issues; otherwise in their order."""
    words = parts(task.prose)
    return sorted(paths, key=lambda path: -len(parts(path) & words))


def named_files(reply: str, paths: Sequence[str], top: int) -> list[str]:
    """The files that the reply names, in its order, at most `top`.

    Raises Ended: NO_LOCALISATION when it names none, HALLUCINATED_FILE when it names only files that were not offered.
    """
    blocks = [block for _, block in FENCED.findall(reply)] or [reply]
    names = [name for block in blocks for line in block.splitlines() if (name := _path_in(line))]
    on_offer = set(paths)
    known = [name for name in dict.fromkeys(names) if name in on_offer]
    if known:
        return known[:top]
    if any("/" in name for name in names):
        raise Ended(Cause.HALLUCINATED_FILE, f"localize: not among the files: {', '.join(names[:5])}")
    raise Ended(Cause.NO_LOCALISATION, "localize: the reply names no file")


def _path_in(line: str) -> str:
    """The path in a line of the answer, without bullet, number, quotes, `./` and what follows it."""
    words = BULLET.sub("", line).split()
    return words[0].strip("`'\"*,:").removeprefix("./") if words else ""


def _is_offered(path: str, settings: Files) -> bool:
    *folders, name = path.lower().split("/")
    stem, dot, extension = name.rpartition(".")
    return (
        extension in settings.extensions
        and not any(folder in settings.excluded_folders for folder in folders)
        and not any(fnmatch(name, pattern) for pattern in settings.excluded_names)
    )
