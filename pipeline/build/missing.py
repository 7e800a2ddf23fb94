"""What a log reports as missing: packages and files that tests could not load. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from pipeline.build.faults import END, LINE
from pipeline.build.infer.focus import package_of
from pipeline.build.infer.tree import Tree

#: the words of such a report, and how it names what is missing; a path contains a sign that other words do not
_UNFOUND = r"(?:Could not|Can't|Cannot|Unable to|Failed to) (?:resolve|load|locate|find)(?! any files)"
_KINDS = r"(?:import|module specifier|module|url|entry for package|path to module|package|type definition file for)"
_NAME = r"(?:@|\.{0,2}/)?[\w@$.~-][^'\"`\s:,()\n]*"
_PATH = r"(?:@|\.{0,2}/)[\w@$.~-][^'\"`\s:,()\n]*|[\w$.~-]+/[^'\"`\s:,()\n]*"
#: how runners and bundlers report what they could not load
_MISSING = re.compile(
    "|".join(
        (
            r"Cannot find (?:module|package|dependency)\s+['\"]([^'\"\n]+)['\"]",  # Stencil breaks such lines
            # Jest's `moduleNameMapper`: a path, or the first one of a list, counts in place of the name
            r"Could not locate module \S+ \(?mapped as:?\s+(?:\[\s*\")?([^\s\"),]+?)\.?(?=[\s\"),]|$)",
            rf"{_UNFOUND}(?: {_KINDS})? ['\"`]({_NAME})",
            rf"{_UNFOUND} {_KINDS} ({_NAME})",
            rf"{_UNFOUND} ({_PATH})",  # other words without quotation marks are those of a sentence
            r"failed to resolve \"extends\":\"([^\"\n]+)\"",  # of a tsconfig.json
            r"['\"]([^'\"\n]*/[^'\"\n]*)['\"] file does not exist",
            r"ENOENT: no such file or directory, \w+ ['\"]([^'\"\n]+)['\"]",
            r"Module not found: (?!Error: Can't)[^\n]*?['\"]([^'\"\n]+)['\"]",  # webpack's is among those above
            # how Jest reports what its configuration names
            r"Module ([\w@./-]+) in the \w+ option was not found",
            r"Preset ([\w@./-]+) not found(?:\.| relative to)",
            # how Karma reports what its configuration lists
            r"Pattern ['\"]([^'\"\n]+)['\"] does not match any file",
            r"404: /absolute(/[^\s?'\"]+\.(?:[cm]?js|css|json)\b)",
        )
    )
)
#: how Babel 6 and Jest report a part of their configuration by its short name, and how the package's name begins
_SHORT_NAMES = (
    (re.compile(r"Couldn't find preset \"([\w./@-]+)\" relative to directory"), "babel-preset-"),
    (re.compile(r"Unknown plugin \"([\w./@-]+)\" specified in"), "babel-plugin-"),
    (re.compile(r"Test environment ['\"]?([\w@./-]+?)['\"]? cannot be found"), "jest-environment-"),
)
#: how programs advise to install what is missing: `npm install --save-dev jest@27.0.3 jest-cli@27.4.5`. A word after
#: the first one is a package only if it has a version
_ADVICE = re.compile(
    r"(?:npm (?:install|i)|(?:yarn|pnpm) add) (?:--save-dev|--dev|-D)"
    r"( @?[\w./-]+(?:@[\w.^~-]+)?(?: @?[\w./-]+@[\w.^~-]+)*)"
)
#: how programs advise to run a script first: `Please run "yarn pre-test"`, on a line that says so
_TO_RUN = re.compile(r"(?:npm|pnpm|bun) run ([\w:.-]+)|(?:yarn|pnpm)(?: run)? ([\w:.-]+)")
_ADVISES = re.compile(r"\b(?:please|first|before|need|must|have to|try|forg[eo]t)", re.IGNORECASE)
#: how Web Test Runner lists the files of the repository that a page requested and did not get
_REQUESTS = re.compile(r"404 network requests:((?:\n\s*- \S+)+)")
#: how Karma names such a file, and Mocha a pattern of its configuration without a file; names of tests do not count
_FROM_FOLDER = re.compile(
    r"404: /base/(?P<request>[^\s?'\"]+\.(?:[cm]?js|css|json)\b)"
    r"|(?:No test files found:|Cannot find any files matching pattern) ['\"](?P<pattern>[^'\"\n]*\*[^'\"\n]*)"
)
#: how Node reports that code of the repository sought a file and got no path: the first frame outside of packages
_SOUGHT = re.compile(
    r"The \"paths?(?:\[\d+\])?\" argument must be of type string\. Received (?:type )?undefined"
    r"(?:[^\n]*\n){1,30}?\s+at (?:[^\n(]*\()?(?!node:|internal/|\S*node_modules/)([^\s():]+/[^\s():]+):\d+:\d+"
)
_BUILTIN = re.compile(
    r"^(?:node:|data:|https?:|virtual:|\0|undefined$"
    r"|(?:assert|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|domain"
    r"|events|fs|http|http2|https|inspector|module|net|os|path|perf_hooks|process|punycode|querystring|readline|repl"
    r"|stream|string_decoder|sys|timers|tls|trace_events|tty|url|util|v8|vm|wasi|worker_threads|zlib)(?:/\w+)?$)"
)


class Missing(NamedTuple):
    """`own` are packages of the repository, `files` its other files, `foreign` packages of a registry. `scripts` are
    those of the repository that the log advises to run."""

    own: tuple[str, ...]
    files: tuple[str, ...]
    foreign: tuple[str, ...]
    scripts: tuple[str, ...] = ()

    @property
    def can_be_made(self) -> bool:
        """Whether the repository itself generates some of it."""
        return bool(self.own or self.files or self.scripts)


def missing_from(
    log: str,
    packages: Collection[str],
    root: str = "/workspace/repo",
    folders: Collection[str] = (),
    scripts: Collection[str] = (),
) -> Missing:
    """What a log reports as missing, in its order and without repeats; `packages` are the repository's own names,
    `folders` those at its root, from which a bundler may resolve paths (`docs/src/menu`), and `scripts` those of its
    manifests."""
    text = "\n".join(line[:LINE] for line in log[-END:].splitlines())
    named = (next(filter(None, match.groups())) for match in _MISSING.finditer(text))
    specifiers = dict.fromkeys((*named, *_by_short_name(text), *_advised(text), *_requested(text), *_seeking(text)))
    own, paths, foreign = list[str](), list[str](), list[str]()
    for specifier in specifiers:
        inside = specifier.rpartition("/node_modules/")[2] if "/node_modules/" in specifier else ""
        package = package_of(inside or specifier)
        if _BUILTIN.match(specifier):
            continue
        is_own = package in packages
        from_root = not (inside or is_own) and "/" in specifier and specifier.partition("/")[0] in folders
        if inside or not (from_root or specifier.startswith((".", "/"))):
            if package:
                (own if is_own else foreign).append(package)
        else:
            paths.append(posixpath.normpath(specifier.removeprefix(f"{root}/")))
    to_run = [name for name in _to_run(text) if name in scripts]
    return Missing(*(tuple(dict.fromkeys(found)) for found in (own, paths, foreign, to_run)))


def _by_short_name(text: str) -> Iterator[str]:
    """The packages that a log names by short names; a name with a path or a scope is whole."""
    for pattern, start in _SHORT_NAMES:
        names = (match[1] for match in pattern.finditer(text))
        yield from (name if "/" in name or name.startswith(start) else f"{start}{name}" for name in names)


def _advised(text: str) -> Iterator[str]:
    """The packages that a program advises to install, without their versions."""
    for listed in _ADVICE.findall(text):
        yield from (name for word in listed.split() if (name := word[:1] + word[1:].partition("@")[0]))


def _to_run(text: str) -> Iterator[str]:
    """The scripts that a program advises to run, by their names."""
    for line in filter(_ADVISES.search, text.splitlines()):
        yield from (name for match in _TO_RUN.finditer(line) for name in match.groups() if name)


def _seeking(text: str) -> Iterator[str]:
    """The files of the repository whose code sought another file in vain: their package may have to make it."""
    yield from (path if path.startswith("/") else f"./{path}" for path in _SOUGHT.findall(text))


def _requested(text: str) -> Iterator[str]:
    """The files that pages or patterns requested and did not get, relative to the folder of the tests."""
    for block in _REQUESTS.findall(text):
        yield from (f"./{path}" for path in re.findall(r"- (\S+)", block))
    for match in _FROM_FOLDER.finditer(text):
        path = match["request"] or match["pattern"]
        yield path if path.startswith("/") else f"./{path}"


def own_folders(tree: Tree) -> set[str]:
    """The folders at the root of a repository."""
    return {path.partition("/")[0] for path in tree.paths if "/" in path}
