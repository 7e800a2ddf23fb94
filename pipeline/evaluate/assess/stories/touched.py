"""Which stories show what patches touch: by their files, the component's name, or else their imports. Pure.

A path that belongs to a component (it has the story's name, or lies in its folder) counts for that component's stories.
Any other path (tokens, hooks) counts for the stories that import it directly or indirectly, and for all stories if
Storybook's own preview imports it. Does not cover imports by the name of a package or an alias.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from pipeline.evaluate.assess.stories.site import Story

#: the files that may import others
SOURCE = re.compile(r"\.(?:[cm]?[jt]sx?|s?css)$")
#: folders that belong to no component
GENERAL = {"", "app", "components", "js", "lib", "packages", "src", "stories", "storybook", "ui"}
PREVIEWS = tuple(f".storybook/preview.{end}" for end in ("ts", "tsx", "js", "jsx", "mjs"))
_ENDS = ("", ".tsx", ".ts", ".jsx", ".js", ".css", ".scss", "/index.tsx", "/index.ts", "/index.jsx", "/index.js")
_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|@import|@use)\s*\(?\s*(?:url\()?["'](\.[^"']+)["']""")


def touched(stories: Sequence[Story], paths: Iterable[str], folder: str, sources: Mapping[str, str]) -> list[Story]:
    """The stories that show one of these paths. `folder` is where they were built, `sources` are texts by path."""
    previews = [posixpath.join(folder, name) for name in PREVIEWS]

    @cache
    def imported(file: str) -> frozenset[str]:
        return frozenset(_closure(file, sources))

    shown: set[Story] = set()
    for path in paths:
        component_stories = [story for story in stories if path in (story.file, story.component) or _is_of(path, story)]
        everywhere = any(path in imported(preview) for preview in previews)
        shown |= set(component_stories or (story for story in stories if everywhere or path in imported(story.file)))
    return sorted(shown)


def _is_of(path: str, story: Story) -> bool:
    *folders, file = path.lower().split("/")
    name = posixpath.basename(story.file).partition(".")[0].lower()
    home = _home(story.file).lower().split("/")
    in_home = home[-1] not in GENERAL and folders[: len(home)] == home
    return bool(name) and (name == file.partition(".")[0] or name in folders or in_home)


def _home(story: str) -> str:
    """The folder of a story's component: the one above `stories/` if the story is there."""
    folder = posixpath.dirname(story)
    return posixpath.dirname(folder) if posixpath.basename(folder).strip("_") == "stories" else folder


def _closure(file: str, sources: Mapping[str, str]) -> Iterator[str]:
    """A file and everything that it imports by relative paths, except through index files of other folders."""
    seen, queue = {file}, [file]
    while queue:
        path = queue.pop()
        yield path
        for name in _IMPORT.findall(sources.get(path, "")):
            base = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            imported_file = next((base + end for end in _ENDS if base + end in sources), "")
            if imported_file and imported_file not in seen and not _is_barrel(imported_file, file):
                seen.add(imported_file)
                queue.append(imported_file)


def _is_barrel(path: str, file: str) -> bool:
    stem, end = posixpath.splitext(posixpath.basename(path))
    return stem == "index" and end not in (".css", ".scss") and not path.startswith(f"{_home(file)}/")
