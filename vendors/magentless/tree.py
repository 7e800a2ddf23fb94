"""The repository's tree in prompts: pruned to the relevant kinds of files, folder by folder.

What shares most words with the issues comes first, so a shortened prompt loses the rest. Not covered: the content of
files.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from fnmatch import translate

from magentless.inputs import Files, Task
from magentless.words import parts

#: up to this number, files are shown with their full paths
FEW = 200


def offered(files: Iterable[str], settings: Files) -> list[str]:
    """The files that the settings admit. Folders are compared as whole path segments, never as substrings."""
    folders, names = _any(settings.excluded_folders), _any(settings.excluded_names)
    return [path for path in files if _is_offered(path.lower(), settings.extensions, folders, names)]


def ranked(paths: Iterable[str], task: Task) -> list[str]:
    """The paths, sorted by the number of words that they share with the issues, then in their order."""
    words = parts(task.prose)
    return sorted(paths, key=lambda path: -len(parts(path) & words))


def branches(paths: Iterable[str]) -> dict[str, str]:
    """For each folder, in the order of its first file: its path and the names of the files directly in it. If there are
    only a few files, their full paths, which small models cannot assemble themselves."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    paths = list(paths)
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders[folder].append(name)
    if len(paths) <= FEW:
        return {
            folder: "\n".join(f"{folder}/{name}".lstrip("/") for name in names) for folder, names in folders.items()
        }
    return {
        folder: "\n".join([f"{folder or '.'}/", *(f"  {name}" for name in names)]) for folder, names in folders.items()
    }


def folders(paths: Iterable[str]) -> list[str]:
    """All folders that contain files at any depth, in the order of their first file, outer ones before inner ones."""
    return list(
        dict.fromkeys("/".join(path.split("/")[:end]) for path in paths for end in range(1, path.count("/") + 1))
    )


def below(path: str, folders: Iterable[str]) -> bool:
    """Whether a file is in one of the folders, at any depth."""
    return any(path.startswith(f"{folder}/") for folder in folders)


def _is_offered(path: str, extensions: Collection[str], folders: re.Pattern[str], names: re.Pattern[str]) -> bool:
    *above, name = path.split("/")
    known = name.rpartition(".")[2] in extensions
    return known and not names.match(name) and not any(folders.match(folder) for folder in above)


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches what any of the patterns matches."""
    return re.compile("|".join(map(translate, patterns)) or "(?!)")
