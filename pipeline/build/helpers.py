"""Files of a gold patch that only tests import: helpers, data, stories. They count as tests, whatever their names.

Reads the clone at gold's commit. A file imports what its string literals name: relative paths are resolved, aliased
paths must match at the end, and in sources the last part is enough, so that a file stays in gold if in doubt. An entry
(`index`, or a file that package.json names), a file that a test is named after, and the only file of a gold patch also
stay in gold. Of files that no program loads, only fixtures are looked at: pages and styles may be what is repaired.
Does not cover files that tests find without naming them.
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

#: files that programs load by name
_LOADED = re.compile(r"\.(?:[cm]?[jt]sx?|json|vue|svelte)$")
#: files of any kind that by their names are data of tests
_FIXTURE = re.compile(r"(?:^|/)_*(?:fixtures?|testdata|test[-_]data)_*/|\.fixture\.")
_DECLARED = re.compile(r"\.d\.[cm]?ts$")
#: what precedes the name of a file that is loaded
_LOADING = re.compile(r"(?:\bfrom|\bimport|\brequire|\bmock|\brequireActual|\bimportActual)\s*\(?\s*$")
#: files that are searched for names
_SEARCHED = ("*.js", "*.jsx", "*.ts", "*.tsx", "*.mjs", "*.cjs", "*.mts", "*.cts", "*.vue", "*.svelte", "*.json")
_STRING = re.compile(r"""(["'`])([^"'`\s]+)\1""")
#: characters of the longest line that people write; longer ones are of bundles, which import nothing by name
_LONGEST = 2000
#: files that show components to people: they neither test nor ship them
_STORY = re.compile(r"\.(?:stories|story)(?=\.\w+$)")
_SHOWS = re.compile(r"(?:^|/)(?:stories|\.storybook|storybook)/|\.(?:stories|story)\.")


def split(candidate: Candidate, names: Collection[str]) -> Candidate:
    """The candidate with these files moved from its gold patch to its test patch; together both are unchanged."""
    if not names:
        return candidate
    kept = select(candidate.fix_patch, lambda path: path not in names)
    moved = select(candidate.fix_patch, names.__contains__)
    return candidate.model_copy(update={"fix_patch": kept, "test_patch": candidate.test_patch + moved})


def only_tests_import(clone: Clone, candidate: Candidate) -> tuple[str, ...]:
    """The files of the gold patch that tests import and nothing else does, sorted.

    None for a foreign benchmark, whose authors chose the split, and none if the clone lacks gold's commit.
    """
    if candidate.origin or not has_commit(clone, candidate.merge_sha):
        return ()
    changed = [path for path in paths(candidate.fix_patch) if not is_protected(path)]
    code = [path for path in changed if _LOADED.search(path)]
    wanted = {path for path in changed if path in code or _FIXTURE.search(path)}
    wanted = {path for path in wanted if not _DECLARED.search(path) and _stem(path) != "index"}
    loaded_by = importers(clone, candidate.merge_sha, wanted) if wanted else {}
    helpers: set[str] = set()
    while new := {path for path in wanted - helpers if _is_helper(path, loaded_by[path], helpers)}:
        helpers |= new
    sources = [path for path in code if path not in helpers and not _SHOWS.search(path)]
    return tuple(sorted(helpers)) if sources else ()


def _is_helper(path: str, importers: Collection[str], helpers: Collection[str]) -> bool:
    """Whether tests import a file, directly or through helpers, and nothing else does; and no test or story is named
    after it, since the file would then be its subject."""
    relevant = [importer for importer in importers if not _SHOWS.search(importer) or importer in helpers]
    is_subject = not _SHOWS.search(path) and any(_subject(importer) == _subject(path) for importer in relevant)
    return (
        bool(relevant)
        and not is_subject
        and all(is_test_file(importer) or importer in helpers for importer in relevant)
    )


def _subject(path: str) -> str:
    """The name that a source shares with its tests and stories."""
    return named_like(_STORY.sub("", path))


def importers(clone: Clone, sha: str, wanted: Collection[str]) -> Mapping[str, set[str]]:
    """File -> the other files that name it. Raises UnsafeTree."""
    found: dict[str, set[str]] = {path: set() for path in wanted}
    tree = frozenset(list_files(clone, sha))
    for importer, text, loads in _strings(clone, sha, {_stem(path) for path in wanted}):
        for path in wanted:
            if path != importer and _names(importer, text, path, tree, loads):
                found[path].add(importer)
    return found


def _strings(clone: Clone, sha: str, stems: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    """Every string in a line that holds one of these words: its file, its text, and whether it is loaded."""
    words = [part for stem in sorted(stems) for part in ("-e", stem)]
    try:
        output = clone.git.grep("-I", "-F", "-z", *words, sha, "--", *_SEARCHED)
    except GitCommandError:  # no line matches
        return
    for line in output.split("\n"):
        location, _, text = line.partition("\0")
        for match in _STRING.finditer(text) if len(text) <= _LONGEST else ():
            yield location.partition(":")[2], match[2], bool(_LOADING.search(text, 0, match.start()))


def _names(importer: str, text: str, path: str, tree: Collection[str], loads: bool) -> bool:
    """Whether a string in a file names a path. In a test only strings that are loaded count, or end in an extension:
    others may be any word."""
    if _stem(text) != _stem(path):
        return False
    if text.startswith("."):
        resolved = posixpath.normpath(posixpath.join(posixpath.dirname(importer), text))
        return resolved == path if resolved in tree else _bare(resolved) == _bare(path)
    if not is_test_file(importer):
        return True
    return (loads or not _LOADED.search(path)) and _bare(path).endswith(
        f"/{_bare(text).partition('/')[2] or _bare(text)}"
    )


def _stem(path: str) -> str:
    return posixpath.basename(_bare(path))


def _bare(path: str) -> str:
    """A path without the extension that imports leave out."""
    return _LOADED.sub("", path)
