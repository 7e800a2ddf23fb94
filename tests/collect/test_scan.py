"""The fast scan finds what a plain loop over all patterns finds, in whatever text."""

from __future__ import annotations

import random
import re

import pytest

from pipeline.collect.evidence import shipped
from pipeline.collect.scan import Scanner, widen
from pipeline.core.patches import patterns

#: pieces of texts that nearly or really match, and the letters, blanks and borders where RE2 and Python differ
PIECES = [
    *("a11y fix", "accessibility", "screen reader support", "aria", "ARIA label for", "missing alt text", "focus-trap"),
    *("KEYBOARD\nnavigation", "tab order", "wcag 2.1", "role attribute missing", "keyboard trap", "screen_reader"),
    *("voiceover", "malaria", "#12", "fixes #3", "é", "ß", "☃", "_", "-", ".", "İ", "ı", "ſ", "\u212a", "arıa", "ARİA"),
    *("ſcreen reader ſupport", "\u212aeyboard trap", "\u00a0", "\x0b", "\x1c", "\x85", "\u2003", "\ud800", "\x00"),
    *("\r\n", "7", "\u0663"),
]


def naive(scanner: Scanner, text: str) -> list[tuple[str, int, str]]:
    """Every pattern on every text."""
    return [(p.pattern, match.start(), match[0]) for p in scanner.patterns for match in p.finditer(text)]


def found(scanner: Scanner, text: str) -> list[tuple[str, int, str]]:
    return [(match.re.pattern, match.start(), match[0]) for match in scanner.find(text)]


@pytest.mark.rule("exact-scan")
@pytest.mark.parametrize("seed", range(20))
def test_the_scan_finds_what_a_loop_finds(seed: int) -> None:
    """The fast way is a filter in front of the slow one: it may let too much through, and never too little."""
    chance = random.Random(seed)
    for _ in range(100):
        blanks = chance.choices(["", " ", "  ", "\n", "\u00a0", "\x0b", "\x1f", "\u2028", "-"], k=8)
        text = "".join(chance.choice(PIECES) + blank for blank in blanks)
        for scanner in shipped():
            assert found(scanner, text) == naive(scanner, text)


@pytest.mark.rule("exact-scan")
def test_every_letter_that_python_takes_for_another_is_found() -> None:
    """Ignoring case, Python takes four letters beyond ASCII for ASCII ones; no other, in all of Unicode."""
    scanner = Scanner([r"[a-z0-9_]"])
    alike = [letter for letter in map(chr, range(0x80, 0x110000)) if re.match("[a-z0-9_]", letter, re.IGNORECASE)]
    assert len(alike) == 4
    assert all(found(scanner, letter) == [("[a-z0-9_]", 0, letter)] for letter in alike)


@pytest.mark.rule("exact-scan")
def test_every_blank_and_digit_of_unicode_is_found() -> None:
    scanner = Scanner([r"a\sb", r"[\s:]c", r"\dx", r"\w!"])
    for character in map(chr, [*range(0xD800), *range(0xE000, 0x30000)]):
        text = f"a{character}b{character}c{character}x{character}!"
        assert bool(scanner.find(text)) == bool(naive(scanner, text)), hex(ord(character))


@pytest.mark.parametrize(
    "pattern", [r"(?<!x)aria", r"(a)\1", r"[^a]b", r"end$", r"é", r"\Bb", r"(?=look)", r"a++"], ids=repr
)
def test_what_the_filter_can_not_express_is_searched_for_all_the_same(pattern: str) -> None:
    scanner = Scanner(["nothing", pattern, "aria"])
    for text in ("aria", "xaria", "aa", "cb", "the end\n", "É", "abb", "look"):
        assert found(scanner, text) == naive(scanner, text)


@pytest.mark.parametrize(
    ("pattern", "wider"),
    [
        (r"\baria\b", "aria"),
        (r"a\sb", r"a[\s\x0b\x1c-\x1f\x{85}\p{Z}]b"),
        (r"[\s:]+", r"[\s\x0b\x1c-\x1f\x{85}\p{Z}:]+"),
        (r"\[b\]\\b", r"\[b\]\\b"),
        (r"2\.1", r"2\.1"),
    ],
)
def test_patterns_become_wider(pattern: str, wider: str) -> None:
    assert widen(pattern) == wider


def test_no_shipped_pattern_goes_the_slow_way() -> None:
    """A pattern that the filter can not take would be searched for in every text: the scan would be slow, silently."""
    rows = [*patterns()["a11y"]["text"], *patterns()["a11y"]["label"], *patterns()["issue_ref"]["text"]]
    assert [row for row in rows if Scanner([row]).unfiltered] == []


def test_nothing_to_look_for_finds_nothing() -> None:
    assert Scanner([]).find("text") == []
    assert Scanner(["a"]).find("") == []
