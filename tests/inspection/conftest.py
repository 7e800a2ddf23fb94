"""Two runs, and an assessed one."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import REPO, make_instance, make_prediction, make_verdict

from pipeline.core.assessment import Assessment, SnapshotVerdict, Spoken
from pipeline.core.records import Outcome
from pipeline.core.store import Store, write_json, write_records

TIME = "20240506T070809Z"
SPOKEN = Spoken(base=("button, Lamp",), gold=("switch, Lamp",), patch=("[checkbox], Lamp", "off"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two settings of one agent: the named one resolves what the other does not."""
    store = Store(tmp_path)
    write_records(store.dataset(REPO), [make_instance(1), make_instance(2)])
    for agent, outcome, top in (("magentless", Outcome.UNRESOLVED, 5), ("magentless@greedy", Outcome.RESOLVED, 1)):
        prediction = make_prediction(1, agent=agent, run=TIME, answer=f"answer-{agent}")
        folder = store.predictions(REPO, agent, "model-a") / TIME
        write_records(folder / "predictions.jsonl", [prediction])
        shaped = {"settings_text": f"samples = 2\ntop = {top}\n", "version": "1"}
        about = {"agent": agent, "model": "model-a", "experiment": agent, "shaped_by": shaped}
        write_json(folder / "run.json", about)
        verdicts = store.evaluation(REPO, agent, "model-a") / "verdicts.jsonl"
        write_records(verdicts, [make_verdict(prediction, outcome)])
    return store


@pytest.fixture
def assessed(store: Store) -> Store:
    """The same, with a screen reader's output for the first answer."""
    seen = SnapshotVerdict(likeness="a11y-different", tests={}, spoken={"shows [x]": SPOKEN})
    whose = {"agent": "magentless", "model": "model-a", "run": TIME, "patch_digest": "", "image": ""}
    about = {"instance_id": make_instance(1).instance_id, "resolved": False, "resolved_equivalent": False, **whose}
    path = store.evaluation(REPO, "magentless", "model-a") / "assessments.jsonl"
    write_records(path, [Assessment(**about, snapshot=seen)])
    return store
