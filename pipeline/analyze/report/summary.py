"""What stands at the head of the report: a few numbers, and whether the dataset holds."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.group import WHO
from pipeline.core.llm.prices import total

#: reference -> what it answers with
REFERENCES = {"oracle": "the gold patches", "nop": "no patch at all"}


def facts(frames: Frames, made: Mapping[str, pd.DataFrame]) -> list[tuple[str, str]]:
    """What there is, as label and value; what there is not is left out."""
    models = frames.predictions[frames.predictions["kind"] == "model"]
    found = {
        "repositories": len(frames.repos),
        "candidates": len(frames.candidates),
        "instances": len(frames.instances),
        "models": len(models[WHO].drop_duplicates()),
        "answers": int(models["predicted"].sum()),
    }
    shown = [(label, f"{value:,}") for label, value in found.items() if value]
    if "together" in made:
        last = made["together"].iloc[-1]
        shown.append(("resolved by any model", f"{last['by_any']} of {last['instances']}"))
    if len(frames.costs):
        spent = total(frames.costs["cost_llm_usd"]) + total(frames.costs["cost_emb_usd"])
        shown.append(("cost", f"{spent:.2f} USD"))
    return shown


def check(made: Mapping[str, pd.DataFrame]) -> list[str]:
    """What the references say of the dataset; empty where none was evaluated."""
    if "resolution" not in made:
        return []
    table = made["resolution"].set_index("model")
    there = [(name, what) for name, what in REFERENCES.items() if name in table.index]
    rows = [(name, what, table.loc[name]) for name, what in there]
    return [f"{name} ({what}) resolves {row['resolved']} of {row['instances']} instances" for name, what, row in rows]
