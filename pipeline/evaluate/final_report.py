"""`final_report.json` in Multi-SWE-bench's form, for tools that read that.

Every instance of the dataset is counted, a missing prediction as incomplete (there it vanishes).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pipeline.core.records import RAN, Outcome, Verdict

#: Multi-SWE-bench's groups -> our outcomes
GROUPS = {
    "submitted": set(Outcome) - {Outcome.NO_PREDICTION},
    "completed": RAN,
    "incomplete": {Outcome.NO_PREDICTION},
    "resolved": {Outcome.RESOLVED},
    "unresolved": RAN - {Outcome.RESOLVED},
    "empty_patch": {Outcome.EMPTY},
    "error": {Outcome.NOT_APPLIED, Outcome.NOT_EVALUATED},
}


def final_report(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """Counts and lists of instances per group."""
    verdicts = list(verdicts)
    ids = {group: [v.instance_id for v in verdicts if v.outcome in outcomes] for group, outcomes in GROUPS.items()}
    counts = {f"{group}_instances": len(members) for group, members in ids.items()}
    return {"total_instances": len(verdicts), **counts, **{f"{group}_ids": members for group, members in ids.items()}}
