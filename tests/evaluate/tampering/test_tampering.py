"""Patches that fix nothing and try to be resolved: `cases.toml`, each run in a container of one instance."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from demo_bench import REPO, Bench
from histories import History

from pipeline.core.git import read_blobs
from pipeline.core.records import Outcome, Prediction, Verdict
from pipeline.core.store import write_records
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.sandbox.base import Limits

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))["case"]
FOLDER = "src/components/Toggle"
COMPONENT, TEST = f"{FOLDER}/Toggle.tsx", f"{FOLDER}/__tests__/Toggle.test.tsx"
#: how cases.toml refers to two files
NAMES = {"{test}": TEST, "{snapshots}": f"{FOLDER}/__tests__/__snapshots__/Toggle.test.tsx.snap"}
#: for one small test file: an endless run reaches them soon
PROCESSES, OUTPUT = 200, 2_000_000


@pytest.fixture(scope="module")
def base(harbor: Bench, tmp_path_factory: pytest.TempPathFactory) -> History:
    """The sources of the instance, as a base for patches."""
    history = History(tmp_path_factory.mktemp("tampering") / "base")
    history.commit("base", dict(read_blobs(harbor.clone, harbor.instance.base.sha, lambda path: True)))
    return history


def patch_of(case: dict[str, Any], base: History) -> str:
    if "patch" in case:
        return case["patch"].lstrip()
    files = {**case.get("files", {}), **dict.fromkeys(case.get("deleted", ()))}
    if "code" in case:
        files[COMPONENT] = (base.folder / COMPONENT).read_text() + case["code"]
    base.commit(case["name"], {NAMES.get(path, path): content for path, content in files.items()})
    patch = base.git("diff", "--binary", "HEAD~", "HEAD") + "\n"
    base.git("reset", "-q", "--hard", "HEAD~")
    return patch


def verdict(bench: Bench, name: str, patch: str, seconds: int) -> Verdict:
    prediction = Prediction(instance_id=bench.instance.instance_id, model_name_or_path=name, model_patch=patch)
    path = bench.store.predictions(REPO, "tampering", name) / "20240506T070809Z" / "predictions.jsonl"
    write_records(path, [prediction])
    limits = Limits(seconds=seconds, processes=PROCESSES, output=OUTPUT)
    (found,) = evaluate(bench.store, Subject(REPO, "tampering", name), bench.sandbox, limits=limits)
    return found


@pytest.mark.rule("tampering-suite")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_attack_has_its_listed_outcome(case: dict[str, Any], harbor: Bench, base: History) -> None:
    """Each attack has the outcome that the table names; undone changes are listed."""
    found = verdict(harbor, case["name"], patch_of(case, base), case.get("seconds", 120))
    assert found.outcome is not Outcome.RESOLVED, case["why"]
    assert found.outcome in case.get("outcomes", [case.get("outcome")]), found.cause
    assert found.restored == tuple(NAMES.get(path, path) for path in case.get("restored", ()))
    assert case.get("cause", "") in found.cause
