"""Tables on how models did: resolution, outcomes, results by WCAG principle. Pure, over frames.

Every instance of the dataset is in the denominator of every model: one without a verdict is `not_evaluated`.
"""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.about_dataset import assignments, score
from pipeline.analyze.frames import Frames
from pipeline.analyze.shares import ALL, percent
from pipeline.core.records import Outcome

WHO = ["agent", "model"]


def graded(frames: Frames) -> pd.DataFrame:
    """One row per agent, model and instance of the dataset, with its outcome; `judged`: there is a verdict."""
    models = frames.verdicts[WHO].drop_duplicates().sort_values(WHO)
    grid = models.merge(frames.instances[["instance_id", "repo"]], "cross")
    rows = grid.merge(frames.verdicts[[*WHO, "instance_id", "outcome"]], "left", on=[*WHO, "instance_id"])
    outcome = rows["outcome"].fillna(Outcome.NOT_EVALUATED.value)
    return rows.assign(
        judged=rows["outcome"].notna(),
        outcome=outcome,
        evaluated=outcome != Outcome.NOT_EVALUATED.value,
        resolved=outcome == Outcome.RESOLVED.value,
    )


def resolution(frames: Frames) -> pd.DataFrame:
    """Resolved instances by agent, model and repository, and over all; a repository without any verdict has no row."""
    rows = graded(frames)
    judged = rows[rows.groupby([*WHO, "repo"])["judged"].transform("any")]
    overall = rows.assign(repo=ALL) if rows["repo"].nunique() > 1 else rows[:0]
    groups = pd.concat([judged, overall]).groupby([*WHO, "repo"], sort=False)
    table = groups.agg(
        instances=("instance_id", "size"), evaluated=("evaluated", "sum"), resolved=("resolved", "sum")
    ).reset_index()
    return table.sort_values(WHO, kind="stable").assign(
        resolved_pct=percent(table["resolved"], table["instances"]),
        resolved_of_evaluated_pct=percent(table["resolved"], table["evaluated"]),
        incomplete=table["evaluated"] < table["instances"],
    )


def outcomes(frames: Frames) -> pd.DataFrame:
    """How many instances ended in which way, by agent and model."""
    counts = graded(frames).groupby([*WHO, "outcome"]).size().unstack(fill_value=0)
    return counts.reindex(columns=[outcome.value for outcome in Outcome], fill_value=0).reset_index()


def principle_results(frames: Frames) -> pd.DataFrame:
    """Resolved by WCAG principle, over assigned criteria (an instance can count twice) and over instances."""
    rows = graded(frames).merge(assignments(frames), "left", on="instance_id")
    table = pd.concat([_scores(group).assign(agent=who[0], model=who[1]) for who, group in rows.groupby(WHO)])
    return table.assign(
        criteria_resolved_pct=percent(table["criteria_resolved"], table["criteria"]),
        instances_resolved_pct=percent(table["instances_resolved"], table["instances"]),
    )


def _scores(rows: pd.DataFrame) -> pd.DataFrame:
    solved = score(rows[rows["resolved"]]).set_index("principle").add_suffix("_resolved").reset_index()
    joined = score(rows).merge(solved, "left", on="principle")
    return joined.fillna({"criteria_resolved": 0, "instances_resolved": 0})
