"""Overrides of single fields, for an interval of pull requests or of days; what can not be used says where and why."""

from __future__ import annotations

import re
from pathlib import Path

import factories
import pytest

from pipeline.build.overrides import FOLDER, fixed, read
from pipeline.core.errors import UserError
from pipeline.core.names import Repo

REPO = Repo("acme", "ui")


@pytest.fixture
def write(tmp_path: Path):
    """`write(text)`: the file of overrides of acme/ui; returns its folder."""

    def make(text: str) -> Path:
        (tmp_path / "acme__ui.toml").write_text(text, encoding="utf-8")
        return tmp_path

    return make


def node(folder: Path, number: int, day: str = "2020-01-01") -> str:
    found = fixed(factories.make_candidate(number, merged_at=f"{day}T10:00:00Z"), folder)
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
def test_intervals_of_pull_requests(write, interval: str, inside: list[int], outside: list[int]) -> None:
    folder = write(f'[[override]]\n{interval}\nset.node = "10"\n')
    assert all(node(folder, number) == "10" for number in inside)
    assert not any(node(folder, number) for number in outside)


def test_intervals_of_days(write) -> None:
    folder = write('[[override]]\nfrom = 2019-01-01\nto = 2019-12-31\nset.node = "10"\n')
    assert node(folder, 1, "2019-12-31") == "10"
    assert node(folder, 1, "2020-01-01") == ""


def test_the_later_wins_and_is_named_as_evidence(write) -> None:
    folder = write('[[override]]\nset.node = "10"\nset.folder = "a"\n[[override]]\nfrom = 5\nset.node = "12"\n')
    found = fixed(factories.make_candidate(7), folder)
    assert found == {
        "node": ("12", "repos/acme__ui.toml: override[2]"),
        "folder": ("a", "repos/acme__ui.toml: override[1]"),
    }


def test_values_have_the_form_of_the_field(write) -> None:
    folder = write('[[override]]\nset.test = ["node", "{entry}"]\nset.test_env = { TZ = "UTC" }\n')
    assert read(REPO, folder)[0].fields == {"test": ("node", "{entry}"), "test_env": {"TZ": "UTC"}}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[override]]\nset.node = \n", ":2: no TOML"),
        ('[overide]\nnode = "10"\n', "field 'overide'"),
        ('override = "x"\n', "field 'override'"),
        ('[[override]]\nform = 1\nset.node = "10"\n', "field 'override[1]': it has `from`, `to` and `set`"),
        ("[[override]]\nfrom = 1\n", "field 'override[1].set': it sets nothing"),
        ('[[override]]\nset.nod = "10"\n', "field 'override[1].set.nod': unknown field 'nod'"),
        ("[[override]]\nset.node = 10\n", "field 'override[1].set.node': Input should be a valid string"),
        ('[[override]]\nset.manager = "bun"\n', "field 'override[1].set.manager'"),
        ('[[override]]\nset.evidence = { node = "me" }\n', "unknown field 'evidence'"),
        ('[[override]]\nfrom = "1"\nset.node = "10"\n', "field 'override[1].from': it is the number of a pull request"),
        ('[[override]]\nfrom = true\nset.node = "10"\n', "field 'override[1].from'"),
        ('[[override]]\nfrom = 9\nto = 3\nset.node = "10"\n', "the interval is empty, or of two kinds"),
        ('[[override]]\nfrom = 9\nto = 2019-01-01\nset.node = "10"\n', "the interval is empty, or of two kinds"),
    ],
)
def test_what_can_not_be_used_says_where(write, text: str, said: str) -> None:
    folder = write(text)
    with pytest.raises(UserError) as error:
        read(REPO, folder)
    assert str(folder / "acme__ui.toml") in str(error.value) and said in str(error.value)
    assert "\n  " in str(error.value), "a hint says what to do"


def test_no_file_is_no_override(tmp_path: Path) -> None:
    assert fixed(factories.make_candidate(1), tmp_path) == {}


def test_the_project_ships_no_overrides() -> None:
    """Every repository is inferred; the folder holds the page that says how to override."""
    assert [path.name for path in FOLDER.iterdir()] == ["README.md"]


def test_the_example_of_the_page_works(write) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (FOLDER / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    folder = write(example)
    assert node(folder, 100) == "10" and node(folder, 181) == ""
    assert "folder" in fixed(factories.make_candidate(1, merged_at="2019-01-01T00:00:00Z"), folder)
