"""Which verdicts apply to the current patches. A verdict on an older run, patch or image does not."""

from __future__ import annotations

from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.rows import Known
from pipeline.core.assessment import Assessment
from pipeline.core.records import Verdict
from pipeline.core.store import digest


def holds(verdict: Verdict | Assessment, run: Run | None, known: Known) -> bool:
    """Whether a verdict or assessment is about the newest answer, or its agent and model have no run."""
    if run is None:
        return True
    answer = run.predictions.get(verdict.instance_id)
    now = run.name, known.image, digest(answer.model_patch) if answer else ""
    return (verdict.run, verdict.image, verdict.patch_digest) == now
