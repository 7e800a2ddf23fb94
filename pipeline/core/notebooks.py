"""The data that a notebook shows: yours, or the demo's where you have none. Writes nothing."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.core.console import say

#: files without which there is nothing to show, as patterns below a data directory
RESULTS, PAGES = "0[12]_*/*", "03_predictions/pages/*/run.json"
#: the folder of the demo that has such files, below the project's data directory
DEMOS = {RESULTS: "demo/out", PAGES: "demo/out/pages"}


def data_folder(needed: str = RESULTS, data: Path = Path("../data")) -> Path:
    """`A11Y_BENCH_DATA`, or the project's data directory as notebooks see it. If that lacks the files that are needed,
    and a demo was run, the demo's data; a line on stderr says so."""
    if chosen := os.environ.get("A11Y_BENCH_DATA"):
        return Path(chosen)
    demo = data / DEMOS[needed]
    if any(data.glob(needed)) or not any(demo.glob(needed)):
        return data
    say(f"there are no results in {data}: these are the demo's, from {demo}")
    return demo
