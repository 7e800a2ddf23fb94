"""Which tests a runner's configuration names, as far as it does so in literal texts. Nothing is run.

A configuration that computes a pattern, gives it twice, or has projects with patterns of their own may name any test.
Does not cover presets, defaults, and what a later statement sets (`config.testMatch = ...`).
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pipeline.build.infer import globs, sources
from pipeline.ecosystems.runner_folder import Runner

#: runner -> field of its configuration -> what it says: the root of all paths; the folders of tests; globs, globs from
#: any folder, or regular expressions that name tests (+) or leave them out (-)
_FIELDS: dict[str, dict[str, str]] = {
    "jest": {
        "rootDir": "root", "roots": "folders", "testMatch": "+glob", "testRegex": "+expression",
        "testPathIgnorePatterns": "-expression",
    },
    "vitest": {
        "root": "root", "test.root": "root", "test.dir": "folders", "test.include": "+glob", "test.exclude": "-glob",
    },
    "playwright": {"testDir": "folders", "testMatch": "+anywhere", "testIgnore": "-anywhere"},
}  # fmt: skip
#: options that replace such fields
REPLACING = frozenset({
    "--rootDir", "--roots", "--projects", "--testMatch", "--testRegex", "--testPathPattern", "--testPathPatterns",
    "--testPathIgnorePatterns", "--root", "-r", "--dir", "--workspace",
})  # fmt: skip
#: runners whose root is their working directory, wherever the configuration is
FROM_CALL = frozenset({"vitest"})
_PROJECTS = re.compile(r"(?:^|\.)(?:projects|workspace)(?:\.|$)")
_ROOT = "<rootDir>"
#: repeated groups with repetitions, on which Python might spend any time
_NESTED = re.compile(r"[*+}][^(]*\)[*+{]")
#: an escaped letter that means itself in JavaScript
_ESCAPED = re.compile(r"(\\\\)|\\([ACE-OQRT-VX-Zaeg-jlmoqyz])")

_TEXT = r"""(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
_ITEM = rf"(?:(?!`[^`]*\$){_TEXT}|/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*)"
#: a literal value or a list of such; a list may contain the items of another one (`...defaults`)
_VALUE = re.compile(rf"\s*(?:\[\s*(?:(?:{_ITEM}|\.\.\.[\w.]+)\s*(?:,\s*|(?=\])))*\]|{_ITEM})(?=\s*(?:[,;)}}\]]|\n|$))")
_TOKEN = re.compile(
    rf"(?<![\w$.])(?P<quote>[\"']?)(?P<key>[\w$]+)(?P=quote)\s*:|{_TEXT}|(?P<opened>[\[{{(])|(?P<closed>[\]}})])"
)

#: whether a path matches, as a true or false value
Matches = Callable[[str], object]


class Patterns(NamedTuple):
    """The `folders` of tests, and what names tests or leaves them out, for paths that begin with `/`."""

    folders: tuple[str, ...] = ()
    named: tuple[Matches, ...] = ()
    left_out: tuple[Matches, ...] = ()

    def may_run(self, test: str) -> bool:
        """Whether nothing leaves out a test."""
        path = f"/{test}"
        is_inside = not self.folders or any(path.startswith(folder) for folder in self.folders)
        is_named = not self.named or any(matches(path) for matches in self.named)
        return is_inside and is_named and not any(matches(path) for matches in self.left_out)

    def names(self, test: str) -> bool:
        """Whether a pattern names a test, and nothing leaves it out."""
        return bool(self.named) and self.may_run(test)


def read(runner: Runner, folder: str, text: str) -> Patterns:
    """The patterns in the text of a runner's configuration in a folder; none if they are not plainly literal."""
    try:
        return _read(runner, folder, sources.without_remarks(text))
    except (ValueError, re.error):
        return Patterns()


def _read(runner: Runner, folder: str, text: str) -> Patterns:
    """Raises ValueError for patterns that are not literal, and `re.error` for those that Python cannot read."""
    said = list(_said(runner, text))
    roots = [_inside(folder, item) for meaning, item in said if meaning == "root"]
    if len(roots) > 1:
        raise ValueError(roots)
    root = roots[0] if roots else folder
    folders = [_inside(root, item) for meaning, item in said if meaning == "folders"] or roots
    patterns = [_pattern(root, meaning, item) for meaning, item in said if meaning[0] in "+-"]
    return Patterns(
        tuple(f"/{path}/" if path else "/" for path in folders),
        tuple(matches for sign, matches in patterns if sign == "+"),
        tuple(matches for sign, matches in patterns if sign == "-"),
    )


def _said(runner: Runner, text: str) -> Iterator[tuple[str, str]]:
    """What each field says, and the items of its value, as they are written. Raises ValueError if one is not literal or
    occurs twice, or if projects have their own."""
    fields, known = list(_fields(text)), _FIELDS.get(runner.name, {})
    counts = Counter(path for path, _ in fields)
    for path, start in fields:
        is_project = bool(_PROJECTS.search(path))
        if runner.aggregate and is_project and [_text(item) for item in _items(text, start)] != [_ROOT]:
            raise ValueError(path)
        if counts[path] > 1 and path in known or is_project and path.rpartition(".")[2] in known:
            raise ValueError(path)
        if meaning := known.get(path):
            yield from ((meaning, item) for item in _items(text, start, may_spread=meaning[0] == "-"))


def _fields(text: str) -> Iterator[tuple[str, int]]:
    """The fields of a configuration, each as the path to it (`test.include`), and where its value begins."""
    opened, key, end = list[str](), "", 0
    for match in _TOKEN.finditer(text):
        if match["key"]:
            key, end = match["key"], match.end()
            yield ".".join(filter(None, (*opened, key))), end
        elif match["opened"]:
            opened.append("" if text[end : match.start()].strip() else key)
            key = ""
        elif match["closed"]:
            del opened[-1:]


def _items(text: str, start: int, may_spread: bool = False) -> list[str]:
    """The items of a literal value, as they are written. Raises ValueError for another value."""
    value = _VALUE.match(text, start)
    if value is None or "..." in re.sub(_ITEM, "", value[0]) and not may_spread:
        raise ValueError(text[start : start + 40])
    return re.findall(_ITEM, value[0])


def _text(item: str) -> str:
    """The text of an item in quotes; another one as it is written."""
    return next((literal.text for literal in sources.literals(item)), item)


def _inside(root: str, item: str) -> str:
    """A folder that an item names, as a path in the repository; empty for its root."""
    path = posixpath.normpath(posixpath.join(root, _text(item).replace(_ROOT, "./")))
    return "" if path == "." else path


def _pattern(root: str, meaning: str, item: str) -> tuple[str, Matches]:
    """Whether an item names tests (+) or leaves them out (-), and which paths it matches."""
    sign, kind = meaning[0], meaning[1:]
    if item.startswith("/"):
        expression, _, flags = item[1:].rpartition("/")
        return sign, _expression(f"(?i:{expression})" if "i" in flags else expression)
    text = _text(item)
    if kind == "expression":
        return sign, _expression(text.replace(_ROOT, f"^{re.escape(f'/{root}')}" if root else "^"))
    sign, text = ("-", text[1:]) if text.startswith("!") and sign == "+" else (sign, text)
    start = "**" if kind == "anywhere" and not text.startswith("**") else root
    path = posixpath.normpath(posixpath.join(start, text.replace(f"{_ROOT}/", "")))
    return sign, globs.matcher(f"/{path}")


def _expression(expression: str) -> Matches:
    """Raises ValueError or `re.error` for an expression that is not to be used."""
    if _NESTED.search(expression):
        raise ValueError(expression)
    return re.compile(_ESCAPED.sub(r"\1\2", expression)).search
