"""The notebooks run from top to bottom, define nothing, and carry no outputs."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def test_there_is_one_for_each_question():
    assert {path.stem for path in NOTEBOOKS} >= {"01_collect", "02_dataset", "05_analysis"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_top_to_bottom(path, store, monkeypatch):
    monkeypatch.setenv("A11Y_BENCH_DATA", str(store.root))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    assert all(cell.outputs for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_defines_nothing_and_carries_no_outputs(path):
    for cell in code_cells(path):
        assert not cell.outputs and cell.execution_count is None
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        assert not [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, definitions)]
