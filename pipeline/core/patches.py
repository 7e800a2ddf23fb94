"""Patches as text: their files and their parts, and which files are tests.

`test-files.toml` says which files are tests; it is wider than the thesis's list (patterns-seed.toml; docs/mining.md).
Applying patches is in `execution`; files that a patch must not change are in `ecosystems.protection`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

_SECTION = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NEW_FILE = re.compile(r"^new file mode ", re.MULTILINE)
_MOVED = re.compile(r"^(?:rename|copy) to (.+?)\r?$", re.MULTILINE)
#: an escape in a quoted path; `"` and `\\` stand for themselves
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
#: a picture: as a baseline of screenshots it is not a test
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|bmp)$", re.IGNORECASE)
#: a bundler's configuration for tests, which is named like a test of it
_SETTINGS = re.compile(r"(?:^|/)(?:webpack|rollup|vite|babel|postcss|karma)[.-]conf(?:ig)?\.tests?\.\w+$")
#: a test file with code; one named like a test; one that only helps a test of this name; one in a folder of helpers, or
#: named like one
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|coffee)$", re.IGNORECASE)
_CALLED = re.compile(r"(?:[-_.](?:tests?|specs?|cy|e2e|pw|itest)|[a-z0-9](?:Tests?|Specs?))(?:\.[\w-]+)*\.\w+$")
_ASIDE = re.compile(
    r"\.(?:tests?|specs?)\.(?:util\w*|helpers?|mocks?|fixtures?|data|set-?up|stor(?:y|ies))\.\w+$", re.IGNORECASE
)
_HELPER = re.compile(
    r"(?:^|/)(?:_*(?:helpers?|fixtures?|mocks?|testfixtures)_*|support|page-?objects?|test-?data)/"
    r"|(?:^|/)(?:tests?[-_.]?)?(?:helpers?|set-?up|fixtures?|mocks?)(?:\.\w+)?\.\w+$"
    r"|(?:^|/)tests?[-_.]?util(?:s|ities)?\.\w+$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PathPatterns:
    """Whether a path is a test, or a snapshot, a helper or a fixture of tests, by these expressions."""

    rows: tuple[str, ...]

    def __call__(self, path: str) -> bool:
        return bool(self._pattern.search(path))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{row})" for row in self.rows), re.IGNORECASE)


def patterns() -> dict[str, Any]:
    """The mining patterns, `patterns.toml`."""
    return named_table("patterns.toml")


@cache
def named_table(name: str) -> dict[str, Any]:
    """One of the tables of patterns next to this module."""
    return tomllib.loads(files("pipeline.core").joinpath(name).read_text(encoding="utf-8"))


@cache
def shipped_tests() -> PathPatterns:
    """Our own patterns, which decide for every instance which files are tests."""
    return PathPatterns(tuple(named_table("test-files.toml")["test_file"]["path"]))


def is_test_file(path: str) -> bool:
    """Whether a path is a test, or a snapshot, a helper or a fixture of tests."""
    return shipped_tests()(path)


def is_runnable(path: str) -> bool:
    """Whether a runner runs a file as a test: a helper, fixture, mock or a bundler's configuration is not run."""
    is_code = is_test_file(path) and _CODE.search(path) and not (_SETTINGS.search(path) or _ASIDE.search(path))
    return bool(is_code and (_CALLED.search(path) or not _HELPER.search(path)))


def is_named_test(path: str) -> bool:
    """Whether a file calls itself a test by its name (`menu.test.js`), wherever it is."""
    return _CALLED.search(path) is not None


def is_picture(path: str) -> bool:
    """Whether a file is a picture by its name."""
    return bool(_PICTURE.search(path))


def sections(patch: str) -> Iterator[tuple[str, str]]:
    """Each file of a git patch by its new name, with its part of the text."""
    return ((_path(part), part) for part in _SECTION.split(patch) if part.startswith("diff --git "))


def select(patch: str, wanted: Callable[[str], bool]) -> str:
    """The part of a patch that touches the wanted files."""
    return "".join(text for path, text in sections(patch) if wanted(path))


def paths(patch: str) -> list[str]:
    """The files that a patch touches, in its order."""
    return [path for path, _ in sections(patch)]


def created(patch: str) -> dict[str, str]:
    """The texts of the files that a patch adds, by path."""
    added = ((path, text.partition("\n@@ ")[2]) for path, text in sections(patch) if _NEW_FILE.search(text))
    return {
        path: "".join(f"{line[1:]}\n" for line in body.split("\n")[1:] if line.startswith("+")) for path, body in added
    }


def diff_counts(patch: str) -> tuple[int, int]:
    """The lines that a patch adds and removes."""
    bodies = [text.partition("\n@@ ")[2] for _, text in sections(patch)]
    lines = [line[:1] for body in bodies for line in body.split("\n")[1:]]
    return lines.count("+"), lines.count("-")


def _path(section: str) -> str:
    """The new path: half of the header `a/NAME b/NAME`, even with blanks in it, or the line of a rename or copy.

    The prefixes can be others of one length (`i/` and `w/`), or missing; the lines can end in CR LF."""
    if moved := _MOVED.search(section):
        return _unquote(moved[1])
    header = section.partition("\n")[0].removeprefix("diff --git ").removesuffix("\r")
    half = len(header) // 2
    before, after = _unquote(header[:half]), _unquote(header[half + 1 :])
    return after if before == after else after.partition("/")[2] or after


def _unquote(path: str) -> str:
    """Undo git's quoting, in the style of C, of paths with control characters or quotes."""
    if not path.startswith('"'):
        return path
    return _ESCAPE.sub(_unescape, path[1:-1].encode()).decode(errors="surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)
