"""What a file that Node runs passes to the program that it starts, by its literals. Pure: the file's text, never run.

The command may be one literal (`exec("NODE_ENV=test mocha --recursive")`), or a literal with its words in a list after
it (`spawn("mocha", ["--recursive"])`). It is read up to what is known only when the file runs. Does not cover words
that are collected elsewhere in the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.build.infer.sources import Literal, literals
from pipeline.build.infer.words import commands, launched, program

#: what may be between the literals of one command: a sum, and lists
_SUM = re.compile(r"\s*\+\s*")
_LIST = re.compile(r"[\s,\[\]()]*(?:\.concat\([\s,\[\]()]*)?")
#: a list that goes on with something unknown
_GOES_ON = re.compile(r"\s*,\s*[^\s\])}]")
#: how a file loads a module, which is not a command, and how far before the module's name that begins
_LOADS, _BEFORE = re.compile(r"(?:\brequire\s*\(|\bfrom|\bimport\s*\(?)\s*$"), 40
#: programs that start the one after them
_STARTERS = frozenset({"node", "babel-node", "ts-node", "tsx", "nyc", "c8"})
#: what shows that several words are those of a command, not of a sentence
_SIGN = re.compile(r"[-/.*=]")
#: all words that a file is called with, and libraries that read them
_ALL_WORDS = re.compile(r"\bprocess\.argv\.slice\(\s*2\s*\)")
_READS_WORDS = re.compile(r"""["'](?:yargs|minimist|commander|meow|cac|mri|arg|yargs-parser|node:util)["']""")
#: a variable that a file sets, whatever it was before
_SET = re.compile(
    r"""\bprocess\.env(?:\.(\w+)|\[["'](\w+)["']\])\s*(?:\|\||\?\?)?=(?!=)\s*"""
    r"""(?:process\.env\.\w+\s*(?:\|\||\?\?)\s*)?["']([^"'\n]*)["']"""
)


def variables(source: str) -> dict[str, str]:
    """The variables that a source sets to known values."""
    return {name or quoted: value for name, quoted, value in _SET.findall(source) if (name or quoted) != "PATH"}


def hands_on(source: str) -> bool:
    """Whether a source takes all words that it is called with, and does not read them itself."""
    return bool(_ALL_WORDS.search(source)) and not _READS_WORDS.search(source)


def command(source: str, name: str) -> list[str]:
    """The words of the first command in a source that starts the program `name`; empty if there is none."""
    found = literals(source)
    named = (index for index, literal in enumerate(found) if name in literal.text)
    starts = (index for index in named if not _is_loaded(source, found[index]))
    return next(filter(None, (_from(source, found, index, name) for index in starts)), [])


def _is_loaded(source: str, literal: Literal) -> bool:
    return bool(_LOADS.search(source[max(0, literal.start - _BEFORE) : literal.start]))


def _from(source: str, found: Sequence[Literal], index: int, name: str) -> list[str]:
    """The words of the command that a literal begins; empty if it does not start the program."""
    text = found[index].text
    while index + 1 < len(found) and _SUM.fullmatch(source, found[index].end, found[index + 1].start):
        index += 1
        text += found[index].text
    known, unknown, _ = text.partition("${")
    is_cut = bool(unknown) or source[found[index].end :][:_BEFORE].lstrip().startswith("+")
    words = next((words for words in commands(_whole(known) if is_cut else known) if _starts(words, name)), [])
    if is_cut:
        return _closed(words)
    return words if not words or re.search(r"\s", text) else _with_list(source, found, index, words)


def _with_list(source: str, found: Sequence[Literal], index: int, words: Sequence[str]) -> list[str]:
    """The words of a command with those in the list after a literal."""
    listed = list(words)
    while index + 1 < len(found) and _LIST.fullmatch(source, found[index].end, found[index + 1].start):
        if "${" in found[index + 1].text:
            return _closed(listed)
        index += 1
        listed.append(found[index].text)
    return _closed(listed) if _GOES_ON.match(source, found[index].end) else listed


def _starts(words: Sequence[str], name: str) -> bool:
    """Whether a command starts the program, directly or by one that starts others."""
    own = [program(word) for word in launched(words)]
    is_started = own[:1] == [name] or bool(own) and own[0] in _STARTERS and name in own
    return is_started and (len(words) < 3 or any(map(_SIGN.search, words)))


def _whole(text: str) -> str:
    """A text without its last word, unless that one is complete."""
    return text if text[-1:].isspace() else " ".join(text.split()[:-1])


def _closed(words: Sequence[str]) -> list[str]:
    """The words without a last option whose value is unknown."""
    is_open = bool(words) and words[-1].startswith("-") and "=" not in words[-1]
    return list(words[:-1] if is_open else words)
