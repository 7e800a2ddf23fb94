"""Files of a gold patch that only tests import: helpers, data, stories. They belong to the tests, whatever their names.

Reads the clone at gold's commit. A file imports what its string literals name: relative paths are resolved, for aliased
paths the end must match, and for sources the last part is enough, so that a file stays in gold if in doubt. The same
holds for an entry (`index`, or a file that package.json names), a file that a test is named after, and the only file of
a gold patch. Does not cover files that tests find without naming them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

from git import GitCommandError

from pipeline.core.git import Clone, has_commit, list_files
from pipeline.core.patches import is_test_file, paths, select
from pipeline.core.records import Candidate
from pipeline.ecosystems.protection import is_protected
from pipeline.execution.scope import named_like

#: what programs load by its name
_LOADED = re.compile(r"\.(?:[cm]?[jt]sx?|json|vue|svelte)$")
_DECLARED = re.compile(r"\.d\.[cm]?ts$")
#: what stands before the name of a file that is loaded
_LOADING = re.compile(r"(?:\bfrom|\bimport|\brequire|\bmock|\brequireActual|\bimportActual)\s*\(?\s*$")
#: where names are looked for
_SEARCHED = ("*.js", "*.jsx", "*.ts", "*.tsx", "*.mjs", "*.cjs", "*.mts", "*.cts", "*.vue", "*.svelte", "*.json")
_STRING = re.compile(r"""(["'`])([^"'`\s]+)\1""")
#: what shows components to people: it neither tests nor ships them
_STORY = re.compile(r"\.(?:stories|story)(?=\.\w+$)")
_SHOWS = re.compile(r"(?:^|/)(?:stories|\.storybook|storybook)/|\.(?:stories|story)\.")


def split(candidate: Candidate, names: Collection[str]) -> Candidate:
    """The candidate with these files of its gold patch in its test patch: both together are what they were."""
    if not names:
        return candidate
    kept = select(candidate.fix_patch, lambda path: path not in names)
    moved = select(candidate.fix_patch, names.__contains__)
    return candidate.model_copy(update={"fix_patch": kept, "test_patch": candidate.test_patch + moved})


def only_tests_import(clone: Clone, candidate: Candidate) -> tuple[str, ...]:
    """The files of the gold patch that are imported by tests, and by nothing else, in order of their names.

    None of a foreign benchmark's: its split is its makers' own; and none where the clone lacks gold's commit.
    """
    if candidate.origin or not has_commit(clone, candidate.merge_sha):
        return ()
    code = [path for path in paths(candidate.fix_patch) if _LOADED.search(path) and not is_protected(path)]
    wanted = {path for path in code if not _DECLARED.search(path) and _stem(path) != "index"}
    importers = _importers(clone, candidate.merge_sha, wanted) if wanted else {}
    found: set[str] = set()
    while more := {path for path in wanted - found if _is_helper(path, importers[path], found)}:
        found |= more
    sources = [path for path in code if path not in found and not _SHOWS.search(path)]
    return tuple(sorted(found)) if sources else ()


def _is_helper(path: str, importers: Collection[str], found: Collection[str]) -> bool:
    """Whether tests import a file, directly or through helpers, and nothing else does; and no test or story is called
    after it: that would be about it."""
    others = [one for one in importers if not _SHOWS.search(one) or one in found]
    about = not _SHOWS.search(path) and any(_called(one) == _called(path) for one in others)
    return bool(others) and not about and all(is_test_file(one) or one in found for one in others)


def _called(path: str) -> str:
    """What a test or a story is called after, and what a source is called."""
    return named_like(_STORY.sub("", path))


def _importers(clone: Clone, sha: str, wanted: Collection[str]) -> Mapping[str, set[str]]:
    """Each of the files with those that name it, itself aside."""
    found: dict[str, set[str]] = {path: set() for path in wanted}
    there = frozenset(list_files(clone, sha))
    for importer, said, loads in _strings(clone, sha, {_stem(path) for path in wanted}):
        for path in wanted:
            if path != importer and _names(importer, said, path, there, loads):
                found[path].add(importer)
    return found


def _strings(clone: Clone, sha: str, stems: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    """Every string in a line that holds one of these words: its file, what it says, and whether that is loaded."""
    words = [part for stem in sorted(stems) for part in ("-e", stem)]
    try:
        told = clone.git.grep("-I", "-F", "-z", *words, sha, "--", *_SEARCHED)
    except GitCommandError:  # there is none
        return
    for line in told.split("\n"):
        place, _, text = line.partition("\0")
        for found in _STRING.finditer(text):
            yield place.partition(":")[2], found[2], bool(_LOADING.search(text, 0, found.start()))


def _names(importer: str, said: str, path: str, there: Collection[str], loads: bool) -> bool:
    """Whether a string in a file names a path. What a test does not load may be any word."""
    if _stem(said) != _stem(path):
        return False
    if said.startswith("."):
        resolved = posixpath.normpath(posixpath.join(posixpath.dirname(importer), said))
        return resolved == path if resolved in there else _bare(resolved) == _bare(path)
    if not is_test_file(importer):
        return True
    return loads and _bare(path).endswith(f"/{_bare(said).partition('/')[2] or _bare(said)}")


def _stem(path: str) -> str:
    return posixpath.basename(_bare(path))


def _bare(path: str) -> str:
    """A path without the ending that programs leave out."""
    return _LOADED.sub("", path)
