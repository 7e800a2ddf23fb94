"""The notebooks run from top to bottom, define nothing, and contain no outputs."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis_data import generate
from analyze.conftest import check_by_hand
from pages_bench import SEEN, keep, make_run

from pipeline.core.records import Prediction
from pipeline.core.store import Store, of_attempt, read_records, write_bytes
from pipeline.pages.evaluating import Evaluation

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A data directory with everything that the cells show."""
    store = generate(Store(tmp_path_factory.mktemp("notebooks") / "data"))
    predictions = read_records(
        next(store.root.glob("03_predictions/repair/magentless/acme__ui/*/*/*.jsonl")), Prediction
    )
    patch = next(prediction for prediction in predictions if prediction.model_patch)
    for verdicts in store.root.glob("04_evaluation/**/model-a/verdicts.jsonl"):
        write_bytes(of_attempt(verdicts.parent, 2) / verdicts.name, verdicts.read_bytes())
    keep(Evaluation(make_run(store, tmp_path_factory.mktemp("cases"))), [*SEEN[:4], SEEN[0]]).evaluate()
    check_by_hand(store, int(patch.instance_id.rpartition("-")[2]), "fixes", patch=patch.model_patch)
    return store.root


def read(path: Path) -> NotebookNode:
    import nbformat  # in seconds; every worker imports this file to collect it

    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[NotebookNode]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def test_the_analysis_shows_the_figures_of_models():
    text = "\n".join(cell.source for cell in code_cells(next(path for path in NOTEBOOKS if path.stem == "05_analysis")))
    assert all(f'"{name}", tables' in text for name in ("frontier", "agreement", "pass_at_k", "transitions"))


def test_every_stage_has_a_notebook():
    assert {path.stem for path in NOTEBOOKS} >= {"01_collect", "02_dataset", "05_analysis"}


@pytest.fixture(scope="module")
def run(data) -> Iterator[Callable[[NotebookNode], None]]:
    """Run a notebook in the one kernel, which forgets the previous notebook but keeps its imports, since these take
    long."""
    import nbformat
    from nbclient import NotebookClient

    place = {"metadata": {"path": str(NOTEBOOKS[0].parent)}}
    client = NotebookClient(nbformat.v4.new_notebook(), timeout=300, resources=place)
    forget = nbformat.v4.new_code_cell("%reset -f")

    def run(notebook: NotebookNode) -> None:
        client.nb = nbformat.v4.new_notebook(cells=[forget, *notebook.cells])
        client.execute(cleanup_kc=False, env=os.environ | {"A11Y_BENCH_DATA": str(data)})

    yield run
    client.nb = nbformat.v4.new_notebook()
    client.execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path, run):
    notebook = read(path)
    run(notebook)
    assert all(cell.outputs for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_definitions_and_no_outputs(path):
    for cell in code_cells(path):
        assert not cell.outputs and cell.execution_count is None
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        assert not [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, definitions)]
