"""`dataset show`: one instance as a folder of files that people can read and diff.

Writes to the given folder. The same instance gives the same bytes. Nothing reads the folder: the record in
`02_dataset/` is authoritative. Does not cover ratings and answers.
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

#: field -> its file; all other fields are in FACTS
TEXTS = {"fix_patch": "gold.patch", "test_patch": "test.patch"}
FACTS, ENVIRONMENT, STATEMENT, TESTS, FALSIFIED, FIRST, FORMER = (
    "instance.toml",
    "environment.toml",
    "statement.md",
    "tests.csv",
    "falsified.patch",
    "falsified-first.patch",
    "falsified-former.patch",
)
#: every file that an instance can have
NAMES = (STATEMENT, *TEXTS.values(), FALSIFIED, FIRST, FORMER, TESTS, ENVIRONMENT, FACTS)


def write(instance: Instance, folder: Path, *, replace: bool) -> list[Path]:
    """Write the files and return their paths. Raises UserError if the folder has others, unless they may be
    replaced."""
    contents = files_of(instance)
    outdated = [folder / name for name in NAMES if name not in contents and (folder / name).exists()]
    if outdated and not replace:
        raise UserError("a file of another instance", path=outdated[0], hint="choose another folder, or add --force")
    paths = [folder / name for name in contents]
    for path, data in zip(paths, contents.values(), strict=True):
        write_new(path, data, replace=replace)
    for path in outdated:
        path.unlink()
    return paths


def files_of(instance: Instance) -> dict[str, bytes]:
    """The contents by name; together they hold every field of the record that is not empty."""
    fields = instance.model_dump(mode="json")
    texts = {
        STATEMENT: _statement(fields),
        **{name: fields.pop(field) for field, name in TEXTS.items()},
        FALSIFIED: fields["counter_runs"].pop("falsified"),
        FIRST: fields["counter_runs"].pop("first"),
        FORMER: fields["counter_runs"].pop("former_patch"),
        TESTS: _tests(fields.pop("tests")),
        ENVIRONMENT: _toml(fields.pop("environment")),
        FACTS: _toml(fields),
    }
    return {name: text.encode() for name, text in texts.items() if text}


def _statement(fields: dict[str, Any]) -> str:
    """The text of the pull request and its issues, whose fields are removed from `fields`."""
    title, body, issues = fields.pop("title"), fields.pop("body"), fields.pop("resolved_issues")
    parts = [f"# {title}", body]
    for issue in issues:
        labels = f"Labels: {', '.join(issue['labels'])}" if issue["labels"] else ""
        number = f" #{issue['number']}" if issue["number"] else ""  # other benchmarks' statements have none
        parts += [f"## Issue{number}, {issue['state']}: {issue['title']}", labels, issue["body"]]
    for heading, field in (("Hints", "hints"), ("Statement rewritten by reviewers", "statement")):
        text = fields.pop(field)
        parts += [f"## {heading}", text] if text else []
    return "\n\n".join(part.replace("\r\n", "\n").strip() for part in parts if part.strip()) + "\n"


def _tests(letters: Mapping[str, str]) -> str:
    """A row for each test: the first letter of its status in the base, with the test patch and with gold."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("test", "base", "test_patch", "gold", "by_snapshot"))
    for name, status in sorted(letters.items()):
        rows.writerow((name, *status.removesuffix(SNAPSHOT), "yes" if status.endswith(SNAPSHOT) else ""))
    return text.getvalue()


def _toml(value: dict[str, Any]) -> str:
    return tomli_w.dumps(_filled(value), multiline_strings=True)


def _filled(value: Any) -> Any:
    """The value without empty parts, since TOML has no null."""
    if isinstance(value, dict):
        return {name: _filled(part) for name, part in value.items() if part not in (None, "", [], {})}
    return [_filled(part) for part in value] if isinstance(value, list) else value
