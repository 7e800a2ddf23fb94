"""Tables on what was spent, in exact decimals. Pure, over frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.definition import definition
from pipeline.analyze.measures.group import WHO, Group
from pipeline.analyze.measures.shares import ALL, with_total
from pipeline.analyze.measures.summary import measured
from pipeline.llm.prices import total

#: the costs of answers: in the row for all together, what judges and raters cost is no part of them
PER_ANSWER = ("cost_per_instance_usd", "cost_per_resolved_usd")


def costs(frames: Frames) -> pd.DataFrame:
    """What each experiment cost and achieved, with a row for all together."""
    by = ["repo", *WHO]
    metrics = [column.name for column in definition("costs").dictionary if column.name not in by]
    answers = dict(iter(frames.predictions.groupby(by)))
    groups = [
        Group(frames, dict(zip(by, key, strict=True)), answers.get(key, frames.predictions[:0]))
        for key in frames.costs[by].drop_duplicates().itertuples(index=False, name=None)
    ]
    rows = [group.key | measured(group, metrics) for group in groups]
    if len(groups) > 1:
        answering = [group for group in groups if len(group.rows)]
        rows.append(
            {"repo": ALL}
            | measured(_everything(frames, groups), metrics)
            | measured(_everything(frames, answering), list(PER_ANSWER))
        )
    return pd.DataFrame(rows)


def _everything(frames: Frames, groups: Sequence[Group]) -> Group:
    """Some groups together. What several agents' names share counts once: answers, their costs, and what was spent."""
    rows = pd.concat([frames.predictions[:0], *(group.rows for group in groups)])
    rows = rows.sort_values("evaluated", ascending=False, kind="stable")
    is_shared = rows["answer"].notna() & rows.duplicated(["instance_id", "answer"])
    costs = pd.concat([frames.costs[:0], *(group.costs for group in groups)])
    booked = [total(pair) for pair in zip(costs["cost_llm_usd"], costs["cost_emb_usd"], strict=True)]
    once = costs.assign(
        shown_llm_usd=costs["new_llm_usd"], shown_emb_usd=costs["new_emb_usd"], spent_usd=pd.Series(booked, costs.index)
    )
    return Group(replace(frames, costs=once), {}, rows[~is_shared])


def usage(frames: Frames) -> pd.DataFrame:
    """`costs.csv` with its totals."""
    used = frames.costs[(frames.costs["req_llm"] > 0) | (frames.costs["req_emb"] > 0)]
    shown = [column.name for column in definition("usage").dictionary]
    return with_total(used[shown].reset_index(drop=True), "repo")


def instance_costs(frames: Frames) -> pd.DataFrame:
    """The cost of each attempt and of `shared`, which serves several: their sum is the experiment's cost."""
    rows = frames.requests
    by = ["repo", *WHO, "holder", "attempt"]
    rows = rows.assign(tokens=rows["tokens_in"] + rows["tokens_out"], seconds=_alone(rows, by))
    groups = rows.groupby(by, dropna=False)
    sums = groups.agg(
        requests=("kind", "size"), tokens=("tokens", "sum"), cost_usd=("cost_usd", total), seconds=("seconds", "sum")
    )
    table = sums.reset_index()
    return with_total(table.drop(columns="attempt"), "repo").assign(attempt=table["attempt"])


def _alone(rows: pd.DataFrame, by: list[str]) -> pd.Series:
    """The seconds of each request in which no earlier one of its group was under way: what several take at once counts
    once."""
    begin = pd.to_datetime(rows["time"], format="ISO8601", utc=True)
    end = begin + pd.to_timedelta(rows["latency_ms"].astype(float), unit="ms")
    group = rows.groupby(by, dropna=False).ngroup()
    spans = pd.DataFrame({"group": group, "begin": begin, "end": end}).sort_values(["begin", "end"])
    before = spans.groupby("group")["end"].cummax().groupby(spans["group"]).shift()
    alone = spans["end"] - spans["begin"].where(~(before > spans["begin"]), before)
    return alone.dt.total_seconds().clip(lower=0).round(3).reindex(rows.index)
