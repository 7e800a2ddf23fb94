"""The assessment of the demo's patches, compared with the expected one."""

from __future__ import annotations

import json
from pathlib import Path

import factories

from pipeline.core.assessment import Assessment, AxeDelta, Judgement
from pipeline.core.store import Store, write_records
from pipeline.demo.assess import unexpected

STORIES = AxeDelta(base=4, gold=0, candidate=1, fixed=(), remaining=(), introduced=())
JUDGE = Judgement(model="scripted", settings="s", score=2, agreement=1, ratings=())
SAID = {"equivalent": False, "snapshot": None, "axe": None, "stories": [4, 0, 1], "judge": 2}


def test_every_different_assessment_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    verdict = factories.make_verdict(factories.make_prediction(1))
    who = verdict.model_dump(include={"instance_id", "agent", "model", "run", "patch_digest", "image"})
    found = Assessment(**who, resolved=False, resolved_equivalent=False, stories=STORIES, judge=JUDGE)
    write_records(store.evaluation(factories.REPO, "magentless", "scripted") / "assessments.jsonl", [found])
    expected = {"oracle": {}, "nop": {"acme__ui-2": SAID}, "scripted": {"acme__ui-1": SAID | {"judge": 3}}}
    (tmp_path / "expected.json").write_text(json.dumps({"assessments": expected}))
    assert list(unexpected(store, factories.REPO, tmp_path)) == [
        f"the assessment of nop's acme__ui-2: expected {SAID}, got None",
        f"the assessment of scripted's acme__ui-1: expected {SAID | {'judge': 3}}, got {SAID}",
    ]
