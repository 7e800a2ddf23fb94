"""The files that a run leaves."""

from __future__ import annotations

import json

from magentless import outputs


def test_a_result_is_whole_files(tmp_path):
    outputs.write_result(tmp_path, [b"diff", b"other"], [{"step": "localize"}, {"step": "repair"}], {"outcome": "é"})
    names = ["metadata.json", "patch.diff", "proposals", "trajectory.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert (tmp_path / "patch.diff").read_bytes() == (tmp_path / "proposals" / "1.diff").read_bytes() == b"diff"
    assert (tmp_path / "proposals" / "2.diff").read_bytes() == b"other"
    assert (tmp_path / "trajectory.jsonl").read_text().splitlines() == ['{"step": "localize"}', '{"step": "repair"}']
    assert json.loads((tmp_path / "metadata.json").read_text()) == {"outcome": "é"}


def test_clear_leaves_what_it_does_not_know(tmp_path):
    outputs.write_result(tmp_path, [b"diff"], [], {})
    outputs.write_error(tmp_path, "unreachable", "nobody there")
    (tmp_path / "note.txt").write_text("mine")
    outputs.clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
