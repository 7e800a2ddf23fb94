"""Helpers that several cases share: files beside a case's folder, which its test loads by a relative path.

Reads the scripts of a case; writes nothing. Only finds what `require` and `import` name by a text that begins with a
dot, and nothing outside the folder of cases.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

SCRIPTS = (".js", ".cjs", ".mjs")
_LOADED = re.compile(rb"""(?:\brequire\s*\(|\bimport\s*\(?|\bfrom)\s*(["'`])(?P<name>\.[^"'`\n]*)\1""")
#: what Node appends to a name
_ENDINGS = ("", ".js", ".json", "/index.js")
#: where cases and their helpers are in what a runner gets, so that none of them can be in the place of `test.js`
_INNER = "cases"


def helpers_of(case: Path, root: Path, files: Iterable[Path]) -> dict[str, Path]:
    """The files that a case's files load, or that these load, by path in `root`, the folder of cases. Those in the
    case's own folder are not among them."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        loaded = set(_loaded(path)) if path.suffix in SCRIPTS else set()
        new = {one for one in loaded - found if root in one.parents and case not in one.parents}
        found |= new
        waiting += new
    return {str(path.relative_to(root)): path for path in sorted(found)}


def _loaded(path: Path) -> Iterator[Path]:
    for match in _LOADED.finditer(path.read_bytes()):
        name = match["name"].decode("utf-8", "replace")
        places = [Path(os.path.normpath(path.parent / (name + ending))) for ending in _ENDINGS]
        yield from [place for place in places if place.is_file() and place == place.resolve()][:1]


def nested(case: str, files: Mapping[str, bytes], helpers: Mapping[str, Path], test: str) -> dict[str, bytes]:
    """The files of the case with this folder, and its helpers, in the same places to each other, and a test that loads
    the case's."""
    own = {f"{_INNER}/{case}/{name}": data for name, data in files.items()}
    beside = {f"{_INNER}/{name}": path.read_bytes() for name, path in helpers.items()}
    stub = f"module.exports = require({json.dumps(f'./{_INNER}/{case}/{test}')});\n"
    return {**own, **beside, test: stub.encode()}
