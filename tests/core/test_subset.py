"""Selecting instances: by number, by name, from a file, or the first N."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import make_instance

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.subset import ALL, Subset, read_names

UI, WEB = Repo("acme", "ui"), Repo("acme", "web")
DATASET = [make_instance(number) for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("subset", "numbers"),
    [
        (ALL, [1, 2, 3]),
        (Subset(numbers=(3, 1)), [1, 3]),
        (Subset(names=("acme__ui-2",)), [2]),
        (Subset(names=("acme__ui-2", "acme__web-9")), [2]),
        (Subset(limit=2), [1, 2]),
        (Subset(numbers=(2, 3), limit=1), [2]),
    ],
)
def test_the_selection_has_the_order_of_the_dataset(subset: Subset, numbers: list[int]) -> None:
    assert [instance.number for instance in subset.of(DATASET)] == numbers


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("subset", "message"),
    [
        (Subset(numbers=(4,)), "unknown instance 'acme__ui-4'"),
        (Subset(names=("acme__web-9",)), "no instance of acme/ui is selected"),
    ],
)
def test_an_unknown_selection_is_refused(subset: Subset, message: str) -> None:
    with pytest.raises(UserError, match=message):
        subset.of(DATASET)


def test_names_are_read_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "lite.txt"
    path.write_text('# the small ones\nacme/ui#1\n\nacme/ui:2\n{"instance_id": "acme__web-9"}\nacme__ui-1\n')
    assert read_names(str(path)) == (UI.instance_id(1), UI.instance_id(2), WEB.instance_id(9))
    assert read_names("acme__ui-1, acme/ui-#2") == (UI.instance_id(1), UI.instance_id(2))


@pytest.mark.rule("bad-input")
def test_a_list_may_be_longer_than_a_file_name() -> None:
    names = tuple(WEB.instance_id(number) for number in range(1000, 1400))
    assert read_names(",".join(names)) == names


def test_a_repository_with_a_dot_in_its_name_is_not_taken_for_a_file() -> None:
    assert read_names("vercel__next.js-12") == ("vercel__next.js-12",)


def test_records_with_a_line_separator_name_their_instances(tmp_path: Path) -> None:
    """U+2028 ends a line for `str.splitlines`, and a patch can contain it."""
    path = tmp_path / "lite.jsonl"
    path.write_text('{"instance_id": "acme__web-9", "fix_patch": "a\u2028b"}\r\nacme/ui#2\n', encoding="utf-8")
    assert read_names(str(path)) == (WEB.instance_id(9), UI.instance_id(2))


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("line", ["acme", '{"instance": "x"}', "{"])
def test_a_line_without_an_instance_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "lite.txt"
    path.write_text(f"acme__ui-1\n{line}\n")
    with pytest.raises(UserError) as error:
        read_names(str(path))
    assert (error.value.path, error.value.line) == (path, 2)


@pytest.mark.rule("bad-input")
def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read_names(str(tmp_path / "lite.txt"))
