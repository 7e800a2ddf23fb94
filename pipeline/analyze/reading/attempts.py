"""One row per agent, model and instance of the dataset, with everything that the stages know about it.

Every instance that a run covers has a row for the run's agent and model, even without an answer or a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pipeline.analyze.handcheck.records import patch_key
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.assessed import Assessments
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.rechecked import HandRatings
from pipeline.analyze.reading.rows import KnownInstance, Rows, Who
from pipeline.analyze.reading.spent import Spending
from pipeline.analyze.structure import match, structure_and_files
from pipeline.core.names import Repo
from pipeline.core.options import REFERENCES
from pipeline.core.records import Outcome, Prediction, Verdict

Runs = Mapping[tuple[Who, Repo], Run]


class Findings(NamedTuple):
    """The findings on patches: by tests, assessments, the ledger and people."""

    verdicts: Verdicts
    assessments: Assessments
    spending: Spending
    hands: HandRatings


def add(rows: Rows, runs: Runs, findings: Findings, cutoffs: Mapping[str, str]) -> None:
    """Add `predictions`."""
    names = {who for who, _ in runs} | {(agent, model) for agent, model, _ in findings.verdicts}
    for who in sorted(names):
        for known in rows.known.values():
            run = runs.get((who, known.repo))
            name = known.instance_id
            if run and not run.is_about(name):
                continue
            answer = run.predictions.get(name) if run else None
            verdict = findings.verdicts.get((*who, name))
            rows.add(
                "predictions",
                Context=_context(who, known, run, verdict) | _dated(known, cutoffs.get(who[1])),
                Gold=known.gold,
                Seen=run.metadata[name].gold_seen(known.files) if run and answer else {},
                Verdict=verdict,
                Assessment=findings.assessments.get((*who, name)),
                Spent=findings.spending.of(who, name, answer),
                Hand=findings.hands.get(patch_key(name, answer.model_patch)) if answer else None,
                **_patch(answer, known),
            )


def _context(who: Who, known: KnownInstance, run: Run | None, verdict: Verdict | None) -> dict[str, Any]:
    answer = run.predictions.get(known.instance_id) if run else None
    outcome = verdict.outcome if verdict else Outcome.NOT_EVALUATED
    return {
        "kind": "reference" if who[0] in REFERENCES else "model",
        "agent": who[0],
        "model": who[1],
        "instance_id": known.instance_id,
        "repo": known.repo,
        "run": run.name if run else verdict and verdict.run,
        "predicted": answer is not None,
        "answer": answer.answer if answer else None,
        "ended": answer.outcome or None if answer else (run and run.unanswered.get(known.instance_id)),
        "judged": verdict is not None,
        "outcome": outcome.value,
        "evaluated": outcome is not Outcome.NOT_EVALUATED,
        "resolved": outcome is Outcome.RESOLVED,
    }


def _dated(known: KnownInstance, cutoff: str | None) -> dict[str, bool]:
    """Unknown without a cut-off date, and for an instance without a date, as imported benchmarks have."""
    return {"after_cutoff": known.merged_at[:10] > cutoff} if cutoff and known.merged_at else {}


def _patch(answer: Prediction | None, known: KnownInstance) -> dict[str, Any]:
    """The parts of a row that need an answer; most need one that is not empty."""
    if answer is None:
        return {}
    if not answer.model_patch.strip():
        return {"Patch": {"empty": True}}
    structure, files = structure_and_files(answer.model_patch)
    return {"Patch": structure._asdict() | {"empty": False}, "Match": match(files, known.files)}
