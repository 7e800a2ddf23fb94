"""The top of the report: a few numbers, and whether the dataset is valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.group import WHO
from pipeline.core.console import plural
from pipeline.llm.prices import total

#: reference -> its answers, and the percentage of instances that it must resolve
REFERENCES = {"oracle": ("the gold patches", 100), "nop": ("no patch at all", 0)}


def facts(frames: Frames, made: Mapping[str, pd.DataFrame]) -> list[tuple[str, str]]:
    """Label and value of each count, without zeros."""
    models = frames.predictions[frames.predictions["kind"] == "model"]
    found = {
        "repository": len(frames.repos),
        "candidate": len(frames.candidates),
        "instance": len(frames.instances),
        "model": len(models[WHO].drop_duplicates()),
        "answer": int(models["predicted"].sum()),
    }
    shown = [(plural(value, noun), f"{value:,}") for noun, value in found.items() if value]
    if "together" in made:
        last = made["together"].iloc[-1]
        shown.append(("resolved by any model", f"{last['by_any']} of {last['instances']}"))
    if len(frames.costs):
        spent = total(frames.costs["cost_llm_usd"]) + total(frames.costs["cost_emb_usd"])
        shown.append(("cost", f"{spent:.2f} USD"))
    return shown


class Check(NamedTuple):
    """What the references show: the dataset holds if oracle resolves every instance and nop none."""

    holds: bool
    said: list[str]


def check(made: Mapping[str, pd.DataFrame]) -> Check | None:
    """The check, None if no reference was evaluated."""
    table = made["resolution"].set_index("model") if "resolution" in made else pd.DataFrame()
    there = [(table.loc[name], name, *rest) for name, rest in REFERENCES.items() if name in table.index]
    said = [
        f"{name} ({what}) resolves {row['resolved']} of {row['instances']} instances" for row, name, what, _ in there
    ]
    return Check(all(row["resolved_pct"] == share for row, *_, share in there), said) if there else None
