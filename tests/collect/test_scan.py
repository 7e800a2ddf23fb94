"""The fast scan finds what a plain loop over all patterns finds, in any text."""

from __future__ import annotations

import random
import re

import pytest

from pipeline.collect.patterns import shipped
from pipeline.collect.scan import Scanner, widen
from pipeline.core.patches import patterns

#: pieces of texts that match or nearly match, with the letters, spaces and boundaries where RE2 and Python differ
PIECES = [
    *("a11y fix", "accessibility", "screen reader support", "aria", "ARIA label for", "missing alt text", "focus-trap"),
    *("KEYBOARD\nnavigation", "tab order", "wcag 2.1", "role attribute missing", "keyboard trap", "screen_reader"),
    *("voiceover", "malaria", "#12", "fixes #3", "é", "ß", "☃", "_", "-", ".", "İ", "ı", "ſ", "\u212a", "arıa", "ARİA"),
    *("ſcreen reader ſupport", "\u212aeyboard trap", "\u00a0", "\x0b", "\x1c", "\x85", "\u2003", "\ud800", "\x00"),
    *("\r\n", "7", "\u0663"),
]


Matches = list[tuple[int, str, int, str]]


def naive(scanner: Scanner, *texts: str) -> Matches:
    """Every pattern on every text."""
    found = ((index, m) for index, text in enumerate(texts) for p in scanner.patterns for m in p.finditer(text))
    return [(index, match.re.pattern, match.start(), match[0]) for index, match in found]


def found(scanner: Scanner, *texts: str) -> Matches:
    return [(index, match.re.pattern, match.start(), match[0]) for index, match in scanner.find(texts)]


@pytest.mark.rule("exact-scan")
@pytest.mark.parametrize("seed", range(20))
def test_the_scan_finds_the_same_as_a_naive_loop(seed: int) -> None:
    """The fast scan filters for the slow one: it may let too much through, but never too little."""
    chance = random.Random(seed)
    for _ in range(100):
        blanks = chance.choices(["", " ", "  ", "\n", "\u00a0", "\x0b", "\x1f", "\u2028", "-"], k=8)
        text = "".join(chance.choice(PIECES) + blank for blank in blanks)
        cuts = sorted(chance.choices(range(len(text) + 1), k=3))
        texts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
        for scanner in shipped()[:4]:
            assert found(scanner, text) == naive(scanner, text)
            assert found(scanner, *texts) == naive(scanner, *texts)


@pytest.mark.rule("exact-scan")
@pytest.mark.parametrize("seed", range(20))
def test_crossing_overlapping_and_adjacent_matches_are_all_found(seed: int) -> None:
    """Many texts are searched as one: short words from a small alphabet meet in every way, especially at boundaries."""
    chance = random.Random(seed)
    pieces = ["a", "b+", "i", "s?", ".", r"\s+", r"\w*?", r"\b", r"\W", r"[\sa]{2}", "^", "(b|ab)", r"(?:a|\s+b)"]
    for _ in range(100):
        scanner = Scanner(["".join(chance.choices(pieces, k=size)) for size in (1, 2, 3, 4)])
        texts = ["".join(chance.choices("aabb  .?\n\x0b\x1cé☃ıſ\u2003", k=chance.randrange(6))) for _ in range(20)]
        assert found(scanner, *texts) == naive(scanner, *texts)


@pytest.mark.rule("exact-scan")
def test_a_huge_text_among_small_ones_is_scanned() -> None:
    texts = ["", "focus", "x" * 10**5 + " aria é " + "y" * 10**5, " trap", "focus trap", ""]
    for scanner in shipped()[:4]:
        assert found(scanner, *texts) == naive(scanner, *texts)


@pytest.mark.rule("exact-scan")
def test_every_letter_that_python_equates_with_another_is_found() -> None:
    """Ignoring case, Python equates four non-ASCII letters with ASCII ones, and no other in all of Unicode."""
    scanner = Scanner([r"[a-z0-9_]"])
    alike = [letter for letter in map(chr, range(0x80, 0x110000)) if re.match("[a-z0-9_]", letter, re.IGNORECASE)]
    assert len(alike) == 4
    assert found(scanner, *alike) == [(index, "[a-z0-9_]", 0, letter) for index, letter in enumerate(alike)]


@pytest.mark.rule("exact-scan")
def test_every_blank_and_digit_of_unicode_is_found() -> None:
    scanner = Scanner([r"a\sb", r"[\s:]c", r"\dx", r"\w!"])
    texts = [f"a{c}b{c}c{c}x{c}!" for c in map(chr, range(0x20000))]
    assert found(scanner, *texts) == naive(scanner, *texts)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<!x)aria",
        r"(a)\1",
        r"[^a]b",
        r"end$",
        r"é",
        r"\xe9",
        r"\Bb",
        r"(?=look)",
        r"a++",
        r"a{,2}b",
        r"[]\s]b",
        r"x*",
    ],
    ids=repr,
)
def test_patterns_that_the_filter_cannot_express_are_searched_one_by_one(pattern: str) -> None:
    scanner = Scanner(["nothing", pattern, "aria"])
    texts = ["aria", "xaria", "aa", "cb", "the end\n", "É", "abb", "look", "", "]b", "\x85b"]
    assert scanner.unfiltered == {1}
    assert found(scanner, *texts) == naive(scanner, *texts)


@pytest.mark.parametrize(
    ("pattern", "wider"),
    [
        (r"\baria\b", "aria"),
        (r"^aria|\Aaria|[a^]\^", r"aria|aria|[a^]\^"),
        (r"a\sb", r"a[\s\x0b\x1c-\x1f\x85\xa0?]b"),
        (r"[\s:]+", r"[\s\x0b\x1c-\x1f\x85\xa0?:]+"),
        (r"\[b\]\\b", r"\[b\]\\b"),
        (r"2\.1", r"2\.1"),
    ],
)
def test_patterns_become_wider(pattern: str, wider: str) -> None:
    assert widen(pattern) == wider


def test_every_shipped_pattern_can_be_filtered() -> None:
    """A pattern that the filter cannot handle would be searched for in every text, and the scan would silently be
    slow."""
    rows = [*patterns()["a11y"]["text"], *patterns()["a11y"]["label"], *patterns()["issue_ref"]["text"]]
    assert [row for row in rows if Scanner([row]).unfiltered] == []


def test_no_patterns_or_no_text_give_no_matches() -> None:
    assert found(Scanner([]), "text") == found(Scanner(["a"]), "") == found(Scanner(["a"])) == []
