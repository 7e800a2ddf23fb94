"""An instance as a folder: complete, and the same bytes each time."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import make_instance

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import CounterRuns, Instance, Issue
from pipeline.core.store import Store, write_records
from pipeline.dataset.cli import command
from pipeline.dataset.readable import FACTS, NAMES, files_of, write

TESTS = {"src/b.test.js > b": "PPP", "src/a.test.js > a, and more": "PFP snapshot"}


@pytest.fixture
def instance() -> Instance:
    issue = Issue(number=3, title="No name", body="Screen readers\r\nsay nothing.", labels=("a11y",))
    patches = {"falsified": "diff --git a/t b/t\n", "first": "diff\n", "former_patch": "diff\n"}
    runs = CounterRuns(kinds=("falsified",), false=("b",), **patches)
    return make_instance(tests=TESTS, resolved_issues=(issue,), counter_runs=runs, hints="Look at the label.")


def test_every_field_with_a_value_is_in_one_file(instance: Instance, tmp_path: Path) -> None:
    """So that no new field is silently left out."""
    write(instance, tmp_path, replace=False)
    facts = tomllib.loads((tmp_path / FACTS).read_text())
    elsewhere = {"title", "body", "resolved_issues", "hints", "statement"}
    elsewhere |= {"fix_patch", "test_patch", "tests", "environment"}
    fields = {name for name, value in instance.model_dump(mode="json").items() if value not in (None, "", [], {})}
    assert facts.keys() == fields - elsewhere and sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)
    assert (
        not {"falsified", "first", "former_patch"} & facts["counter_runs"].keys()
        and facts["base"]["sha"] == instance.base.sha
    )
    environment = tomllib.loads((tmp_path / "environment.toml").read_text())
    assert environment["runner"] == instance.environment.runner


def test_texts_and_tests_are_written_unchanged(instance: Instance, tmp_path: Path) -> None:
    write(instance, tmp_path, replace=False)
    assert (tmp_path / "gold.patch").read_text() == instance.fix_patch
    statement = (tmp_path / "statement.md").read_text()
    assert "## Issue #3, closed: No name\n\nLabels: a11y\n\nScreen readers\nsay nothing.\n\n## Hints" in statement
    with (tmp_path / "tests.csv").open(newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    assert rows == [["src/a.test.js > a, and more", "P", "F", "P", "yes"], ["src/b.test.js > b", "P", "P", "P", ""]]


def test_the_same_instance_gives_the_same_bytes(instance: Instance) -> None:
    again = instance.model_copy(update={"tests": dict(reversed(instance.tests.items()))})
    assert files_of(instance) == files_of(again)


def test_another_instance_is_replaced_only_with_force(instance: Instance, tmp_path: Path) -> None:
    write(instance, tmp_path, replace=False)
    other = instance.model_copy(update={"counter_runs": CounterRuns()})
    with pytest.raises(UserError, match=r"falsified\.patch: a file of another instance"):
        write(other, tmp_path, replace=False)
    write(other, tmp_path, replace=True)
    assert not (tmp_path / "falsified.patch").exists()


def test_the_command(instance: Instance, tmp_path: Path) -> None:
    store = Store(tmp_path)
    write_records(store.dataset(Repo(instance.org, instance.repo)), [instance])
    words = ["show", instance.instance_id, "--dir", str(tmp_path / "shown"), "--data", str(tmp_path)]
    assert CliRunner().invoke(command, words).exit_code == 0 and (tmp_path / "shown" / FACTS).is_file()
    unknown = CliRunner().invoke(command, [*words[:1], f"{instance.org}/{instance.repo}#999", *words[2:]])
    assert isinstance(unknown.exception, UserError) and instance.instance_id in str(unknown.exception)
