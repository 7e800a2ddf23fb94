"""Tables on how the dataset came about: funnel, qualification, rejections, WCAG principles. Pure, over frames."""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.frames import PRINCIPLES, Frames
from pipeline.analyze.shares import percent, with_total

UNASSIGNED = "unassigned"


def funnel(frames: Frames) -> pd.DataFrame:
    """How many pull requests of each repository passed each filter (the thesis's table 4.1, and `without_issue`)."""
    return with_total(frames.funnel, "repo")


def qualification(frames: Frames) -> pd.DataFrame:
    """How many candidates of each repository that was built became instances; the others are rejected or pending."""
    rejected = frames.rejections[frames.rejections["stage"] == "build"]
    parts = {"candidates": frames.candidates, "qualified": frames.instances, "rejected": rejected}
    counts = pd.DataFrame({name: part.groupby("repo").size() for name, part in parts.items()}).astype("Int64")
    counts = counts.dropna(how="all", subset=["qualified", "rejected"])
    counts = counts.fillna({"qualified": 0, "rejected": 0}).reset_index()
    counts["pending"] = counts["candidates"] - counts["qualified"] - counts["rejected"]
    table = with_total(counts, "repo")
    return table.assign(qualified_pct=percent(table["qualified"], table["qualified"] + table["rejected"]))


def rejections(frames: Frames) -> pd.DataFrame:
    """Pull requests by stage, reason and repository."""
    counts = frames.rejections.groupby(["stage", "reason", "repo"]).size()
    return counts.rename("pull_requests").reset_index().sort_values("stage", ascending=False, kind="stable")


def assignments(frames: Frames) -> pd.DataFrame:
    """The assigned criteria of the dataset's instances; an instance without any stands once, as `unassigned`."""
    found = frames.instances[["instance_id"]].merge(frames.criteria[["instance_id", "principle", "criterion"]], "left")
    return found.assign(principle=found["principle"].fillna(UNASSIGNED))


def principles(frames: Frames) -> pd.DataFrame:
    """How often each principle was assigned (an instance can count twice), and in how many instances."""
    table = score(assignments(frames))
    criteria, instances = table["criteria"].sum(), len(frames.instances)
    return table.assign(
        criteria_pct=percent(table["criteria"], 0 * table["criteria"] + criteria),
        instances_pct=percent(table["instances"], 0 * table["instances"] + instances),
    )


def score(rows: pd.DataFrame) -> pd.DataFrame:
    """Assigned criteria and distinct instances of each principle, in WCAG's order."""
    groups = rows.groupby("principle")
    counts = pd.DataFrame({"criteria": groups["criterion"].count(), "instances": groups["instance_id"].nunique()})
    order = [name for name in (*PRINCIPLES, UNASSIGNED) if name in counts.index]
    return counts.loc[order].reset_index()
