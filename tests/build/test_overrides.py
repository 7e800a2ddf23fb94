"""Overrides of single fields, for a range of pull requests or days; errors say where and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import factories
import pytest

from pipeline.build.overrides import FOLDER, fixed, read
from pipeline.core.errors import UserError
from pipeline.core.names import Repo

REPO = Repo("acme", "ui")
Write = Callable[[str], object]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of overrides, empty."""
    monkeypatch.setenv("A11Y_BENCH_REPOS", str(tmp_path))
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Write:
    """`write(text)`: write the overrides of acme/ui."""
    return lambda text: (folder / "acme__ui.toml").write_text(text, encoding="utf-8")


def node(number: int, day: str = "2020-01-01") -> str:
    found = fixed(factories.make_candidate(number, merged_at=f"{day}T10:00:00Z"))
    return found["node"][0] if "node" in found else ""


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        ("from = 10\nto = 20", [10, 15, 20], [9, 21]),
        ("from = 10", [10, 99], [9]),
        ("to = 20", [1, 20], [21]),
        ("", [1, 99], []),
    ],
)
def test_overrides_apply_to_their_interval_of_pull_requests(
    write: Write, interval: str, inside: list[int], outside: list[int]
) -> None:
    write(f'[[override]]\n{interval}\nset.node = "10"\n')
    assert all(node(number) == "10" for number in inside)
    assert not any(node(number) for number in outside)


def test_overrides_apply_to_their_interval_of_days(write: Write) -> None:
    write('[[override]]\nfrom = 2019-01-01\nto = 2019-12-31\nset.node = "10"\n')
    assert node(1, "2019-12-31") == "10"
    assert node(1, "2020-01-01") == ""


def test_the_later_override_wins_and_is_named_as_evidence(write: Write) -> None:
    write('[[override]]\nset.node = "10"\nset.folder = "a"\n[[override]]\nfrom = 5\nset.node = "12"\n')
    found = fixed(factories.make_candidate(7))
    assert found == {
        "node": ("12", "repos/acme__ui.toml: override[2]"),
        "folder": ("a", "repos/acme__ui.toml: override[1]"),
    }


def test_override_values_are_converted_to_the_type_of_their_field(write: Write) -> None:
    write('[[override]]\nset.test = ["node", "{entry}"]\nset.test_env = { TZ = "UTC" }\n')
    assert read(REPO)[0].fields == {"test": ("node", "{entry}"), "test_env": {"TZ": "UTC"}}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[override]]\nset.node = \n", ":2: invalid TOML"),
        ('[overide]\nnode = "10"\n', "field 'overide'"),
        ('override = "x"\n', "field 'override'"),
        ('[[override]]\nform = 1\nset.node = "10"\n', "field 'override[1]': only `from`, `to` and `set` are allowed"),
        ("[[override]]\nfrom = 1\n", "field 'override[1].set': it sets no field"),
        ('[[override]]\nset.nod = "10"\n', ":2: field 'override[1].set.nod': unknown field 'nod'"),
        ("[[override]]\nset.node = 10\n", "field 'override[1].set.node': Input should be a valid string"),
        ('[[override]]\nset.manager = "cnpm"\n', "field 'override[1].set.manager': unknown manager 'cnpm'"),
        ('[[override]]\nset.evidence = { node = "me" }\n', "unknown field 'evidence'"),
        (
            '[[override]]\nfrom = "1"\nset.node = "10"\n',
            "field 'override[1].from': it must be the number",
        ),
        ('[[override]]\nfrom = true\nset.node = "10"\n', "field 'override[1].from'"),
        ('[[override]]\nfrom = 9\nto = 3\nset.node = "10"\n', "the interval is empty, or mixes numbers and dates"),
        (
            '[[override]]\nfrom = 9\nto = 2019-01-01\nset.node = "10"\n',
            "the interval is empty, or mixes numbers and dates",
        ),
    ],
)
def test_an_unusable_override_is_refused_with_its_place(folder: Path, write: Write, text: str, message: str) -> None:
    write(text)
    with pytest.raises(UserError) as error:
        read(REPO)
    assert str(folder / "acme__ui.toml") in str(error.value) and message in str(error.value)
    assert "\n  " in str(error.value), "a hint says what to do"


@pytest.mark.rule("bad-input")
def test_a_date_that_is_none_is_refused(write: Write) -> None:
    """Imported records hold any text in this field."""
    write('[[override]]\nfrom = 2019-01-01\nset.folder = "a"\n')
    with pytest.raises(UserError, match="field 'merged_at': acme__ui-1: 'last spring' is not a date"):
        fixed(factories.make_candidate(1, merged_at="last spring"))


def test_an_interval_of_days_covers_no_candidate_without_a_date(write: Write) -> None:
    write('[[override]]\nfrom = 2019-01-01\nset.node = "10"\n')
    assert fixed(factories.make_candidate(1, merged_at="")) == {}


def test_a_folder_that_does_not_exist_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a typo, all candidates were built without their overrides."""
    monkeypatch.setenv("A11Y_BENCH_REPOS", str(folder / "typo"))
    with pytest.raises(UserError, match="no such folder") as error:
        read(REPO)
    assert error.value.field == "A11Y_BENCH_REPOS"


def test_without_a_file_there_are_no_overrides() -> None:
    assert fixed(factories.make_candidate(1)) == {}


def test_the_project_ships_no_overrides() -> None:
    """Every environment is inferred; the folder has only the page that explains overrides."""
    assert [path.name for path in FOLDER.iterdir()] == ["README.md"]


def test_the_documented_example_is_a_valid_override(write: Write) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (FOLDER / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    write(example)
    assert node(100) == "10" and node(181) == ""
    assert "folder" in fixed(factories.make_candidate(1, merged_at="2019-01-01T00:00:00Z"))
