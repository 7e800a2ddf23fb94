"""A run's `run.json`: every field is checked, since it decides which answers are shown and paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.core.run_record import RunRecord, read_run
from pipeline.core.store import write_json


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("instances", value) for value in ("acme__ui-1", [1], {"acme__ui-1": 1})),
        *(("attempts", value) for value in ("many", -1, 0, None)),
        *(("renewed", value) for value in (["acme__ui-1"], {"acme__ui-1": [1]}, {"acme__ui-1": "20260101T000000Z"})),
        *(("fresh", value) for value in ("perhaps", 2, None)),
        *(("shaped_by", value) for value in ("x", [1])),
        ("served_by", ["model"]),
        ("digest", 1),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, field: str, value: object) -> None:
    """A text of instances was taken for a set of letters, and a text for `fresh` made every answer a new one."""
    write_json(tmp_path / "run.json", {field: value})
    with pytest.raises(UserError) as caught:
        read_run(tmp_path)
    assert caught.value.path == tmp_path / "run.json"
    assert str(caught.value.field).startswith(field)


def test_a_run_made_elsewhere_is_about_all_instances(tmp_path: Path) -> None:
    assert read_run(tmp_path) == RunRecord()
    write_json(tmp_path / "run.json", {"agent": "theirs", "model": "m"})
    assert read_run(tmp_path).instances is None


def test_what_people_add_is_kept(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"instances": ["acme__ui-1"], "note": "before the update"})
    about = read_run(tmp_path)
    assert about.instances == ("acme__ui-1",)
    assert about.model_dump()["note"] == "before the update"
