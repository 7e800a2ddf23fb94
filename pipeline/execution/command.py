"""From an environment to the command that runs its tests: the words of `test` with their placeholders filled in.

`{entry}` is the runner's own file, `{report}` the file that it writes, `{reporter}` a reporter of ours, `{cache}` the
runner's cache, `{files}` the selected tests. Reads and writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from pipeline.core.records import Environment


def argv(environment: Environment, values: Mapping[str, str], files: Sequence[str] | None) -> list[str]:
    """The command for these files (paths from the root), or for all tests (None)."""
    return [fill(word, values) for word in _words(environment, files)]


def variables(environment: Environment, values: Mapping[str, str]) -> dict[str, str]:
    """The variables of the tests."""
    return {name: fill(value, values) for name, value in environment.test_env.items()}


def fill(word: str, values: Mapping[str, str]) -> str:
    """Fill in the placeholders; other braces stay."""
    for name, replacement in values.items():
        word = word.replace(f"{{{name}}}", replacement)
    return word


def preload(path: str) -> str:
    """The part of NODE_OPTIONS that preloads a file. Node 8 rejects `=`, and Node before 12 does not know quotes."""
    return f"--require {json.dumps(path) if ' ' in path else path}"


def inside(folder: str, files: Sequence[str]) -> list[str]:
    """The files below a folder, as they are called there."""
    start = f"{folder}/" if folder else ""
    return [file.removeprefix(start) for file in files if file.startswith(start)]


def _words(environment: Environment, files: Sequence[str] | None) -> Iterator[str]:
    chosen = environment.everything if files is None else environment.selection
    for word in environment.test:
        yield from _expanded(chosen, inside(environment.folder, files or ())) if word == "{files}" else (word,)


def _expanded(words: Sequence[str], files: Sequence[str]) -> Iterator[str]:
    for word in words:
        yield from files if word == "{files}" else (word,)
