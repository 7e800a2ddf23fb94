"""`dataset show`: one instance as a folder of files that people read, and that two versions of it can be compared by.

Writes to the folder that is named. The same instance gives the same bytes. Nothing is read back from it: the record in
`02_dataset/` stays what counts. Does not cover ratings and answers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from pipeline.core.errors import UserError
from pipeline.core.records import Instance
from pipeline.core.verdict import SNAPSHOT
from pipeline.dataset.files import write_new

#: field -> the file that has it; all other fields are in FACTS
TEXTS = {"fix_patch": "gold.patch", "test_patch": "test.patch"}
FACTS, ENVIRONMENT, STATEMENT, TESTS, FALSIFIED = (
    "instance.toml",
    "environment.toml",
    "statement.md",
    "tests.csv",
    "falsified.patch",
)
#: every file that an instance can have
NAMES = (STATEMENT, *TEXTS.values(), FALSIFIED, TESTS, ENVIRONMENT, FACTS)


def write(instance: Instance, folder: Path, *, replace: bool) -> list[Path]:
    """Write the files; returns them. Raises UserError when others are there, unless they may be replaced."""
    made = files_of(instance)
    gone = [folder / name for name in NAMES if name not in made and (folder / name).exists()]
    if gone and not replace:
        raise UserError("a file of another instance", path=gone[0], hint="choose another folder, or add --force")
    paths = [folder / name for name in made]
    for path, data in zip(paths, made.values(), strict=True):
        write_new(path, data, replace=replace)
    for path in gone:
        path.unlink()
    return paths


def files_of(instance: Instance) -> dict[str, bytes]:
    """The contents by name: together they hold every field of the record that says something."""
    said = instance.model_dump(mode="json")
    texts = {
        STATEMENT: _statement(said),
        **{name: said.pop(field) for field, name in TEXTS.items()},
        FALSIFIED: said["counter_runs"].pop("falsified"),
        TESTS: _tests(said.pop("tests")),
        ENVIRONMENT: _toml(said.pop("environment")),
        FACTS: _toml(said),
    }
    return {name: text.encode() for name, text in texts.items() if text}


def _statement(said: dict[str, Any]) -> str:
    """The pull request and its issues, taken out of what is said."""
    title, body, issues = said.pop("title"), said.pop("body"), said.pop("resolved_issues")
    parts = [f"# {title}", body]
    for one in issues:
        labels = f"Labels: {', '.join(one['labels'])}" if one["labels"] else ""
        parts += [f"## Issue #{one['number']}, {one['state']}: {one['title']}", labels, one["body"]]
    for heading, field in (("Hints", "hints"), ("Statement as reviewers wrote it", "statement")):
        text = said.pop(field)
        parts += [f"## {heading}", text] if text else []
    return "\n\n".join(part.replace("\r\n", "\n").strip() for part in parts if part.strip()) + "\n"


def _tests(letters: Mapping[str, str]) -> str:
    """A row for each test: the first letter of its status in the base, with the test patch and with gold."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("test", "base", "test_patch", "gold", "by_snapshot"))
    for name, said in sorted(letters.items()):
        rows.writerow((name, *said.removesuffix(SNAPSHOT), "yes" if said.endswith(SNAPSHOT) else ""))
    return text.getvalue()


def _toml(value: dict[str, Any]) -> str:
    return tomli_w.dumps(_told(value), multiline_strings=True)


def _told(value: Any) -> Any:
    """Without what says nothing: TOML has no null."""
    if isinstance(value, dict):
        return {name: _told(one) for name, one in value.items() if one not in (None, "", [], {})}
    return [_told(one) for one in value] if isinstance(value, list) else value
