"""What the accessibility oracle says of the demo's patches, by a scripted judge too, and whether it is as expected.

`assessments` in `expected.json` holds, for each patch, whether it is equivalent, the snapshot verdict, the violations
of base, gold and patch in the documents of tests and in stories, and the judge's rating; null is what says nothing.
What is not in there is not compared: #33 renders other elements in each run, which is what it mends.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.bench import say_stage
from pipeline.core.assessment import Assessment, AxeDelta
from pipeline.core.names import Repo
from pipeline.core.records import Candidate
from pipeline.core.retry import PATIENT
from pipeline.core.sandbox.base import DEFAULT, Sandbox
from pipeline.core.store import Store, read_json, read_records
from pipeline.demo.model import scripted_judge, surroundings
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.bench import How
from pipeline.evaluate.oracle.judge.panel import Asked
from pipeline.evaluate.oracle.stage import More, assess

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
            more = More(stories=True, judge=asked if judged else None)
            assess(store, Subject(repo, agent, name), how, jobs=jobs, axe=True, more=more)


def unexpected(store: Store, repo: Repo, demo: Path) -> Iterator[str]:
    """What the oracle says and is not as expected, one line each."""
    expected = read_json(demo / "expected.json")["assessments"]
    for agent, model, _ in ASSESSED:
        path = store.evaluation(repo, agent, model) / "assessments.jsonl"
        wanted = expected[model]
        found = {one.instance_id: said(one) for one in read_records(path, Assessment)}
        for name in sorted(wanted.keys() | found.keys()):
            told = {field: found.get(name, {}).get(field) for field in wanted.get(name, ())}
            if not told or told != wanted[name]:
                yield f"the oracle on {model}'s {name}: expected {wanted.get(name)}, got {told or found.get(name)}"


def said(one: Assessment) -> dict[str, Any]:
    """An assessment in the form of `expected.json`."""
    return {
        "equivalent": one.resolved_equivalent,
        "snapshot": one.snapshot.likeness if one.snapshot else None,
        "axe": _counts(one.axe),
        "stories": _counts(one.stories),
        "judge": one.judge.score if one.judge else None,
    }


def _counts(delta: AxeDelta | None) -> list[int] | None:
    return [delta.base, delta.gold, delta.candidate] if delta else None
