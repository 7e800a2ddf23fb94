"""Removing secrets from what is stored, in any encoding: a program that has a secret can print it in many ways.

It finds plain text, reversed text, hex, base64 (at any offset, both alphabets), base32, escaped letters (URL, mail,
JSON, HTML, C), lists of numbers, UTF-16, and each of these in pieces: across lines, across a diff's lines, as
concatenated quoted parts. It does not find what was compressed, encrypted or encoded twice. Keys therefore expire with
their gateway.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import lcm
from typing import NamedTuple

HIDDEN = b"***"
#: letters; shorter secrets can occur in any text and are only looked for as they are
SHORTEST = 8
#: what may be between two letters of a split secret: line ends with a diff's mark, quotes with a concatenation operator
_GAP = rb"""(?:\x00|\\?\r?\n[ \t]*[+\-> ]?|["'`][ \t]{0,8}[+.,&|]?[ \t]{0,8}["'`]|[ \t]){0,6}?"""
#: the characters of a gap, and the letters of base64 that have two forms
_APART = b"\0\\\r\n\t+-> \"'`.,&|:/_"
#: signs of letters written by their number, and of bytes written separately
_ESCAPES = re.compile(rb"[%=][2-7][\da-fA-F]|\\x|\\u00|\\u\{|&#|\\[01]\d\d")
_BYTES, _NEVER = map(re.compile, (rb"0x", rb"(?!)"))
#: what may be between two numbers of a list
_BETWEEN = rb"[\s,;|\[\]\"']{1,6}"
#: how a byte is written as a number
_BASES = ("d", "o", "b")
_LINES = re.compile(rb"(\r?\n[+\- ]?)")


def conceal(data: bytes, secrets: Iterable[str]) -> bytes:
    """The data without these secrets. Line breaks are kept, so a patch remains a patch."""
    for secret in filter(None, secrets):
        if len(secret) < SHORTEST:
            data = data.replace(secret.encode(), HIDDEN)
            continue
        together = data.translate(None, _APART).lower()
        for form in _forms(secret):
            if form.begins in together or form.marks.search(data):
                data = form.pattern.sub(_hidden, data)
    return data


def conceal_text(text: str, secrets: Iterable[str]) -> str:
    """The same for text."""
    return conceal(text.encode(errors="surrogateescape"), secrets).decode(errors="surrogateescape")


def _hidden(match: re.Match[bytes]) -> bytes:
    parts = _LINES.split(match[0])
    return b"".join(part if number % 2 else HIDDEN for number, part in enumerate(parts) if part)


class _Form(NamedTuple):
    """A way of writing a secret. Data can contain it only if they contain its beginning (`begins`, without gaps and in
    lower case) or one of the `marks` of escaped letters, which is quick to check."""

    pattern: re.Pattern[bytes]
    begins: bytes
    marks: re.Pattern[bytes]


@lru_cache(maxsize=1024)
def _forms(secret: str) -> tuple[_Form, ...]:
    plain = secret.encode()
    return (
        *(_form(text, _escaped, _ESCAPES) for text in (plain, plain[::-1])),
        *(_form(text, _digits, _BYTES) for text in (plain.hex().encode(), plain[::-1].hex().encode())),
        *(
            _form(text, _base64_letter, _NEVER)
            for written in (plain, plain[::-1], secret.encode("utf-16-le"))
            for text in _encoded(written, base64.b64encode, 6)
        ),
        *(_form(text, _digits, _NEVER) for text in _encoded(plain, base64.b32encode, 5)),
        *(_numbers(plain, base) for base in _BASES),
    )


def _numbers(text: bytes, base: str) -> _Form:
    """A list of the bytes, each as a number with any zeros before it."""
    numbers = [format(code, base).encode() for code in text]
    return _Form(re.compile(_BETWEEN.join(rb"\b0*" + number for number in numbers)), numbers[0], _NEVER)


def _form(text: bytes, letter: Callable[[int], bytes], marks: re.Pattern[bytes]) -> _Form:
    begins = text.translate(None, _APART).lower()[:5]
    return _Form(re.compile(_GAP.join(map(letter, text))), begins, marks)


def _escaped(code: int) -> bytes:
    """A letter as it is, or escaped by its number."""
    forms = (
        rf"(?:[%=]|\\{{1,4}}x|\\{{1,4}}u00)(?i:{code:02x})",
        rf"\\{{1,4}}u\{{0*(?i:{code:x})\}}",
        rf"&#0*{code};|&#[xX]0*(?i:{code:x});",
        rf"\\{{1,2}}{code:03o}",
    )
    return b"(?:%s|%s)" % (re.escape(bytes([code])), "|".join(forms).encode())


def _digits(code: int) -> bytes:
    """A hex digit in either case; bytes may be separated."""
    return rb"[:,]?(?:0x)?[%s%s]" % (bytes([code]).lower(), bytes([code]).upper())


def _base64_letter(code: int) -> bytes:
    """A letter of base64 in either alphabet."""
    return {ord("+"): rb"[+-]", ord("/"): rb"[/_]"}.get(code, re.escape(bytes([code])))


def _encoded(plain: bytes, encode: Callable[[bytes], bytes], bits: int) -> Iterator[bytes]:
    """The letters, of so many bits each, that depend on the secret alone, for each offset at which it may begin."""
    for before in range(lcm(8, bits) // 8):
        encoded = encode(b"\0" * before + plain)
        yield encoded[-(-before * 8 // bits) : (before + len(plain)) * 8 // bits]
