"""The assessment of all the demo's patches, with a scripted judge, and whether it is as expected.

`assessments` in `expected.json` holds, for each patch, whether it is equivalent, the snapshot verdict, the violations
of base, gold and patch in what the tests render and in stories, and the judge's rating; null is what says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.campaign.steps import say_stage
from pipeline.core.assessment import Assessment, AxeDelta
from pipeline.core.names import Repo
from pipeline.core.records import Candidate
from pipeline.core.retry import PATIENT
from pipeline.core.store import Store, read_json, read_records
from pipeline.demo.model import scripted_judge, surroundings
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess.stage import More, assess
from pipeline.evaluate.runs import How
from pipeline.llm.panel import Asked
from pipeline.sandbox.base import DEFAULT, Sandbox

#: agent and model, and whether the judge is asked
ASSESSED = (("oracle", "oracle", False), ("nop", "nop", False), ("magentless", "scripted", True))


def assess_demo(store: Store, repo: Repo, demo: Path, sandbox: Sandbox, *, jobs: int = 2) -> None:
    """Assess everything that the demo has evaluated."""
    how = How(sandbox, DEFAULT, PATIENT)
    candidates = read_records(store.raw(repo) / "candidates.jsonl", Candidate)
    with scripted_judge(demo, candidates) as model:
        asked = Asked("scripted", models=demo / "models.yaml", given=surroundings(model))
        for agent, name, judged in ASSESSED:
            say_stage("04 assess", name)
            more = More(axe=True, stories=True, judge=asked if judged else None)
            assess(store, Subject(repo, agent, name), how, jobs=jobs, more=more)


def unexpected(store: Store, repo: Repo, demo: Path) -> Iterator[str]:
    """What the assessment says and is not as expected, one line each."""
    expected = read_json(demo / "expected.json")["assessments"]
    for agent, model, _ in ASSESSED:
        path = store.evaluation(repo, agent, model) / "assessments.jsonl"
        wanted = expected[model]
        found = {one.instance_id: said(one) for one in read_records(path, Assessment)}
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                yield f"the assessment of {model}'s {name}: expected {wanted.get(name)}, got {found.get(name)}"


def said(one: Assessment) -> dict[str, Any]:
    """An assessment in the form of `expected.json`."""
    return {
        "equivalent": one.resolved_equivalent,
        "snapshot": one.snapshot.likeness if one.snapshot else None,
        "axe": one.axe and _counts(one.axe),
        "stories": one.stories and _counts(one.stories),
        "judge": one.judge.score if one.judge else None,
    }


def _counts(found: AxeDelta) -> list[int]:
    return [found.base, found.gold, found.candidate]
