"""An evaluation that is killed and resumed gives the same bytes, and leaves no browser behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from multiprocessing import get_context
from pathlib import Path

import pytest
from pages_bench import make_run

from pipeline.core.store import Store
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.runs import KEPT, load_run

pytestmark = pytest.mark.engine("browser")


def _child(root: str) -> None:
    Evaluation(load_run(Store(Path(root))), jobs=1).evaluate()


def kept(store: Store) -> int:
    return len(list(store.pages_evaluated(KEPT).glob("*/manifest.json")))


def browsers(temporary: Path) -> str:
    """The processes whose command line names a folder."""
    return subprocess.run(["pgrep", "-f", str(temporary)], capture_output=True, text=True).stdout


@pytest.mark.rule("pages-regrade")
def test_an_evaluation_killed_at_ten_points_has_the_same_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary").chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    models = ("one", "other")
    stores = [Store(tmp_path / name) for name in ("killed", "undisturbed")]
    killed, undisturbed = (make_run(store, tmp_path / f"cases-{place}", models) for place, store in enumerate(stores))
    for point in range(10):
        child = get_context("spawn").Process(target=_child, args=(str(killed.store.root),))
        child.start()
        deadline = time.monotonic() + 120
        while child.is_alive() and kept(killed.store) <= point - 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        if child.is_alive():
            os.kill(child.pid, signal.SIGKILL)
        child.join()
    deadline = time.monotonic() + 20
    while browsers(tmp_path / "temporary") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert browsers(tmp_path / "temporary") == ""
    for run in (killed, undisturbed):
        Evaluation(run, jobs=1).evaluate()
    names = ("verdicts.jsonl", "settings.json")
    assert [(killed.evaluated / file).read_bytes() for file in names] == [
        (undisturbed.evaluated / file).read_bytes() for file in names
    ]
