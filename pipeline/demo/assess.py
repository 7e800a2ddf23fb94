"""The assessment of all the demo's patches, with a scripted judge, and whether it is as expected.

`assessments` in `expected.json` holds, for each patch, whether it is equivalent, the snapshot verdict, the violations
of base, gold and patch in what the tests render and in stories, and the judge's rating; null if there is no result.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.campaign.steps import say_stage
from pipeline.core.assessment import Assessment, AxeDelta
from pipeline.core.dataset import read_candidates
from pipeline.core.names import Repo
from pipeline.core.retry import PATIENT
from pipeline.core.store import Store, read_json, read_records
from pipeline.demo.model import scripted_judge, surroundings
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess.stage import Extras, assess
from pipeline.evaluate.runs import How
from pipeline.llm.panel import Asked
from pipeline.sandbox.base import DEFAULT, Sandbox

#: agent and model, and whether the judge is asked
ASSESSED = (("oracle", "oracle", False), ("nop", "nop", False), ("magentless", "scripted", True))


def assess_demo(store: Store, repo: Repo, demo: Path, sandbox: Sandbox, *, jobs: int = 2) -> None:
    """Assess everything that the demo has evaluated."""
    how = How(sandbox, DEFAULT, PATIENT)
    candidates = read_candidates(store, repo)
    with scripted_judge(demo, candidates) as model:
        judge = Asked("scripted", models=demo / "models.yaml", environ=surroundings(model))
        for agent, name, judged in ASSESSED:
            say_stage("04 assess", name)
            extras = Extras(axe=True, stories=True, judge=judge if judged else None)
            assess(store, Subject(repo, agent, name), how, jobs=jobs, extras=extras)


def unexpected(store: Store, repo: Repo, demo: Path) -> Iterator[str]:
    """The differences between the assessment and what is expected, one line each."""
    expected = read_json(demo / "expected.json")["assessments"]
    for agent, model, _ in ASSESSED:
        path = store.evaluation(repo, agent, model) / "assessments.jsonl"
        patches = expected[model]
        actual = {record.instance_id: summary(record) for record in read_records(path, Assessment)}
        for name in sorted(patches.keys() | actual.keys()):
            if patches.get(name) != actual.get(name):
                yield f"the assessment of {model}'s {name}: expected {patches.get(name)}, got {actual.get(name)}"


def summary(assessment: Assessment) -> dict[str, Any]:
    """An assessment in the form of `expected.json`."""
    return {
        "equivalent": assessment.resolved_equivalent,
        "snapshot": assessment.snapshot.likeness if assessment.snapshot else None,
        "axe": assessment.axe and _counts(assessment.axe),
        "stories": assessment.stories and _counts(assessment.stories),
        "judge": assessment.judge.score if assessment.judge else None,
    }


def _counts(delta: AxeDelta) -> list[int]:
    return [delta.base, delta.gold, delta.candidate]
