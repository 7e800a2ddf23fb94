"""The tiny library with a dataset, and predictions in the form that an agent leaves."""

from __future__ import annotations

from pathlib import Path

import factories
import pytest
from tiny_library import IMPATIENT, LIMITS, NUMBERS, Bench

from pipeline.core.records import Instance, Verdict
from pipeline.core.store import read_records, write_records
from pipeline.evaluate.stage import Subject, evaluate

RUNNER = (Path(__file__).parents[1] / "tiny_jest.js").read_text().splitlines()


def change(path: str, before: str, after: str, *rest: str) -> str:
    """A patch that changes the first line of a file, with the remaining lines as context."""
    size, context = len(rest) + 1, "".join(f" {line}\n" for line in rest)
    header = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{size} +1,{size} @@\n"
    return f"{header}-{before}\n+{after}\n{context}"


FIX, WRONG = change("src/menu.js", "old", "old brand new"), change("src/menu.js", "old", "old and other")
BREAKS = change("src/menu.js", "old", "new")
ELSEWHERE = change("src/alert.js", "old", "other")
SILENCE = change("jest/bin/jest.js", RUNNER[0], "console.error = () => {};", *RUNNER[1:4])


RUN = "20240506T070809Z"


class Evaluation:
    """A data directory with the tiny dataset; `bench.sandbox` counts the runs."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.store, self.sandbox = bench, bench.store, bench.sandbox

    def predict(self, model: str = "model-a", run: str = RUN, trusted: bool = True, **patches: str) -> Path:
        """Write predictions by the pull request's name and return the file."""
        path = self.store.predictions(factories.REPO, "magentless", model) / run / "predictions.jsonl"
        fields = {"model_name_or_path": model, "run": run, "trusted": trusted}
        made = [factories.make_prediction(NUMBERS[name], model_patch=text, **fields) for name, text in patches.items()]
        write_records(path, made)
        return path

    def forget(self) -> None:
        """Turn the dataset into an older one, in which the runner that lies in this library is not protected."""
        instances = read_records(self.store.dataset(factories.REPO), Instance)
        assert all("jest/bin/jest.js" in instance.protected for instance in instances)
        older = [instance.model_copy(update={"protected": ()}) for instance in instances]
        write_records(self.store.dataset(factories.REPO), older)

    def evaluate(self, model: str = "model-a", run: str = "", **more: object) -> dict[str, Verdict]:
        """Verdicts by the pull request's name."""
        subject = Subject(factories.REPO, "magentless", model, run)
        verdicts = evaluate(
            self.store, subject, self.sandbox, **{"limits": LIMITS, "patience": IMPATIENT, "trust_local": True} | more
        )
        names = {number: name for name, number in NUMBERS.items()}
        return {names[int(verdict.instance_id.rpartition("-")[2])]: verdict for verdict in verdicts}


@pytest.fixture
def evaluation(tiny: Bench, tmp_path: Path) -> Evaluation:
    return Evaluation(tiny.copy(tmp_path))
