"""Tables on what was spent, in exact decimals. Pure, over frames."""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.definition import definition
from pipeline.analyze.measures.group import WHO, Group
from pipeline.analyze.measures.shares import ALL, with_total
from pipeline.analyze.measures.summary import measured
from pipeline.llm.prices import total


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
        everything = Group(frames, {}, pd.concat([group.rows for group in groups]))
        rows.append({"repo": ALL} | measured(everything, metrics))
    return pd.DataFrame(rows)


def usage(frames: Frames) -> pd.DataFrame:
    """`costs.csv` with its totals."""
    used = frames.costs[(frames.costs["req_llm"] > 0) | (frames.costs["req_emb"] > 0)]
    return with_total(used.drop(columns=["shown_llm_usd", "shown_emb_usd"]).reset_index(drop=True), "repo")


def instance_costs(frames: Frames) -> pd.DataFrame:
    """The cost of each attempt and of `shared`, which serves several: their sum is the experiment's cost."""
    rows = frames.requests
    rows = rows.assign(tokens=rows["tokens_in"] + rows["tokens_out"], seconds=rows["latency_ms"] / 1000)
    groups = rows.groupby(["repo", *WHO, "holder", "attempt"], dropna=False)
    sums = groups.agg(
        requests=("kind", "size"), tokens=("tokens", "sum"), cost_usd=("cost_usd", total), seconds=("seconds", "sum")
    )
    table = sums.reset_index()
    return with_total(table.drop(columns="attempt"), "repo").assign(attempt=table["attempt"])
