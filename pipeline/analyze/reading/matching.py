"""Which verdicts are on the patches that there are now: one on an older run, patch or image is no result of the new."""

from __future__ import annotations

from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.rows import Known
from pipeline.core.assessment import Assessment
from pipeline.core.records import Verdict
from pipeline.core.store import digest


def holds(verdict: Verdict | Assessment, run: Run | None, known: Known) -> bool:
    """Whether a verdict, or an assessment, is on the newest answer. One whose agent and model left no run holds."""
    if run is None:
        return True
    answer = run.predictions.get(verdict.instance_id)
    now = run.name, known.image, digest(answer.model_patch) if answer else ""
    return (verdict.run, verdict.image, verdict.patch_digest) == now
