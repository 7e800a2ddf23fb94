"""Modules that nyc, which measures coverage, loads into the processes that it starts: tests may be compiled by them.

Reads nyc's words (`nyc -i esm mocha`) and its configuration. Does not cover a configuration that is a program.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pipeline.build.infer import documents
from pipeline.build.infer.tree import Tree
from pipeline.build.infer.words import program

_PROGRAM = "nyc"
_OPTIONS = ("--require", "-i")
#: its configuration files, the first of which counts; their field in package.json
_CONFIGURATIONS = (".nycrc", ".nycrc.json", ".nycrc.yml", ".nycrc.yaml")
_FIELD = "require"


def options(tree: Tree, folder: str, before: Sequence[str]) -> list[str]:
    """The options of Node that load the same modules into what is started after these words; none without nyc."""
    start = next((at for at, word in enumerate(before) if program(word) == _PROGRAM), None)
    modules = [] if start is None else [*_named(before[start + 1 :]), *_configured(tree, folder)]
    return [word for module in dict.fromkeys(modules) for word in ("--require", module)]


def _named(words: Sequence[str]) -> Iterator[str]:
    for word, following in pairwise((*words, "")):
        option, is_whole, value = word.partition("=")
        if option in _OPTIONS:
            yield value if is_whole else following


def _configured(tree: Tree, folder: str) -> list[str]:
    manifest = tree.manifest(folder)
    paths = (posixpath.join(folder, name) for name in _CONFIGURATIONS)
    texts = (documents.load(tree.text(path)) for path in paths if path in tree.paths)
    found: Any = next(texts, manifest.data.get(_PROGRAM) if manifest else None)
    value = found.get(_FIELD) if isinstance(found, dict) else None
    return [item for item in ([value] if isinstance(value, str) else value or []) if isinstance(item, str)]
