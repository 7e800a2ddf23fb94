"""Tables on repositories over all models. Pure, over frames."""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.group import WHO, attempts
from pipeline.analyze.measures.shares import ALL, share


def together(frames: Frames) -> pd.DataFrame:
    """The instances of each repository that any model, every model and no model resolved."""
    rows = attempts(frames)
    solved = rows.groupby(["repo", "instance_id"])["resolved"].agg(["any", "sum"]).reset_index()
    models = len(rows[WHO].drop_duplicates())
    solved["all"] = solved["sum"] == models
    overall = [(ALL, solved)] if solved["repo"].nunique() > 1 else []
    return pd.DataFrame([_row(repo, part, models) for repo, part in [*solved.groupby("repo"), *overall]])


def _row(repo: str, solved: pd.DataFrame, models: int) -> dict[str, object]:
    by_any = int(solved["any"].sum())
    return {
        "repo": repo,
        "instances": len(solved),
        "models": models,
        "by_any": by_any,
        "by_any_pct": share(by_any, len(solved)),
        "by_all": int(solved["all"].sum()),
        "by_none": len(solved) - by_any,
    }
