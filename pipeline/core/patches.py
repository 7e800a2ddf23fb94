"""Patches as text: their files, their parts, and which files a candidate must not decide.

The patterns of test files are the seed's (appendix 9.5), anchored at path segments. Applying patches is `core.runs`'.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

#: what an install needs to see of a tree
_MANIFEST = re.compile(
    r"""(?:^|/)(?:
        package\.json | package-lock\.json | npm-shrinkwrap\.json | yarn\.lock | pnpm-lock\.yaml | pnpm-workspace\.yaml
      | \.npmrc | \.yarnrc | \.yarnrc\.yml | \.pnpmfile\.c?js | lerna\.json
    )$ | ^\.yarn/(?:releases|plugins|patches)/ | ^patches/""",
    re.VERBOSE,
)
#: what decides how tests run, besides manifests and the tests themselves
_CONFIGURATION = re.compile(
    r"""(?:^|/)(?:
        \.pnp\.[cm]?js | \.nvmrc | \.node-version
      | (?:jest|vitest|vite|karma|mocha|playwright|babel)[.-][^/]*\.(?:[cm]?[jt]sx?|json)
      | \.(?:babelrc|swcrc|mocharc|browserslistrc)[^/]*
      | tsconfig[^/]*\.json
      | (?:jest|vitest|test)[-_.]set-?up\.[cm]?[jt]sx?
      | set-?up(?:[-_.]?(?:[Tt]ests?|[Ff]iles?|[Ee]nv|[Aa]fter-?[Ee]nv|[Jj]est|[Vv]itest))+\.[cm]?[jt]sx?
    )$ | ^(?:src/)?set-?up\.[cm]?[jt]sx?$""",
    re.VERBOSE,
)
#: folders whose every file belongs to the tools: package managers' releases, module mocks
_TOOL_FOLDERS = re.compile(r"(?:^|/)(?:\.yarn|__mocks__|\.git|node_modules)/")
_SECTION = re.compile(r"^(?=diff --git )", re.MULTILINE)
_MOVED = re.compile(r"^(?:rename|copy) to (.+)$", re.MULTILINE)
#: an escape in a quoted path; `"` and `\\` stand for themselves
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@cache
def patterns() -> dict[str, Any]:
    """The mining patterns, `patterns.toml`."""
    return tomllib.loads(files("pipeline.core").joinpath("patterns.toml").read_text(encoding="utf-8"))


@cache
def _test_file() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{row})" for row in patterns()["test_file"]["path"]), re.IGNORECASE)


def is_test_file(path: str) -> bool:
    """Whether a path is a test, a snapshot or a fixture of tests."""
    return bool(_test_file().search(path))


def is_manifest(path: str) -> bool:
    """Whether an install needs to see this file: a manifest, a lock file, a manager's settings or patches."""
    return bool(_MANIFEST.search(path)) and "node_modules" not in path.split("/")


def is_configuration(path: str) -> bool:
    """Whether a path is a manifest, or configuration or set-up of a test runner."""
    return bool(is_manifest(path) or _CONFIGURATION.search(path) or _TOOL_FOLDERS.search(path))


def is_protected(path: str) -> bool:
    """Whether a candidate must not decide this file: it is as gold has it when tests run."""
    return is_test_file(path) or is_configuration(path)


def sections(patch: str) -> Iterator[tuple[str, str]]:
    """Each file of a git patch by its new name, with its part of the text."""
    return ((_path(part), part) for part in _SECTION.split(patch) if part.startswith("diff --git "))


def select(patch: str, wanted: Callable[[str], bool]) -> str:
    """The part of a patch that touches the wanted files."""
    return "".join(text for path, text in sections(patch) if wanted(path))


def paths(patch: str) -> list[str]:
    """The files that a patch touches, in its order."""
    return [path for path, _ in sections(patch)]


def _path(section: str) -> str:
    """The header says `a/NAME b/NAME`, clear even with blanks in it; a file that moved has a line that says so."""
    if moved := _MOVED.search(section):
        return _unquote(moved[1])
    header = section.partition("\n")[0].removeprefix("diff --git ")
    return _unquote(header[len(header) // 2 + 1 :]).removeprefix("b/")


def _unquote(path: str) -> str:
    """Git quotes paths with control characters or quotes in C's manner."""
    if not path.startswith('"'):
        return path
    return _ESCAPE.sub(_unescape, path[1:-1].encode()).decode(errors="surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)
