"""Tables on how the dataset came about and what it is made of. Pure, over frames."""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.group import CLASSES, UNKNOWN, classified
from pipeline.analyze.measures.shares import ALL, percent, with_total
from pipeline.core.ratings import BUILT
from pipeline.core.store import digest
from pipeline.core.wcag import PRINCIPLES

UNASSIGNED = "unassigned"


def funnel(frames: Frames) -> pd.DataFrame:
    """Pull requests of each repository that passed each filter. The row of sums has the median of the shares."""
    table = with_total(frames.funnel, "repo")
    shares = percent(table["a11y"], table["tests"])
    is_total = table["repo"] == ALL
    return table.assign(a11y_pct=shares.mask(is_total, shares[~is_total].median()))


def qualification(frames: Frames) -> pd.DataFrame:
    """Candidates of each built repository that became instances, were rejected or are pending."""
    rejected = frames.rejections[frames.rejections["stage"] == "build"]
    decided = {*frames.instances["instance_id"], *rejected["instance_id"]}
    pending = frames.candidates[~frames.candidates["instance_id"].isin(decided)]
    parts = {"candidates": frames.candidates, "qualified": frames.instances, "rejected": rejected, "pending": pending}
    counts = pd.DataFrame({name: part.groupby("repo").size() for name, part in parts.items()}).astype("Int64")
    counts = counts.dropna(how="all", subset=["qualified", "rejected"])
    counts = counts.fillna({"qualified": 0, "rejected": 0, "pending": 0})
    counts["kept"] = _kept(frames).reindex(counts.index)
    table = with_total(counts.reset_index(), "repo")
    return table.assign(qualified_pct=percent(table["qualified"], table["qualified"] + table["rejected"]))


def _kept(frames: Frames) -> pd.Series:
    """By repository, the candidates that a build of reviewed candidates takes; unknown without ratings."""
    reviews = frames.reviews[frames.reviews["instance_id"].isin(frames.candidates["instance_id"])]
    rated = reviews.drop_duplicates("instance_id")
    return rated["resolved"].isin(BUILT).groupby(rated["repo"]).sum().astype("Int64")


def ratings(frames: Frames) -> pd.DataFrame:
    """How often each value of a field was given, by people and models."""
    fields = ("status", "difficulty", "issue_category", "test_quality")
    counts = [frames.reviews[name].dropna().value_counts(sort=True) for name in fields]
    parts = [count.rename_axis("value").rename("ratings").reset_index() for count in counts]
    for part, name in zip(parts, fields, strict=True):
        part["field"] = name
        part["ratings_pct"] = percent(part["ratings"], part["ratings"].sum())
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def rejections(frames: Frames) -> pd.DataFrame:
    """Pull requests by stage, reason and repository."""
    counts = frames.rejections.groupby(["stage", "reason", "repo"]).size()
    return counts.rename("pull_requests").reset_index().sort_values("stage", ascending=False, kind="stable")


def composition(frames: Frames) -> pd.DataFrame:
    """Sizes and sources of instances, by repository and over all."""
    rows = frames.instances
    overall = [(ALL, rows)] if rows["repo"].nunique() > 1 else []
    return pd.DataFrame([{"repo": repo} | _composed(part) for repo, part in [*rows.groupby("repo"), *overall]])


def _composed(rows: pd.DataFrame) -> dict[str, object]:
    measured = ("gold_files", "gold_lines", "gold_hunks", "fail_to_pass", "expected")
    return {
        "instances": len(rows),
        "with_issue": (rows["statement_source"] == "issue").sum(),
        "first_year": rows["year"].min(),
        "last_year": rows["year"].max(),
        "by_snapshot": ((rows["snapshot_only"] == rows["fixed_tests"]) & (rows["fixed_tests"] > 0)).sum(),
    } | {f"{name}_median": rows[name].median() for name in measured}


def identity(frames: Frames) -> pd.DataFrame:
    """A digest of each repository's instances."""
    columns = ["repo", "instance_id", "merged_at", "expected"]
    instances = frames.instances.sort_values("instance_id")[columns].astype(str)
    rows = [(repo, len(part), digest(part.values.tolist())[:12]) for repo, part in instances.groupby("repo")]
    return pd.DataFrame(rows, columns=["repo", "instances", "instances_digest"])


def transitions(frames: Frames) -> pd.DataFrame:
    """The tests that must pass, by repository and by their status before the fix."""
    rows = frames.transitions[frames.transitions["must_pass"].fillna(False).astype(bool)]
    counts = rows.groupby(["repo", "kind"]).size().unstack(fill_value=0)
    kinds = ["f2p", "s2p", "n2p", "p2p"]
    table = counts.reindex(columns=kinds, fill_value=0).reset_index()
    return table.assign(tests=table[kinds].sum(axis=1))


def assignments(frames: Frames) -> pd.DataFrame:
    """The assigned criteria of the dataset's instances; an instance without any has one row, `unassigned`."""
    rows = frames.instances[["instance_id"]].merge(frames.criteria[["instance_id", "principle", "criterion"]], "left")
    return rows.assign(principle=rows["principle"].fillna(UNASSIGNED))


def principles(frames: Frames) -> pd.DataFrame:
    """How often each principle was assigned (an instance can count twice), and in how many instances."""
    table = score(assignments(frames))
    return table.assign(
        criteria_pct=percent(table["criteria"], table["criteria"].sum()),
        instances_pct=percent(table["instances"], len(frames.instances)),
    )


def score(rows: pd.DataFrame) -> pd.DataFrame:
    """Assigned criteria and distinct instances of each principle, in WCAG's order."""
    groups = rows.groupby("principle")
    counts = pd.DataFrame({"criteria": groups["criterion"].count(), "instances": groups["instance_id"].nunique()})
    order = [name for name in (*PRINCIPLES, UNASSIGNED) if name in counts.index]
    return counts.loc[order].reset_index()


def success_criteria(frames: Frames) -> pd.DataFrame:
    """In how many instances each criterion was assigned."""
    rows = assignments(frames)
    rows = rows[rows["criterion"].fillna("") != ""]
    counts = rows.groupby(["criterion", "principle"])["instance_id"].nunique().rename("instances").reset_index()
    return counts.sort_values(["instances", "criterion"], ascending=[False, True])


def classes(frames: Frames) -> pd.DataFrame:
    """How many instances are in each class of difficulty, size, statement and year."""
    rows = classified(frames.instances)
    counts = [rows.groupby(name, observed=True).size().rename("instances") for name in (*CLASSES, "year")]
    parts = [part.rename_axis("value").reset_index().assign(**{"class": str(part.index.name)}) for part in counts]
    parts = [part for part in parts if list(part["value"].astype(str)) != [UNKNOWN]]
    table = pd.concat([part.astype({"value": str}) for part in parts], ignore_index=True)
    return table.assign(instances_pct=percent(table["instances"], len(rows)))
