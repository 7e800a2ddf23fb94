"""Which verdicts apply to the current patches. A verdict on an older run, patch or image does not."""

from __future__ import annotations

from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.rows import KnownInstance
from pipeline.core.assessment import Assessment
from pipeline.core.records import Verdict
from pipeline.core.store import digest


def holds(verdict: Verdict | Assessment, run: Run | None, known: KnownInstance) -> bool:
    """Whether a verdict or assessment applies to the newest answer. It also does if its agent and model have no run."""
    if run is None:
        return True
    answer = run.predictions.get(verdict.instance_id)
    current = run.name, known.image, digest(answer.model_patch) if answer else ""
    return (verdict.run, verdict.image, verdict.patch_digest) == current
