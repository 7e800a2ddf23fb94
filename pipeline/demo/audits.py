"""What axe-core finds in all that the tests of the demo render, without a fix and with it, and what is expected.

`audits` in `expected.json` has, for oracle and nop, the violations in the base, with gold's patch and with the model's;
null where the tests render nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.bench import say_stage
from pipeline.core.assessment import Assessment
from pipeline.core.console import say
from pipeline.core.names import Repo
from pipeline.core.retry import PATIENT
from pipeline.core.sandbox.base import DEFAULT, Sandbox
from pipeline.core.store import Store, read_records
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.bench import How
from pipeline.evaluate.oracle.stage import More, assess


def audit_and_say(store: Store, repo: Repo, model: str, sandbox: Sandbox, jobs: int) -> None:
    """Audit a reference, and say how many violations there are. References need no browser for it."""
    say_stage("04 assess", model)
    for one in assess(
        store, Subject(repo, model, model), How(sandbox, DEFAULT, PATIENT), jobs=jobs, more=More(axe=True)
    ):
        if one.axe and one.axe.base:
            counts = f"{one.axe.base} in the base, {one.axe.gold} with gold's patch, {one.axe.candidate} with {model}'s"
            say(f"{one.instance_id}: axe-core's violations: {counts}")


def audit_differences(store: Store, repo: Repo, expected: dict[str, dict[str, list[int] | None]]) -> Iterator[str]:
    """What is not as expected, one line each. An instance that is not listed is not compared."""
    for model, wanted in expected.items():
        found = {one.instance_id: one.axe for one in _assessments(store, repo, model)}
        for name, counts in wanted.items():
            axe = found.get(name)
            actual = axe and [axe.base, axe.gold, axe.candidate]
            if actual != counts:
                yield f"{model} on {name}: expected the violations {counts}, got {actual}"


def _assessments(store: Store, repo: Repo, model: str) -> list[Assessment]:
    return read_records(store.evaluation(repo, model, model) / "assessments.jsonl", Assessment)
