"""The top of the report: a few numbers, and whether the dataset is valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.core.console import plural
from pipeline.llm.prices import total

#: reference -> its answers, and the percentage of instances that it must resolve
REFERENCES = {"oracle": ("the gold patches", 100), "nop": ("no patch at all", 0)}


def facts(frames: Frames, tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, str]]:
    """Label and value of each count, without zeros; agents only if there are several."""
    models, samples = frames.of_models, frames.samples
    further = samples[(samples["attempt"] > 1) & samples["agent"].isin(models["agent"])]
    agents = models["agent"].nunique()
    counts = {
        "repository": len(frames.repos),
        "candidate": len(frames.candidates),
        "instance": len(frames.instances),
        "model": models["model"].nunique(),
        "agent": agents if agents > 1 else 0,
        "answer": int(models["predicted"].sum()) + len(further),
    }
    rows = [(plural(value, noun), f"{value:,}") for noun, value in counts.items() if value]
    if "together" in tables:
        last = tables["together"].iloc[-1]
        rows.append(("resolved by any model", f"{last['by_any']} of {last['instances']}"))
    if len(frames.costs):
        spent = total(frames.costs["cost_llm_usd"]) + total(frames.costs["cost_emb_usd"])
        rows.append(("cost", f"{spent:.2f} USD"))
    return rows


class Check(NamedTuple):
    """The result of the references: the dataset is valid if oracle resolves every instance and nop none."""

    is_valid: bool
    sentences: list[str]


def check(tables: Mapping[str, pd.DataFrame]) -> Check | None:
    """The check, None if no reference was evaluated."""
    table = tables["resolution"].set_index("model") if "resolution" in tables else pd.DataFrame()
    references = [(table.loc[name], name, *expected) for name, expected in REFERENCES.items() if name in table.index]
    sentences = [
        f"{name} ({answers}) resolves {row['resolved']} of {row['instances']} instances"
        for row, name, answers, _ in references
    ]
    return Check(all(row["resolved_pct"] == share for row, *_, share in references), sentences) if references else None
