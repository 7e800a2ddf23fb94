"""Tables on the errors of our own verdicts and on the strength of tests. Pure, over the frame `audits`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.shares import percent, share
from pipeline.report.statistics import of_clusters

#: kind of variant -> the name of a wrong verdict on it, and whether the right verdict is resolved
ERRORS = {"same": ("false negative", True), "harmful": ("false positive", False)}
JUDGES = {"strict": "tests", "checked": "tests and checker"}


def errors(frames: Frames) -> pd.DataFrame:
    """The rates of false negatives and false positives of each judge with verdicts."""
    return pd.DataFrame(_rates(frames.audits))


def by_instance(frames: Frames) -> pd.DataFrame:
    """The same of each instance."""
    groups = frames.audits.groupby("instance_id")
    return pd.DataFrame([{"instance_id": name} | rate for name, rows in groups for rate in _rates(rows)])


def _rates(audits: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for column, judge in JUDGES.items():
        if audits[column].isna().all():
            continue
        for kind, (error, right) in ERRORS.items():
            rows = audits[(audits["variant"] == kind) & audits[column].notna()]
            wrong = int((rows[column] != right).sum())
            ends = of_clusters(_by_instance(rows, rows[column] != right))
            yield {
                "judge": judge,
                "error": error,
                "wrong": wrong,
                "judged": len(rows),
                "wrong_pct": share(wrong, len(rows)),
                "wrong_low": 100 * ends.low if ends else None,
                "wrong_high": 100 * ends.high if ends else None,
            }


def _by_instance(rows: pd.DataFrame, wrong: pd.Series) -> list[tuple[int, int]]:
    """The numbers of verdicts and of wrong ones, by instance: variants of one gold patch depend on each other."""
    counts = wrong.groupby(rows["instance_id"]).agg(["size", "sum"])
    return [(int(of), int(hits)) for of, hits in counts.itertuples(index=False)]


def by_rule(frames: Frames) -> pd.DataFrame:
    """The same by the rule that made the variant."""
    rows = frames.audits[frames.audits["variant"].isin(list(ERRORS))]
    right = rows["variant"].map({kind: right for kind, (_, right) in ERRORS.items()}).astype("boolean")
    marked = rows.assign(wrong=rows["strict"] != right, wrong_checked=rows["checked"] != right)
    groups = marked.groupby(["variant", "rule"])
    return groups[["wrong", "wrong_checked"]].sum(min_count=1).assign(judged=groups.size()).reset_index()


def strength(frames: Frames) -> pd.DataFrame:
    """How many hunks of each instance a test notices."""
    rows = frames.audits[frames.audits["variant"] == "hunk"]
    groups = rows.assign(noticed=~rows["strict"]).groupby("instance_id")
    table = pd.DataFrame({"judged": groups.size(), "noticed": groups["noticed"].sum()}).reset_index()
    return table.assign(noticed_pct=percent(table["noticed"], table["judged"]))
