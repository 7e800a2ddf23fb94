"""What produced the results, in full: each distinct settings text, and each model's request parameters and prices, with
the digests that the table of runs shows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

import pandas as pd

from pipeline.core.options import REFERENCES
from pipeline.report.tables import Block

NO_TEXT = "No settings were given: the agent's own defaults."


def blocks(runs: pd.DataFrame) -> list[Block]:
    """The texts of the runs that say what made their answers, each once."""
    rows = runs[~runs["agent"].isin(REFERENCES)].dropna(subset="settings").fillna({"settings_text": NO_TEXT})
    return [*_settings(rows), *_models(rows.fillna({"parameters": "{}", "prices": "{}"}))]


def _settings(rows: pd.DataFrame) -> Iterator[Block]:
    digests: dict[str, dict[str, None]] = defaultdict(dict)
    for text, digest in rows[["settings_text", "settings"]].itertuples(index=False):
        digests[text][digest] = None
    for number, (text, own) in enumerate(digests.items(), 1):
        yield Block(f"Settings {number} ({', '.join(own)})", text)


def _models(rows: pd.DataFrame) -> Iterator[Block]:
    digests: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for *entry, digest in rows[["model", "parameters", "prices", "settings"]].itertuples(index=False):
        digests[entry[0], entry[1], entry[2]][digest] = None
    for number, ((model, parameters, prices), own) in enumerate(digests.items(), 1):
        parts = {"request parameters": json.loads(parameters), "USD per token": json.loads(prices)}
        yield Block(f"Model {number}: {model} ({', '.join(own)})", json.dumps(parts, indent=2, ensure_ascii=False))
