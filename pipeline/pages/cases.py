"""Cases: folders with `prompt.md`, `test.js` and examples with expectations.

    <case>/prompt.md                      what a model is asked for, and nothing else
    <case>/test.js                        exports run({page, assert, utils}); optionally runAxe and onTask
    <case>/examples/*.html                expectations in <script id="a11y-assertions" type="application/json">
    <case>/example-pass/, example-fail/   the older form: every requirement holds, or the page does not pass

Reads a folder of cases, ours by default. An example whose expectations cannot be read is reported as a fault; it is
never skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from pipeline.core.errors import UserError
from pipeline.core.store import digest
from pipeline.core.texts import parse_json, read_text

OWN = Path(__file__).parent / "cases"
PROMPT, TEST, EXAMPLES = "prompt.md", "test.js", "examples"
#: the older form's folders, and whether their pages pass
OLDER = {"example-pass": True, "example-fail": False}
#: extensions of files that a test.js may load
CODE = (".js", ".cjs", ".json")

Expected = Literal["pass", "fail"]
_EXPECTED: dict[str, Expected] = {"pass": "pass", "fail": "fail"}
#: a comment or a script, whichever begins first
_SCRIPT = re.compile(r"<!--.*?-->|<script\b(?P<attributes>[^>]*)>(?P<text>.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_IS_EXPECTATION = re.compile(r"(?<![\w-])id\s*=\s*[\"']?a11y-assertions\b", re.IGNORECASE)
#: classes and ids that a prompt names: `a `trigger` class`, `an id of "menu"`
_NAMED = (
    re.compile(r"[`\"'](?P<name>[A-Za-z][\w-]*)[`\"']\s+(?P<kind>class|id)\b"),
    re.compile(r"\b(?P<kind>class|id)(?:\s+(?:of|named|called))?\s+[`\"'](?P<name>[A-Za-z][\w-]*)[`\"']"),
)
_SIGN = {"class": ".", "id": "#"}
#: letters of the shortest words and stems that say something
_SHORTEST = 4
_WORD = re.compile(r"[^\W\d_]{4,}")
#: text in scripts that do not separate words: Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Korean syllables
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
#: words of prompts that say nothing about the case
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """about accessible also and application are assistive attribute button class code component container content
        create css default demonstrate demonstrates document each element elements every example examples file
        following for from full generate given has have home html includes include including inline javascript
        keyboard make markup must name named need needs number only other page pages please produce screen section
        sections several should shows show simple single standalone style text than that the their them then there
        they this three two use user users uses using web website when where which whole widget widgets with without
        work works wrap write your""",
    )
)


@dataclass(frozen=True)
class Example:
    """A page of a case. `expected` are the expected ends of assertions by name; `passes` whether the page passes, if
    that is stated; `fault` why its expectations cannot be read."""

    path: Path
    expected: dict[str, Expected] = field(default_factory=dict)
    passes: bool | None = None
    fault: str = ""

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def html(self) -> str:
        return self.path.read_text(encoding="utf-8", errors="replace")

    @property
    def is_good(self) -> bool:
        """Whether it should pass: it says so, or all its assertions are expected to pass."""
        return bool(self.expected) and "fail" not in self.expected.values() if self.passes is None else self.passes


@dataclass(frozen=True)
class Case:
    """A prompt and its test. `digest` covers everything that decides a verdict: the test, and the names in the
    prompt."""

    folder: Path
    prompt: str
    examples: tuple[Example, ...] = ()

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def code(self) -> dict[str, bytes]:
        """The files that its test may load, by path in the case's folder."""
        inner = {EXAMPLES, *OLDER}
        found = {path.relative_to(self.folder): path for path in sorted(self.folder.rglob("*")) if path.suffix in CODE}
        return {
            str(name): path.read_bytes()
            for name, path in found.items()
            if name.parts[0] not in inner and path.is_file() and not path.is_symlink()
        }

    @cached_property
    def names_axe(self) -> bool:
        """Whether its test uses axe-core in the page."""
        return any(re.search(rb"\baxe\b", text) for text in self.code.values())

    @cached_property
    def gate(self) -> dict[str, list[str]]:
        """What a page must contain to be about this case: the classes and ids that the prompt names and that good
        examples have; if it names none, one of its words. The case's own `onTask` replaces this."""
        named = {
            _SIGN[match["kind"]] + match["name"]: match["name"]
            for pattern in _NAMED
            for match in pattern.finditer(self.prompt)
        }
        good = [example.html for example in self.examples if example.is_good]
        selectors = [selector for selector, name in named.items() if all(name in html for html in good)]
        return {"selectors": sorted(selectors), "words": [] if selectors else words(self.prompt)}

    @cached_property
    def control(self) -> str:
        """The page that shows whether the case is at fault: its first good example, or nothing."""
        return next((example.html for example in self.examples if example.is_good), "")

    @cached_property
    def digest(self) -> str:
        return digest([self.code[name] for name in sorted(self.code)], sorted(self.code), self.gate)


def words(prompt: str) -> list[str]:
    """The significant words of a prompt, without their endings. Where words are not separated by spaces, all pairs of
    characters."""
    text = prompt.lower()
    pairs = {run[place : place + 2] for run in _UNSPACED.findall(text) for place in range(len(run) - 1)}
    found = {word for word in _WORD.findall(_UNSPACED.sub(" ", text)) if word not in _EMPTY}
    return sorted({_stem(word) for word in found} | pairs)


def _stem(word: str) -> str:
    """A word without its ending; other languages than English tend to have longer ones."""
    if not word.isascii():
        return word[: max(_SHORTEST, len(word) - 3)]
    stems = (word.removesuffix(ending) for ending in ("ies", "ing", "ed", "es", "s", "e", "y") if word.endswith(ending))
    return next((stem for stem in stems if len(stem) >= _SHORTEST), word)


def load_cases(folder: Path = OWN, names: tuple[str, ...] = ()) -> list[Case]:
    """The cases of a folder, in order; `names` selects some, by default all.

    Raises UserError for a folder without cases, a case without a test, and an unknown name.
    """
    if not folder.is_dir():
        raise UserError("no such folder", path=folder, hint="name a folder of cases with --cases")
    folder = folder.resolve()  # a case has its folder's name, which "." does not tell
    found = [load_case(prompt.parent) for prompt in sorted(folder.glob(f"*/{PROMPT}"))]
    if (folder / PROMPT).exists():
        found = [load_case(folder)]
    missing = sorted(set(names) - {case.name for case in found})
    if missing or not found:
        available = ", ".join(case.name for case in found) or f"no folder with a {PROMPT}"
        raise UserError(
            f"no case {', '.join(missing)}" if missing else "no case", path=folder, hint=f"available: {available}"
        )
    return [case for case in found if not names or case.name in names]


def load_case(folder: Path) -> Case:
    """Load one case. Raises UserError that names the missing file."""
    for name in (PROMPT, TEST):
        if not (folder / name).is_file():
            raise UserError("no such file", path=folder / name, hint=f"a case is a folder with {PROMPT} and {TEST}")
    prompt = read_text(folder / PROMPT).strip()
    if not prompt:
        raise UserError("the prompt is empty", path=folder / PROMPT)
    return Case(folder, prompt, tuple(_examples(folder)))


def set_name(folder: Path, cases: list[Case]) -> str:
    """The name of a set of cases, for people and for cost rows: its folder's name and a digest of its prompts."""
    label = "own" if folder.resolve() == OWN else folder.resolve().name
    return f"{label}-{digest(sorted((case.name, case.prompt) for case in cases))[:8]}"


def _examples(folder: Path) -> Iterator[Example]:
    for path in sorted((folder / EXAMPLES).glob("*.html")):
        yield _read(path)
    for name, passes in OLDER.items():
        for path in sorted((folder / name).glob("*.html")):
            yield Example(path, passes=passes)


def _read(path: Path) -> Example:
    """An example with its expectations. The script may have its attributes in any order; a broken one is a fault."""
    text = path.read_text(encoding="utf-8", errors="replace")
    scripts = (match["text"] for match in _SCRIPT.finditer(text) if _IS_EXPECTATION.search(match["attributes"] or ""))
    script = next(scripts, None)
    if script is None:
        return Example(path, fault='there is no <script id="a11y-assertions">')
    try:
        data = parse_json(script, unique=True)
    except ValueError as error:
        return Example(path, fault=f"its expectations are not JSON: {error}")
    expected = data.get("assertions") if isinstance(data, dict) else None
    if not isinstance(expected, dict):
        return Example(path, fault="its expectations have no object 'assertions'")
    expectations: dict[str, Expected] = {}
    for name, value in expected.items():
        if (status := _expected(value)) is None:
            return Example(path, fault=f"'{name}' is expected neither to pass nor to fail")
        expectations[name] = status
    passes = data.get("passes")
    return Example(path, expectations, passes if isinstance(passes, bool) else None)


def _expected(value: object) -> Expected | None:
    """Expectations as the public harness reads them: booleans are allowed, and letter case is ignored."""
    if isinstance(value, bool):
        return "pass" if value else "fail"
    return _EXPECTED.get(str(value).strip().lower())
