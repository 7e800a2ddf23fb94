"""Files that a test command loads beside the tests, and that set these up: by hooks for all tests, or by globals.

A command names folders and patterns (`mocha test --recursive`), but we pass only the tests of a candidate to its
runner. If a runner runs all files in one process, such as Mocha, the tests may need other files of the command.
Does not cover files that a shell selects (`$(find ...)`).
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence

from pipeline.build.infer import sources, uses
from pipeline.build.infer.tree import Tree, above
from pipeline.build.infer.uses import Use
from pipeline.build.infer.words import is_unknown
from pipeline.ecosystems import versions

#: runner -> hooks outside of all groups, which are for the tests of all files
_HOOKS = {
    "mocha": re.compile(
        r"^(?:(?:before|after)(?:Each)?\s*\(|(?:suiteS|s)etup\s*\(\s*(?:async|function|\()"
        r"|(?:suiteT|t)eardown\s*\(\s*(?:async|function|\())",
        re.MULTILINE,
    )
}
#: runner -> its option for such a file, and the versions that have it; others take such files like tests
_OPTIONS = {"mocha": ("--file", ">=5.2.0")}
#: a configuration that names files: by a key, or in a line of its own (`mocha.opts`)
_SELECTS = re.compile(r"\bspec\b[\"']?\s*:|^[\w.@*][\w.@{},!()?+-]*[/*][\w./*@{},!()?+-]*$", re.MULTILINE)
_CODE = re.compile(r"\.[cm]?[jt]sx?$")
#: names of files that set up tests
_NAMED = re.compile(r"(?:^|[._-])(?:set-?up|bootstrap|globals?|hooks?|init|prepare)(?:[._-]|$)", re.IGNORECASE)


def words(
    tree: Tree, use: Use, tests: Sequence[str], version: str, configuration: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that set up these tests and that the call does not pass by an option, as paths from the folder of the
    use: with the runner's option, or else to be selected like tests."""
    passed = {posixpath.join(use.folder, posixpath.normpath(word)) for word in uses.arguments(use)[0]}
    found = [path for path in _files(tree, use, tests, configuration) if path not in passed]
    files = [posixpath.relpath(path, use.folder or ".") for path in found]
    option, since = _OPTIONS.get(use.runner, ("", ""))
    if version and not versions.satisfies(versions.full(version), since):
        return (), tuple(files)
    return tuple(word for file in files for word in (option, file)), ()


def _files(tree: Tree, use: Use, tests: Sequence[str], configuration: str) -> list[str]:
    """The files that set up these tests, in the order of the command's words; without any, those with hooks for all
    tests in the folders above."""
    named, start = uses.arguments(use)[1], f"{use.folder}/" if use.folder else ""
    if use.runner not in _HOOKS or use.wrapper or any(map(is_unknown, use.call.words)):
        return []
    inside = tree.matching(lambda path: path.startswith(start) and _CODE.search(path))
    inside.sort(key=lambda path: path.count("/"))
    own = [word for word in named if any(uses.names(use.folder, word, test) for test in tests)]
    if not named and _SELECTS.search(_settings(tree, use, configuration)):
        return []  # the runner loads the files of its configuration in any case
    if not named:
        found = [path for path in inside if _is_above(path, tests) and _has_hooks(tree, use, path)]
    else:
        by_word = {word: [path for path in inside if own and uses.names(use.folder, word, path)] for word in named}
        found = [path for word in named for path in _of_word(tree, use, by_word[word], tests, word in own)]
    return [path for path in dict.fromkeys(found) if path not in tests and not _tests(tree, path)]


def _of_word(tree: Tree, use: Use, paths: Sequence[str], tests: Sequence[str], is_own: bool) -> list[str]:
    """Of the files that a word names, those that may set up these tests. If it names some of the tests as well, these
    are the files with hooks or with a name that says so; else all files, unless there are tests among them."""
    if not is_own:
        return [] if any(_tests(tree, path) for path in paths) else list(paths)
    named = {path for path in paths if _NAMED.search(posixpath.basename(path))}
    hooks = {path for path in paths if _is_above(path, tests) and _has_hooks(tree, use, path)}
    return [path for path in paths if path in named | hooks]


def _settings(tree: Tree, use: Use, configuration: str) -> str:
    """The text of the runner's configuration, a path from the folder of the use."""
    if posixpath.basename(configuration) == "package.json" and (manifest := tree.manifest(use.folder)):
        return json.dumps(manifest.data.get(use.runner))
    return tree.text(posixpath.normpath(posixpath.join(use.folder, configuration))) if configuration else ""


def _is_above(path: str, tests: Sequence[str]) -> bool:
    """Whether a file is next to one of these tests or in a folder above it, except in the root."""
    folder = posixpath.dirname(path)
    return bool(folder) and any(folder in above(test) for test in tests)


def _has_hooks(tree: Tree, use: Use, path: str) -> bool:
    return _HOOKS[use.runner].search(_code(tree, path)) is not None


def _tests(tree: Tree, path: str) -> bool:
    return uses.defines_tests(_code(tree, path))


def _code(tree: Tree, path: str) -> str:
    return sources.without_remarks(tree.text(path))
