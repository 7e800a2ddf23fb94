"""docs/magentless.md describes what the code does."""

from __future__ import annotations

from pathlib import Path

from magentless.causes import CAUSES, Fault

PAGE = (Path(__file__).parents[3] / "docs" / "magentless.md").read_text(encoding="utf-8")


def test_every_outcome_and_fault_is_in_the_page():
    assert [row.split("`")[1] for row in PAGE.splitlines() if row.startswith("| `")] == [cause for cause, _ in CAUSES]
    assert all(f"`{fault}`" in PAGE for fault in Fault)
