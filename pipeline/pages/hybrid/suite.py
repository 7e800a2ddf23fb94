"""Suites of tests as YAML, and their configuration. A test becomes a case like any other.

    tests:
      - name: math_test
        prompt: "What is 15 * 23?"
        expected: "345"          # optional

Reads YAML; `as_cases` writes a folder of cases: prompt.md, test.js (does the page render?), case-name.json if the name
cannot be the folder's, and expected.json if a text is expected. Unknown fields are errors with file, field and hint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

from pipeline.core import console
from pipeline.core.errors import UserError, unfit
from pipeline.core.names import folder_name
from pipeline.core.record import Record
from pipeline.core.store import read_field, write_bytes, write_json
from pipeline.core.texts import parse_json, parse_yaml, read_text
from pipeline.pages.cases import NAME, PROMPT, TEST

#: the file with the expected text, in the folder of a case; the case's digest covers it, as all JSON
EXPECTED = "expected.json"
#: the maximum of `timeout`, in seconds
LONGEST_TIMEOUT = 3600

#: the fields of a configuration that are ignored
IGNORED = ("headless", "output_dir", "save_results")

R = TypeVar("R", bound=BaseModel)


class Test(Record):
    """One test of a suite."""

    __test__ = False  # not a test of pytest

    name: str = Field(min_length=1)
    prompt: str = Field(min_length=1)
    expected: str = ""

    @field_validator("name", "prompt")
    @classmethod
    def _said(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is blank")
        return value

    @field_validator("expected", mode="before")
    @classmethod
    def _nothing(cls, value: object) -> object:
        return "" if value is None else value


class Suite(Record):
    tests: tuple[Test, ...] = Field(min_length=1)


class Configuration(Record):
    """The fields of a file for --config. `headless`, `output_dir` and `save_results` are accepted and ignored, with a
    warning unless they have these values: there is no window, and results are in the data directory."""

    use_llm_judge: bool = True
    judge_model: str = ""
    default_model: str = ""
    timeout: float | None = Field(
        default=None,
        gt=0,
        le=LONGEST_TIMEOUT,
        allow_inf_nan=False,
        description="seconds for a page in the browser, and for its load; None for the engine's own limits",
    )
    headless: bool = True
    output_dir: str = "output"
    save_results: bool = True


def load_suite(path: Path) -> Suite:
    """Load a suite; values are texts as they are written (`1.50` is not a number). Raises UserError for an invalid
    file, and for two tests of the same name."""
    hint = "write tests: and below it - name, prompt and, optionally, expected"
    suite = _read(path, Suite, hint, plain=("null",))
    names = [folder_name(test.name) for test in suite.tests]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(
            f"there are two tests named {duplicates[0]}", path=path, field="tests", hint="give each its own name"
        )
    return suite


def load_configuration(path: Path | None) -> Configuration:
    """Load a configuration, with a warning for values that are ignored. Raises UserError for an invalid file."""
    default = Configuration()
    if path is None:
        return default
    found = _read(path, Configuration, f"known fields: {', '.join(Configuration.model_fields)}")
    for name in IGNORED:
        if getattr(found, name) != getattr(default, name):
            console.say(f"{path}: {name} is ignored: there is no window, and results are in the data directory")
    return found


def as_cases(suite: Suite, folder: Path) -> None:
    """Write the tests of a suite as cases."""
    renders = files(__package__).joinpath("renders.js").read_bytes()
    for test in suite.tests:
        case = folder / folder_name(test.name)
        write_bytes(case / PROMPT, test.prompt.encode())
        write_bytes(case / TEST, renders)
        if case.name != test.name:
            write_json(case / NAME, {"name": test.name})
        if test.expected:
            write_json(case / EXPECTED, {"expected": test.expected})


def expected_of(folder: Path) -> str:
    """The expected text of a case; empty if none is expected."""
    path = folder / EXPECTED
    return read_field(path, "expected", str) if path.exists() else ""


def extract(results: Path, folder: Path) -> list[Path]:
    """Write the HTML in a file of results as FOLDER/<model>/<test>.html, of a test's further results as
    <test>__s<idx>.html. Answers that are not HTML are skipped. Results without an answer are, too, and are counted on
    the console.

    Reads a list of {test_name, model, response}, model as a name or {model: NAME}. Raises UserError for an invalid
    file.
    """
    from pipeline.pages.answers import has_tag, page_of

    written: list[Path] = []
    samples: Counter[tuple[str, str]] = Counter()
    rows = _rows(results)
    if lacking := [row for row in rows if not isinstance(row.get("response"), str)]:
        console.say(f"{results}: skipped {console.counted(len(lacking), 'result')} without an answer")
    for result in rows:
        model = result["model"]["model"] if isinstance(result["model"], dict) else result["model"]
        names = folder_name(model), folder_name(result["test_name"])
        response = result.get("response")
        page, sample = page_of(response) if isinstance(response, str) else "", samples[names]
        samples[names] += 1
        if not has_tag(page):
            continue
        path = folder.joinpath(*names).with_name(f"{names[1]}{f'__s{sample}' if sample else ''}.html")
        write_bytes(path, page.encode(errors="replace"))
        written.append(path)
    return written


def _rows(path: Path) -> list[dict[str, Any]]:
    hint = "give a JSON list of {test_name, model, response}"
    text = read_text(path, hint)
    try:
        data = parse_json(text, unique=True)
        rows = data if isinstance(data, list) else data.get("results", [data])
        for row in rows:
            model = row["model"]["model"] if isinstance(row["model"], dict) else row["model"]
            if not all(isinstance(text, str) for text in (row["test_name"], model)):
                raise TypeError("test_name and model are texts")
            if not (row["test_name"] and model):
                raise ValueError("test_name and model must not be empty")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"not a file of results: {error}", path=path, hint=hint) from None
    return rows


def _read(path: Path, record: type[R], hint: str, plain: Sequence[str] = ("null", "bool", "int", "float")) -> R:
    """A record from YAML; `plain` are the types of values without quotation marks that are not texts. Raises
    UserError."""
    found = parse_yaml(read_text(path, hint), path, hint, plain=plain)
    try:
        return record.model_validate(found.value)
    except ValidationError as error:
        raise unfit(error, path=path, line=found.line(error.errors()[0]["loc"]), hint=hint) from None
