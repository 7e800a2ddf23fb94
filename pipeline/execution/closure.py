"""From the files that a runner was seen to read to the files that decide how it runs: a closure over their imports.

Pure. The closure holds the files that the runner names itself (configuration, set-up, transformers, resolvers,
environments, reporters), the files that its processes load, and everything that these import, transitively. It leaves
out sources under test, although set-up files import them and configurations point at them: files that tests reach
without the runner, files that gold changes, and files above those, such as an index that imports what lies below it.
Does not cover a set-up helper that itself imports sources below its own folder: it is taken for such an index.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.ecosystems.protection import is_protected, module_names

#: what programs append to a requested path to find a file
_ENDINGS = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".json", ".vue", ".svelte", ".es6", ".coffee")
_ENDING = re.compile(r"\.[cm]?jsx?$")


#: a pattern that matches exactly one name
_NAME = re.compile(r"\^[@\w](?:[\w@/-]|\\?\.|\\/)*\$|[@\w][\w@/.-]*")


@dataclass(frozen=True)
class Seen:
    """What a runner was observed to read, as paths of the repository.

    `named` are files that its resolved configuration or its command names, `loaded` those that its processes load
    themselves, `mentioned` those found in the text of a configuration that the runner cannot print, `mapped` pairs of a
    JavaScript pattern and the file that matching names lead to, and `edges` pairs of importing and imported file.
    """

    named: frozenset[str] = frozenset()
    loaded: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    mapped: frozenset[tuple[str, str]] = frozenset()
    edges: frozenset[tuple[str, str]] = frozenset()


def closure(
    seen: Seen,
    written: Iterable[tuple[str, str]],
    *,
    tests: Collection[str],
    sources: Collection[str],
    packages: Mapping[str, str],
) -> tuple[str, ...]:
    """The files that decide how the runner runs and that are not protected by name, sorted.

    `written` holds pairs of importing and imported file, found as relative paths in texts: they stand in for files of
    the runner for which nothing was observed. `tests` are the files that run, `sources` those that gold changes, and
    `packages` maps the folders of the repository's own packages to their names.
    """
    written, tops = frozenset(written), {_top(path) for path in sources}
    stubs = {file for pattern, file in seen.mapped if not _is_alias(pattern, file, packages, tops)}
    edges = {edge for edge in seen.edges if edge[1] not in stubs}
    watched = seen.loaded.union(*seen.edges)
    whole, own = _Graph(edges | written), _Graph(edges | {edge for edge in written if edge[0] not in watched})
    library = whole.reached({*tests, *sources}, without=seen.named)
    start = {*seen.named, *seen.loaded, *stubs, *(path for path in seen.mentioned if _top(path) not in tops)}
    reached = own.reached(start, without={*tests, *library} - seen.named)
    while above := {file for file in reached - seen.named - seen.loaded - library if whole.is_above(file, library)}:
        library |= whole.reached(above, without=seen.named)
    kept = {*tests, *sources, *(library - seen.named)}
    excluded = {name for file in kept if not is_protected(file) for name in module_names(file)}
    unprotected = (file for file in reached - kept if not is_protected(file))
    return tuple(sorted(file for file in unprotected if excluded.isdisjoint(module_names(file))))


def targets(request: str, folder: str, files: Collection[str]) -> list[str]:
    """The files that a requested path may mean, from a folder."""
    path = posixpath.normpath(posixpath.join(folder, request))
    path = "" if path == "." else path
    names = [
        path,
        *(path + ending for ending in _ENDINGS),
        *(posixpath.join(path, f"index{ending}") for ending in _ENDINGS),
    ]
    if _ENDING.search(path):
        names += [_ENDING.sub(ending, path) for ending in (".ts", ".tsx", ".cts", ".mts")]
    return [name for name in names if name in files]


class _Graph:
    """Which file imports which."""

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        self.edges: dict[str, set[str]] = defaultdict(set)
        for source, target in edges:
            self.edges[source].add(target)

    def reached(self, start: Iterable[str], *, without: Collection[str]) -> set[str]:
        """These files and all that they import, transitively, without passing through any in `without`."""
        start = set(start)
        found, waiting = set(start), list(start)
        while waiting:
            fresh = {
                target for target in self.edges.get(waiting.pop(), ()) if target not in found and target not in without
            }
            found |= fresh
            waiting += fresh
        return found

    def is_above(self, file: str, library: Collection[str]) -> bool:
        """Whether a file imports one of these from its own folder or below."""
        folder = posixpath.dirname(file)
        start = f"{folder}/" if folder else ""
        return any(target in library and target.startswith(start) for target in self.edges.get(file, ()))


def _is_alias(pattern: str, file: str, packages: Mapping[str, str], tops: Collection[str]) -> bool:
    """Whether a mapped file is a source and not a stub: it is mapped from the name of its own package, or it is mapped
    from a single name and in the same top folder as a file that gold changes."""
    folder = posixpath.dirname(file)
    while folder and folder not in packages:
        folder = posixpath.dirname(folder)
    name = packages.get(folder, "")
    if _NAME.fullmatch(pattern) and _top(file) in tops:
        return True
    try:
        return bool(name and re.search(pattern, name))
    except re.error:
        return pattern == name


def _top(path: str) -> str:
    """The first folder of a path; empty for a file in the root."""
    return path.partition("/")[0] if "/" in path else ""
