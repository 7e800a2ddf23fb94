"""The gate: what a page must contain to be about its case, from the prompt and the case's good examples.

Reads `gate.toml`, the names of elements and roles; writes nothing. Looking for it is the engine's work.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

#: classes and ids that a prompt names: `a `trigger` class`, `an id of "menu"`
_NAMED = (
    re.compile(r"[`\"'](?P<name>[A-Za-z][\w-]*)[`\"']\s+(?P<kind>class|id)\b"),
    re.compile(r"\b(?P<kind>class|id)(?:\s+(?:of|named|called))?\s+[`\"'](?P<name>[A-Za-z][\w-]*)[`\"']"),
)
_SIGN = {"class": ".", "id": "#"}
_TABLES: dict[str, Any] = tomllib.loads((Path(__file__).parent / "gate.toml").read_text(encoding="utf-8"))


def _table(kind: str) -> dict[str, set[str]]:
    """Name -> what shows that it is there."""
    rows = [(name, row["shown"].split()) for row in _TABLES[kind] for name in row["names"].split()]
    return {name: {one for known, shown in rows if known == name for one in shown} for name, _ in rows}


LANGUAGES = {name: {f":lang({code})"} for name, code in _TABLES["languages"].items()}
NAMES, USUAL = _table("names") | LANGUAGES, _table("usual")
#: tags and roles that say nothing about a page
COMMON = frozenset(
    re.findall(
        r"\S+",
        """a article aside b body br code div em h1 h2 h3 h4 h5 h6 head header hr html i link main meta nav noscript p
        section script small span strong style template title footer [role=banner] [role=contentinfo] [role=heading]
        [role=link] [role=main] [role=navigation] [role=none] [role=paragraph] [role=presentation]""",
    )
)
_OF_ELEMENTS = re.compile(r"[a-z][a-z0-9-]*|\[role=[\w-]+\]")
#: a prompt with this many words needs two of them on a page
MANY = 4
#: letters of the shortest words and stems that say something
_SHORTEST = 4
_WORD = re.compile(r"[^\W\d_]{4,}")
#: an ending before which a letter is doubled: shopping
_DOUBLED = re.compile(r"(?<=\w{3})([bdgmnprt])\1(?:ing|ed)$")
#: names of elements may be shorter: tab, nav
_SHORT_WORD = re.compile(r"[^\W\d_]+")
#: endings of names in the plural, and of those in the singular
_PLURALS = (("ies", "y"), ("es", ""), ("s", ""))
#: text in scripts that do not separate words: Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Korean syllables
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
#: words of prompts that say nothing about the case
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """about accessible also and appear appears application are aria assistive attribute basic beautiful button
        class click clicked clicking code component container content create css default demonstrate demonstrates design
        document each element elements every example examples file focus focused following for from full generate given
        has have hero home hover html include includes including inline javascript keyboard landing layout make markup
        modern must name named need needs number only other page pages please produce responsive role roles screen
        section sections semantic several should show shows simple single standalone style text than that the their them
        then there they this three two use user users uses using wcag web website when where which whole widget widgets
        with without work works wrap write your""",
    )
)
#: attributes that name or describe something
_NAMING = frozenset(
    re.findall(
        r"\S+",
        """alt aria-description aria-label aria-roledescription aria-valuetext label placeholder srcdoc title value""",
    )
)


class Gate(NamedTuple):
    """What is asked of a page: all `selectors`; without any, one of the `names` (selectors, too), one of the `words` or
    two of the `pairs`. `lacking` are the numbers of the good examples that have nothing, or too little, of what the
    prompt mentions: for them, less is asked."""

    asks: dict[str, list[str]]
    lacking: tuple[int, ...] = ()


def asking(**given: Collection[str]) -> dict[str, list[str]]:
    """What is asked of a page; by default, only that it is not empty."""
    return {kind: sorted(given.get(kind, ())) for kind in ("selectors", "names", "words", "pairs")}


def gate_of(prompt: str, good: Sequence[str]) -> Gate:
    """What a page must contain to be about a prompt. Every good example has it: what one of them lacks is not asked."""
    sources = [_Source.of(html) for html in good]
    named = {_SIGN[match["kind"]] + match["name"] for pattern in _NAMED for match in pattern.finditer(prompt)}
    if selectors := [one for one in named if all(one in source.names for source in sources)]:
        return Gate(asking(selectors=selectors))
    names, stems = names_of(prompt), words(prompt)
    few = len(stems) < MANY
    asks = asking(names=names, words=stems if few else [], pairs=[] if few else stems)
    lacking = tuple(number for number, source in enumerate(sources) if not source.has(asks)) if names or stems else ()
    if not lacking:
        return Gate(asks)
    said = [[stem for stem in stems if sources[number].says(stem)] for number in lacking]
    shared = set() if all(said) else set.intersection(*(source.elements for source in sources))
    if not all(said) and not shared:
        return Gate(asking(), lacking)
    enough = {*asks["words"], *(stem for found in said for stem in found)}
    return Gate(asking(names=names | shared, words=enough, pairs=asks["pairs"]), lacking)


def names_of(prompt: str) -> set[str]:
    """What shows that the elements and roles that a prompt mentions are there, by tag or attribute. Elements of nearly
    all pages only count if the prompt mentions nothing else."""
    found = _SHORT_WORD.findall(_UNSPACED.sub(" ", prompt.lower()))
    mentioned = [*found, *(first + second for first, second in zip(found, found[1:], strict=False))]
    names = _shown(mentioned, NAMES)
    if names or any(not _known(word, USUAL) for word in _significant(prompt)) or _UNSPACED.search(prompt):
        return names
    return _shown(mentioned, USUAL)


def _shown(mentioned: Sequence[str], table: dict[str, set[str]]) -> set[str]:
    return {one for word in mentioned for one in table.get(_known(word, table), ())}


def _known(word: str, table: dict[str, set[str]]) -> str:
    """The name in a table that a word is, maybe in the plural; empty if there is none."""
    singular = (word.removesuffix(ending) + instead for ending, instead in _PLURALS if word.endswith(ending))
    return next((name for name in (word, *singular) if name in table), "")


def words(prompt: str) -> list[str]:
    """The significant words of a prompt, without their endings. Where words are not separated by spaces, all pairs of
    characters."""
    text = prompt.lower()
    pairs = {run[place : place + 2] for run in _UNSPACED.findall(text) for place in range(len(run) - 1)}
    return sorted({_stem(word) for word in _significant(prompt)} | pairs)


def _significant(prompt: str) -> set[str]:
    """The words of a prompt that say something about its case, without those that no spaces separate."""
    return {word for word in _WORD.findall(_UNSPACED.sub(" ", prompt.lower())) if word not in _EMPTY}


def _stem(word: str) -> str:
    """A word without its ending; other languages than English tend to have longer ones."""
    if not word.isascii():
        return word[: max(_SHORTEST, len(word) - 3)]
    word = _DOUBLED.sub(r"\1", word)
    stems = (word.removesuffix(ending) for ending in ("ies", "ing", "ed", "es", "s", "e", "y") if word.endswith(ending))
    return next((stem for stem in stems if len(stem) >= _SHORTEST), word)


class _Source(HTMLParser):
    """What the source of a page has: `names` of elements as selectors, and its texts. What its scripts mention, they
    may show; the elements that they add are unknown."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self._texts: list[str] = []
        self._is_skipped = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: (value or "").strip() for name, value in attributes}
        self._is_skipped = tag == "style" or given.get("id") == "a11y-assertions"
        self.names |= {tag, *(f".{name}" for name in given.get("class", "").split())}
        self.names |= {f"[{name}]" for name in given}
        self.names |= {f"{of}[{name}={value}]" for name, value in given.items() for of in ("", tag)}
        self.names |= {f"#{given['id']}"} if "id" in given else set()
        self.names |= {f":lang({given['lang'].lower().partition('-')[0]})"} if "lang" in given else set()
        self._texts += [given[name] for name in _NAMING & given.keys()]

    def handle_endtag(self, tag: str) -> None:
        self._is_skipped = False

    def handle_data(self, data: str) -> None:
        if not self._is_skipped:
            self._texts.append(data)

    @classmethod
    def of(cls, html: str) -> _Source:
        source = cls()
        with suppress(AssertionError):  # older versions of Python raise it for broken declarations
            source.feed(html)
            source.close()
        return source

    @property
    def elements(self) -> set[str]:
        """Its tags and roles, without those that say nothing."""
        return {name for name in self.names if _OF_ELEMENTS.fullmatch(name)} - COMMON

    def says(self, word: str) -> bool:
        text = " ".join(self._texts).lower()
        return bool(re.search(rf"(?<![^\W_]){word}", text)) if word.isascii() else word in text

    def has(self, asks: dict[str, list[str]]) -> bool:
        is_named = not self.names.isdisjoint(asks["names"])
        return is_named or any(map(self.says, asks["words"])) or sum(map(self.says, asks["pairs"])) > 1
