"""Cases: folders with `prompt.md`, `test.js` and examples with expectations.

    <case>/prompt.md                      what a model is asked for, and nothing else
    <case>/case-name.json                 the case's name, if its folder cannot have it
    <case>/test.js                        exports run({page, assert, utils}); optionally runAxe and onTask
    <case>/examples/*.html                expectations in <script id="a11y-assertions" type="application/json">
    <case>/example-pass/, example-fail/   the older form: every requirement holds, or the page does not pass

Reads a folder of cases, ours by default. An example whose expectations cannot be read is reported as a fault; it is
never skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from pipeline.core.errors import UserError
from pipeline.core.store import digest, read_field
from pipeline.core.texts import parse_json, read_text
from pipeline.pages.gate import Gate, gate_of
from pipeline.pages.shared import helpers_of, nested

OWN = Path(__file__).parent / "cases"
PROMPT, TEST, NAME, EXAMPLES = "prompt.md", "test.js", "case-name.json", "examples"
#: the older form's folders, and whether their pages pass
OLDER = {"example-pass": True, "example-fail": False}
#: extensions of the files that are searched for uses of axe-core
CODE = (".js", ".cjs", ".mjs", ".json")
#: the maximum size of the files of a case, without its examples, in bytes
LARGEST = 64 * 2**20

Expected = Literal["pass", "fail"]
_EXPECTED: dict[str, Expected] = {"pass": "pass", "fail": "fail"}
#: a comment or a script, whichever begins first
_SCRIPT = re.compile(r"<!--.*?-->|<script\b(?P<attributes>[^>]*)>(?P<text>.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_IS_EXPECTATION = re.compile(r"(?<![\w-])id\s*=\s*[\"']?a11y-assertions\b", re.IGNORECASE)


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
    """A prompt, with its blanks and line ends, and its test. `digest` covers everything that decides a verdict: the
    test, and the names in the prompt. `root` is the folder of cases, if it is in one."""

    folder: Path
    prompt: str
    examples: tuple[Example, ...] = ()
    root: Path | None = None

    @cached_property
    def name(self) -> str:
        path = self.folder / NAME
        return read_field(path, "name", str) if path.exists() else self.folder.name

    @cached_property
    def _files(self) -> dict[str, Path]:
        """The files in its folder that its test may load."""
        inner = {EXAMPLES, *OLDER, PROMPT, NAME}
        found = {path.relative_to(self.folder): path for path in sorted(self.folder.rglob("*"))}
        readable = {name: path for name, path in found.items() if path.is_file() and not path.is_symlink()}
        return {str(name): path for name, path in readable.items() if name.parts[0] not in inner}

    @cached_property
    def helpers(self) -> dict[str, Path]:
        """The files beside its folder that its test loads, by path in the folder of cases."""
        return helpers_of(self.folder, self.root, self._files.values()) if self.root else {}

    @cached_property
    def code(self) -> dict[str, bytes]:
        """The files that its test may load, by path in the case's folder; with helpers, by path in a folder that has
        both."""
        if sum(path.stat().st_size for path in (*self._files.values(), *self.helpers.values())) > LARGEST:
            hint = "remove what its test does not need"
            raise UserError(f"the files of the case are larger than {LARGEST} bytes", path=self.folder, hint=hint)
        own = {name: path.read_bytes() for name, path in self._files.items()}
        return nested(self.folder.name, own, self.helpers, TEST) if self.helpers else own

    @cached_property
    def names_axe(self) -> bool:
        """Whether its test uses axe-core in the page."""
        return any(re.search(rb"\baxe\b", text) for name, text in self.code.items() if name.endswith(CODE))

    @property
    def tells_on_task(self) -> bool:
        """Whether its test has an `onTask`."""
        return b"onTask" in self._files[TEST].read_bytes()

    @cached_property
    def _gate(self) -> Gate:
        return gate_of(self.prompt, [example.html for example in self._good])

    @property
    def _good(self) -> list[Example]:
        return [example for example in self.examples if example.is_good]

    @property
    def gate(self) -> dict[str, list[str]]:
        """What a page must contain to be about this case. The case's own `onTask` replaces it."""
        return self._gate.asks

    @property
    def lacking(self) -> list[Example]:
        """The good examples that lack what the prompt mentions; the gate asks for less because of them."""
        return [self._good[number] for number in self._gate.lacking]

    @cached_property
    def control(self) -> str:
        """The page that shows whether the case is at fault: its first good example, or nothing."""
        return next((example.html for example in self._good), "")

    @cached_property
    def digest(self) -> str:
        return digest([self.code[name] for name in sorted(self.code)], sorted(self.code), self.gate)


def load_cases(
    folder: Path = OWN, names: tuple[str, ...] = (), faults: list[tuple[str, UserError]] | None = None
) -> list[Case]:
    """The cases of a folder, in order; `names` selects some, by default all.

    Raises UserError for a folder without cases, a case without a test, and an unknown name. With `faults`, cases that
    cannot be loaded are added to it, by name, and left out, unless there is no other case.
    """
    if not folder.is_dir():
        raise UserError("no such folder", path=folder, hint="name a folder of cases with --cases")
    folder = folder.resolve()  # a case has its folder's name, which "." does not tell
    inner = [prompt.parent for prompt in sorted(folder.glob(f"*/{PROMPT}"))]
    found = [folder] if (folder / PROMPT).exists() else inner
    missing = sorted(set(names) - {case.name for case in found})
    if missing or not found:
        available = ", ".join(case.name for case in found) or f"no folder with a {PROMPT}"
        raise UserError(
            f"no case {', '.join(missing)}" if missing else "no case", path=folder, hint=f"available: {available}"
        )
    return list(_loaded([case for case in found if not names or case.name in names], folder, faults))


def _loaded(folders: Sequence[Path], root: Path, faults: list[tuple[str, UserError]] | None) -> Iterator[Case]:
    failed: list[tuple[str, UserError]] = []
    for folder in folders:
        try:
            yield load_case(folder, root)
        except UserError as error:
            if faults is None or len(folders) == 1:
                raise
            failed.append((folder.name, error))
    if failed and len(failed) == len(folders):
        raise failed[0][1]
    if faults is not None:
        faults += failed


def load_case(folder: Path, root: Path | None = None) -> Case:
    """Load one case of the folder `root`, if it is in one. Raises UserError that names the missing file."""
    for name in (PROMPT, TEST):
        if not (folder / name).is_file():
            hint = f"a case is a folder with {PROMPT} and {TEST}; --case takes only the cases that it names"
            raise UserError("no such file", path=folder / name, hint=hint)
    prompt = read_text(folder / PROMPT).replace("\r\n", "\n")
    if not prompt.strip():
        raise UserError("the prompt is empty", path=folder / PROMPT)
    return Case(folder, prompt, tuple(_examples(folder)), root)


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
