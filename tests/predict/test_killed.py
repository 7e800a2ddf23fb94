"""A run of agents in containers that is killed halfway, and the next run, which continues it: real engine and gateway.

The agent asks one question for each instance. At the second question the provider is silent, and the run and its
gateway are killed: nobody could know what that request still costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from build.test_faults import left_by
from faulty_batch import PAIR, REPO, Batch
from llm.test_process import alive
from predict.test_containers import ASK

from pipeline.core.records import Prediction
from pipeline.llm.costs import requests
from pipeline.llm.models import DEMO
from pipeline.llm.provider import Fault
from pipeline.llm.scripted import Answer, ScriptedModel
from pipeline.llm.spending import check, spending
from pipeline.predict.run import resume
from pipeline.predict.stage import Predictor

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]
FIRST, SECOND = (REPO.instance_id(number) for number in (1, 2))


class Interrupted(NamedTuple):
    """What existed when the run was killed, and the result of the next one."""

    batch: Batch
    answered: list[bool]
    left: list[str]
    left_after: list[str]
    asked: list[str]
    predictions: list[Prediction]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interrupted]:
    folder = tmp_path_factory.mktemp("killed")
    batch = Batch(folder, PAIR)
    batch.build()
    settings = folder / "settings.toml"
    command = json.dumps(["sh", "-c", f'{ASK}ask "$TASK"; echo changed >> src/new.js'])
    settings.write_text(f'command = {command}\nenvironment = {{ MODEL = "{{model}}", TASK = "{{task}}" }}\n')
    with ScriptedModel([Answer((), "I have no idea.")]) as model:
        given = {**os.environ, "A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": "none"}
        predictor = Predictor(batch.store, REPO, "command", "scripted", models=DEMO, settings=settings, environ=given)
        model.fail(Fault(), Fault(delay=600))
        process = _started(batch, settings, given, folder / "said")
        while len(model.requests) < 2:
            assert process.poll() is None, (folder / "said").read_text()[-3000:]
            time.sleep(0.05)
        proxy, left = _proxy(process), left_by(process)
        process.kill()
        process.wait()
        while alive(proxy):
            time.sleep(0.1)
        run = resume(batch.store, predictor.experiment)
        answered = [instance not in run.missing() for instance in run.instances]
        predictions = predictor.predict()
        asked = [json.loads(request.body["messages"][0]["content"])["instance_id"] for request in model.requests]
        yield Interrupted(batch, answered, left, left_by(process), asked, predictions)


def _started(batch: Batch, settings: Path, given: dict[str, str], said: Path) -> subprocess.Popen[bytes]:
    words = ("predict", str(REPO), "scripted", "--agent", "command", "--settings", str(settings), "--models", str(DEMO))
    program = [sys.executable, "-c", "from pipeline.cli import main; main()", *words, "--jobs", "1"]
    with said.open("wb") as output:
        return subprocess.Popen([*program, "--data", str(batch.store.root)], env=given, stdout=output, stderr=output)


def _proxy(process: subprocess.Popen[bytes]) -> int:
    found = subprocess.run(["pgrep", "--parent", str(process.pid), "--full", "llm.proxy"], capture_output=True)
    return int(found.stdout)


@pytest.mark.rule("manifest-last")
@pytest.mark.trap("errors-in-predictions")
def test_answers_are_kept_and_only_the_rest_is_requested(interrupted: Interrupted) -> None:
    """Another system keeps all answers in one file, which a kill leaves half written."""
    assert interrupted.answered == [True, False]
    assert Counter(interrupted.asked) == {FIRST: 1, SECOND: 2}
    outcomes = [(prediction.instance_id, prediction.outcome) for prediction in interrupted.predictions]
    assert outcomes == [(FIRST, "SUCCESSFUL_PATCH"), (SECOND, "SUCCESSFUL_PATCH")]


def test_the_container_of_the_killed_run_is_removed(interrupted: Interrupted) -> None:
    assert interrupted.left and not interrupted.left_after


@pytest.mark.rule("money-adds-up")
def test_interrupted_requests_are_in_the_ledger(interrupted: Interrupted) -> None:
    """Only the provider knows its cost; all sums agree."""
    rows = [(row.holder, row.status) for row in requests(interrupted.batch.store.ledger)]
    assert rows == [(FIRST, "ok"), (SECOND, "lost"), (SECOND, "ok")]
    check(interrupted.batch.store, spending(interrupted.batch.store))
