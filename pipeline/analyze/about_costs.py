"""Tables on what was spent, in exact decimals. Pure, over frames."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.shares import with_total
from pipeline.core.llm.prices import total


def costs(frames: Frames) -> pd.DataFrame:
    """What each experiment asked and spent, with the share of the model against embeddings."""
    table = with_total(frames.costs.drop(columns="embed"), "repo")
    spent = table["cost_llm_usd"] + table["cost_emb_usd"]
    shares = [_share(*pair) for pair in zip(table["cost_llm_usd"], spent, strict=True)]
    return table.assign(cost_usd=spent, llm_pct=shares)


def _share(part: Decimal, whole: Decimal) -> float | None:
    return float(100 * part / whole) if whole else None


def instance_costs(frames: Frames) -> pd.DataFrame:
    """What each instance cost, with `shared` for what serves several: their sum is the experiment's cost."""
    rows = frames.requests.assign(tokens=frames.requests["tokens_in"] + frames.requests["tokens_out"])
    groups = rows.groupby(["repo", "model", "agent", "holder"], sort=False)
    sums = groups.agg(requests=("kind", "size"), tokens=("tokens", "sum"), cost_usd=("cost_usd", total))
    return with_total(sums.reset_index(), "repo")
