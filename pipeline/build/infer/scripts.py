"""What the scripts of a package.json call when they test: through other scripts, launchers, and shell files.

A script is read as words, never run. Does not cover shell control flow: a shell file is searched for the programs'
names.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pipeline.build.infer.tree import Manifest, Tree
from pipeline.ecosystems.manager_folder import all_managers

#: the scripts that are read, in this order
NAMES = ("test", "test:unit", "unit", "test-unit", "test:ci", "test:jest", "jest", "test:vitest", "vitest", "test:ct")
#: names of other scripts that may test
_TESTS = re.compile(r"test|spec|unit|jest|vitest|mocha|karma|jasmine")
#: programs that call scripts by name, beside the package managers
_CALLERS = ("run-s", "run-p", "npm-run-all")
#: programs that load something into Node and start another program: the options of Node that do the same. The first
#: package that the manifest depends on decides; the last one needs none
_LOADERS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "babel-node": (("@babel/node", ("--require", "@babel/register")), ("", ("--require", "babel-register"))),
    "ts-node": (("", ("--require", "ts-node/register")),),
    "ts-node-esm": (("", ("--loader", "ts-node/esm")),),
    "tsx": (("", ("--import", "tsx")),),
}
#: how scripts call the folder of programs
_PROGRAMS = re.compile(r"\$\((?:npm|yarn|pnpm) bin\)|`(?:npm|yarn|pnpm) bin`")
_MAKEFILE = "Makefile"
_OPERATORS = re.compile(r"^[&|;()]+$")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class Call(NamedTuple):
    """One program as a script calls it: its name (`jest`), the words after it, variables, options of Node."""

    program: str
    words: tuple[str, ...]
    env: dict[str, str]
    node: tuple[str, ...]
    evidence: str


def calls(
    tree: Tree, folder: str, manifest: Manifest, programs: Sequence[str], script_names: Sequence[str] = NAMES
) -> Iterator[Call]:
    """The calls of these programs by the scripts that test, in order."""
    scripts = manifest.table("scripts")
    for name in script_names:
        if name in scripts:
            for call in _of_script(tree, folder, scripts, name, programs, f"{manifest.path}: scripts.{name}", ()):
                yield call._replace(node=_loaded(call.node, manifest))


def names(manifest: Manifest) -> list[str]:
    """All scripts that may test, the likeliest first, without those that npm runs by itself or that watch."""
    others = [name for name in manifest.table("scripts") if _TESTS.search(name) and name not in NAMES]
    follows = re.compile(r"^(?:pre|post)|watch|update|debug|coverage|e2e|visual|lint|typ(?:es|ings|e-?[Cc]heck)").search
    return [
        *(name for name in NAMES if name in manifest.table("scripts")),
        *(name for name in others if not follows(name)),
    ]


def _of_script(
    tree: Tree,
    folder: str,
    scripts: Mapping[str, str],
    name: str,
    programs: Sequence[str],
    trail: str,
    seen: tuple[str, ...],
) -> Iterator[Call]:
    for words in commands(scripts[name]):
        index = next((i for i, word in enumerate(words) if program(word) in programs and program(word) != "node"), None)
        calling = next((i for i, word in enumerate(words) if word in (*all_managers(), *_CALLERS)), len(words))
        named = (callee for word in words[calling:] for callee in _callees(word, scripts))
        callees = [callee for callee in named if callee not in (*seen, name)]
        if callees:
            for callee in callees:
                further = f"{trail} -> {callee}"
                yield from _of_script(tree, folder, scripts, callee, programs, further, (*seen, name))
        elif "node" in words and "--test" in words and "node" in programs:
            yield _call(words, words.index("node"), trail)
        elif index is not None:
            yield _call(words, index, trail)
        elif target := _target(tree, folder, words, (*seen, name)):
            recipes = {**scripts, target: _recipe(tree, folder, target)}
            yield from _of_script(tree, folder, recipes, target, programs, f"{trail} -> {target}", (*seen, name))
        else:
            yield from _of_file(tree, folder, words, programs, trail)


def _target(tree: Tree, folder: str, words: Sequence[str], seen: Sequence[str]) -> str:
    """`make` and the target that these words make, the first one by default; empty for other words."""
    called = [word for word in words if not _ASSIGNMENT.fullmatch(word) and not word.startswith("-")]
    if called[:1] != ["make"]:
        return ""
    first = re.search(r"^(?!\.)([\w.-]+)\s*:(?!=)", tree.text(posixpath.join(folder, _MAKEFILE)), re.MULTILINE)
    target = f"make {called[1]}" if called[1:] else f"make {first[1]}" if first else ""
    return target if target not in seen else ""


def _recipe(tree: Tree, folder: str, target: str) -> str:
    """What makes a target, as a script: its prerequisites, then its commands. Variables are left out, since most name
    the folder of programs."""
    name = re.escape(target.removeprefix("make "))
    text = re.sub(r"\\\n\s*", " ", tree.text(posixpath.join(folder, _MAKEFILE)))
    rule = re.search(rf"^{name}\s*:(?!=)([^\n#]*)((?:\n\t[^\n]*|\n[ \t]*(?=\n))*)", text, re.MULTILINE)
    if not rule:
        return ""
    commands = [line.strip().lstrip("@-+ ") for line in rule[2].splitlines() if line.strip()]
    plain = (re.sub(r"\$[({]\w+[)}]/?", "", line.replace("$(MAKE)", "make")) for line in commands)
    return " && ".join([*(f"make {word}" for word in rule[1].split()), *plain])


def _callees(word: str, scripts: Mapping[str, str]) -> list[str]:
    """The scripts that a word calls: the one of this name, or those of a pattern (`test:*`, without further colons)."""
    if word in scripts or "*" not in word:
        return [word] if word in scripts else []
    pattern = re.escape(word).replace(r"\*\*", ".*").replace(r"\*", "[^:]*")
    return [name for name in scripts if re.fullmatch(pattern, name)]


def commands(script: str) -> Iterator[list[str]]:
    """The commands of a script, each as its words, up to the first that cannot be read."""
    reader = shlex.shlex(_PROGRAMS.sub("node_modules/.bin", script), posix=True, punctuation_chars=True)
    reader.whitespace_split, reader.commenters = True, ""
    words: list[str] = []
    try:
        for word in reader:
            if not _OPERATORS.match(word):
                words.append(word)
            elif words:
                yield words
                words = []
    except ValueError:  # a quote that is never closed
        return
    if words:
        yield words


def program(word: str) -> str:
    """The name of the program that a word may stand for: `./node_modules/.bin/jest`, `mocha/bin/_mocha`, `jest.js`."""
    return re.sub(r"\.(?:[cm]?js|cmd)$", "", posixpath.basename(word)).removeprefix("_")


def _call(words: Sequence[str], index: int, trail: str) -> Call:
    before = words[:index]
    env = {match[1]: match[2] for match in map(_ASSIGNMENT.fullmatch, before) if match}
    node = before[before.index("node") + 1 :] if "node" in before else []
    loader = next((index for index, word in enumerate(before) if program(word) in _LOADERS), None)
    if loader is not None:
        node = [program(before[loader])]
        projects = [value for word, value in pairwise(before[loader:]) if word in ("--project", "-P")]
        env |= {"TS_NODE_PROJECT": projects[0]} if projects else {}
    return Call(program(words[index]), tuple(words[index + 1 :]), env, tuple(node), f"{trail}: {' '.join(words)}")


def _loaded(node: tuple[str, ...], manifest: Manifest) -> tuple[str, ...]:
    """The options of Node, with those that do what a loading program does."""
    rows = _LOADERS.get(node[0], ()) if node else ()
    return next((options for package, options in rows if not package or package in manifest.dependencies), node)


def _of_file(tree: Tree, folder: str, words: Sequence[str], programs: Sequence[str], trail: str) -> Iterator[Call]:
    """The call of a program that a shell file names; its words are unknown."""
    for word in words:
        path = posixpath.normpath(posixpath.join(folder, word))
        if path in tree.paths and posixpath.splitext(path)[1] in ("", ".sh"):
            named = re.findall(rf"(?<![\w./-])({'|'.join(map(re.escape, programs))})(?![\w-])", tree.text(path))
            found = [name for name in named if name != "node"]
            if found:
                yield Call(found[0], (), {}, (), f"{trail}: {path} names {found[0]}")
