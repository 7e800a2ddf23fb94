"""Values, words and lines that replace others (always the same ones for a text), and the file with replacements."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import AnyStr, NamedTuple

#: escapes in a literal, which are kept intact
_ESCAPE = re.compile(r"\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)|&\w+;|%[sdifjoOp#]", re.DOTALL)
#: shorter words occur in others by chance
_LONG = 5
#: a role in a selector
_ROLE = re.compile(r"""(?<=role=["'])[a-z]+(?=["'])""")


#: groups of values that nothing is likely to have, and so are not plausible in each other's place
_DRAWN = ("rare", "words")
#: a word in a text
_WORD = re.compile(r"[A-Za-z]{2,}")


class Pool(NamedTuple):
    """What false values are drawn from, by a `key` that no patch can know: `roles` and `words` that the repository does
    not mention. Without them, all rare roles, and letters."""

    key: str = ""
    roles: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


BY_LETTERS = Pool()


class Falsified(NamedTuple):
    """A file with false expectations, and the number of expectations at gold's lines: all, those with a value that can
    be changed, and those that can only be negated. `telling` are the tests (`group > title`) whose failure prints the
    false and the true value and nothing else, so that all code with the true value fails with the same message. `tests`
    are all tests with false expectations (for a file of snapshots, their keys); None if it may be any test. `nested`
    are those that may pass without reaching theirs; None if it may be any test."""

    text: str
    assertions: int = 0
    by_value: int = 0
    by_negation: int = 0
    telling: frozenset[str] = frozenset()
    tests: frozenset[str] | None = frozenset()
    nested: frozenset[str] | None = frozenset()


def word(text: str, exact: bool, pool: Pool = BY_LETTERS) -> str:
    """Another text, with a word of the pool in place of one of its words. Unless the comparison is `exact`, a text
    without words that is so short that another one may match by chance becomes longer, and so does a number, since a
    page may contain the next one; a role becomes another valid one that no page has, so that code that finds an element
    for any role finds one for it, too."""
    if not has_letters(text):
        return f"{text}q"
    if not exact and text in tokens()["role"]:
        return _rare(text, pool)
    if not exact and (role := _ROLE.search(text)):
        return text[: role.start()] + _rare(role[0], pool) + text[role.end() :]
    if other := _reworded(text, pool):
        return other
    if exact:
        return altered(text)
    return altered(text, str.isalpha) if len(text) >= _LONG and _has(text, str.isalpha) else text + _tail(text)


def _rare(role: str, pool: Pool) -> str:
    return _choice((pool.roles or tokens()["rare"]) - {role}, pool.key + role)


def _reworded(text: str, pool: Pool) -> str:
    """The text with another word in place of one of its words; empty if it has none."""
    escaped = {index for escape in _ESCAPE.finditer(text) for index in range(*escape.span())}
    found = [one for one in _WORD.finditer(text) if escaped.isdisjoint(range(*one.span()))]
    if not found or not pool.words:
        return ""
    own = found[_number(pool.key + text) % len(found)]
    other = _choice(pool.words - {own[0].lower()}, pool.key + own[0])
    other = other.upper() if own[0].isupper() else other.capitalize() if own[0][0].isupper() else other
    return text[: own.start()] + other + text[own.end() :]


@cache
def tokens() -> Mapping[str, frozenset[str]]:
    """Values that are plausible in each other's place, by kind."""
    table = tomllib.loads(files(__package__).joinpath("tokens.toml").read_text())
    return {name: frozenset(group.split()) for name, group in table.items()}


def plausible(text: str, texts: Collection[str], key: str = "") -> str:
    """Another plausible value: of the same kind, else from the same file; empty if there is none."""
    if text in ("true", "false"):
        return "false" if text == "true" else "true"
    for name, group in tokens().items():
        if text in group and name not in _DRAWN:
            return _choice(group - {text}, key + text)
    others = {candidate for candidate in texts if candidate != text and _form(candidate) == _form(text)}
    return _choice(others, key + text)


def _choice(several: Collection[str], text: str) -> str:
    """One of several, always the same one for a text."""
    return sorted(several)[_number(text) % len(several)] if several else ""


def _form(text: str) -> tuple[bool, ...]:
    """The shape of a text: texts of the same shape can be mistaken for each other."""
    return " " in text, "-" in text, "." in text, text[:1].isupper(), text.isalpha()


def false_line(text: str) -> str:
    """A line of a snapshot with another value: another role or the like if it has one, else another letter."""
    for value in re.finditer(r'(?<=")[a-z]+(?=\\?")', text):
        if replacement := plausible(value[0], ()):
            return text[: value.start()] + replacement + text[value.end() :]
    return altered(text)


def altered(text: str, is_letter: Callable[[str], bool] = str.isalnum) -> str:
    """The text with one letter or digit changed, always the same one."""
    letters, number = list(_letter_offsets(text, is_letter)), _number(text)
    index = letters[number % len(letters)]
    return text[:index] + _next(text[index], number // 97) + text[index + 1 :]


def has_letters(text: str) -> bool:
    return _has(text, str.isalnum)


def _has(text: str, is_letter: Callable[[str], bool]) -> bool:
    return next(_letter_offsets(text, is_letter), None) is not None


def _letter_offsets(text: str, is_letter: Callable[[str], bool]) -> Iterator[int]:
    """The offsets of such letters outside escapes."""
    escaped = {index for escape in _ESCAPE.finditer(text) for index in range(*escape.span())}
    return (n for n, letter in enumerate(text) if letter.isascii() and is_letter(letter) and n not in escaped)


def _next(letter: str, number: int) -> str:
    """Another letter of the same kind."""
    first, size = ("0", 10) if letter.isdigit() else ("a", 26) if letter.islower() else ("A", 26)
    return chr((ord(letter) - ord(first) + 1 + number % (size - 1)) % size + ord(first))


def _tail(text: str) -> str:
    number = _number(text)
    return "".join(chr(ord("a") + number // 26**power % 26) for power in range(4))


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big")


def pattern(true: str, pool: Pool = BY_LETTERS) -> str:
    """A regular expression that nothing on the page matches, including what the true one matches."""
    if re.fullmatch(r"[\w ,.-]{5,}", true) and _has(true, str.isalpha):
        return _reworded(true, pool) or altered(true, str.isalpha)
    return f"(?:{true}){_tail(true)}"


def lettered(text: str, start: int, end: int, lines: Collection[int]) -> Iterator[tuple[int, int, str]]:
    """Changes of one letter between two offsets, one on each of these lines that has letters."""
    number = text.count("\n", 0, start) + 1
    for line in text[start:end].split("\n"):
        if number in lines and has_letters(line):
            yield start, start + len(line), false_line(line)
        start, number = start + len(line) + 1, number + 1


def letter(text: str, lines: Collection[int]) -> tuple[int, int, str] | None:
    """The change of a letter on the last of these lines that has letters."""
    return next(iter([*lettered(text, 0, len(text), lines)][-1:]), None)


def replaced(text: AnyStr, changes: Iterable[tuple[int, int, AnyStr]]) -> AnyStr:
    """The text after these changes, each from one offset to another."""
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text
