"""From what a runner was seen to read to the files that it decides by: a closure over the repository's own files.

Pure. What the runner names itself (configuration, set-up, transformers, resolvers, environments, reporters) is in it,
and so is what its processes load and what all these ask for, step by step. Sources under test are not, though set-up
files import them and configurations point at them: what tests reach without the runner's help, what gold changes, and
what stands above such files, an index that asks for what lies below it. Does not cover a helper of the set-up that
itself asks for sources below its own folder: it is taken for such an index.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.ecosystems.protection import is_protected, places

#: what a program adds to the name of a file that it is asked for
_ENDINGS = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".json", ".vue", ".svelte", ".es6", ".coffee")
_ENDING = re.compile(r"\.[cm]?jsx?$")


#: a pattern that fits one name alone
_NAME = re.compile(r"\^[@\w](?:[\w@/-]|\\?\.|\\/)*\$|[@\w][\w@/.-]*")


@dataclass(frozen=True)
class Seen:
    """What was seen of a runner, by paths of the repository.

    `named` are files that its resolved configuration or its command names, `loaded` those that its processes load on
    their own account, `mentioned` those that stand in a configuration that only its text tells of, `mapped` what is
    handed out for names that fit a pattern (of JavaScript), and `edges` who asks for which file.
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
    """The files by which the runner decides and that are not protected by their names, in order.

    `written` is who asks for which file by a relative path in its text: of the runner's files it tells where nothing
    was seen of them. `tests` are the files that are run, `sources` those that gold changes, `packages` are the
    repository's own by their folders.
    """
    written, tops = frozenset(written), {_top(path) for path in sources}
    stubs = {file for pattern, file in seen.mapped if not _is_alias(pattern, file, packages, tops)}
    edges = {edge for edge in seen.edges if edge[1] not in stubs}
    watched = seen.loaded.union(*seen.edges)
    everything, own = _Graph(edges | written), _Graph(edges | {edge for edge in written if edge[0] not in watched})
    library = everything.reached({*tests, *sources}, without=seen.named)
    start = {*seen.named, *seen.loaded, *stubs, *(path for path in seen.mentioned if _top(path) not in tops)}
    found = own.reached(start, without={*tests, *library} - seen.named)
    while above := {file for file in found - seen.named - seen.loaded - library if everything.is_above(file, library)}:
        library |= everything.reached(above, without=seen.named)
    kept = {*tests, *sources, *(library - seen.named)}
    taken = {place for file in kept if not is_protected(file) for place in places(file)}
    return tuple(sorted(file for file in found - kept if not is_protected(file) and taken.isdisjoint(places(file))))


def targets(asked: str, folder: str, files: Collection[str]) -> list[str]:
    """The files that may be meant by a path as programs ask for it, from a folder."""
    path = posixpath.normpath(posixpath.join(folder, asked))
    path = "" if path == "." else path
    names = [path, *(path + one for one in _ENDINGS), *(posixpath.join(path, f"index{one}") for one in _ENDINGS)]
    if _ENDING.search(path):
        names += [_ENDING.sub(one, path) for one in (".ts", ".tsx", ".cts", ".mts")]
    return [name for name in names if name in files]


class _Graph:
    """Who asks for which file."""

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        self.edges: dict[str, set[str]] = defaultdict(set)
        for source, target in edges:
            self.edges[source].add(target)

    def reached(self, start: Iterable[str], *, without: Collection[str]) -> set[str]:
        """The files that these ask for, step by step, themselves included; never those `without` and behind them."""
        start = set(start)
        found, waiting = set(start), list(start)
        while waiting:
            new = {one for one in self.edges.get(waiting.pop(), ()) if one not in found and one not in without}
            found |= new
            waiting += new
        return found

    def is_above(self, file: str, library: Collection[str]) -> bool:
        """Whether a file asks for one of these in its own folder or below."""
        folder = posixpath.dirname(file)
        start = f"{folder}/" if folder else ""
        return any(one in library and one.startswith(start) for one in self.edges.get(file, ()))


def _is_alias(pattern: str, file: str, packages: Mapping[str, str], tops: Collection[str]) -> bool:
    """Whether a file that is handed out is a source, and no stub: for the name of the package in which it lies, or for
    one name alone, beside what gold changes."""
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
    """The first folder of a path; empty for a file of the root."""
    return path.partition("/")[0] if "/" in path else ""
