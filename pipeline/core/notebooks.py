"""The data that a notebook shows: yours, or the demo's where you have none. Writes nothing."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.core.console import say
from pipeline.core.errors import UserError

#: files without which there is nothing to show, as patterns below a data directory
RESULTS, PAGES = "0[12]_*/*", "03_predictions/pages/*/run.json"
#: the folder of the demo that has such files, below the project's data directory, and the recipe that makes it
DEMOS = {RESULTS: ("demo/out", "just demo"), PAGES: ("demo/out/pages", "just pages-demo")}


def data_folder(needed: str = RESULTS, data: Path = Path("../data")) -> Path:
    """`A11Y_BENCH_DATA`, or the project's data directory as notebooks see it. If that lacks the files that are needed,
    the demo's data; a line on stderr says so. Raises UserError if there are none either."""
    if chosen := os.environ.get("A11Y_BENCH_DATA"):
        return Path(chosen)
    folder, recipe = DEMOS[needed]
    demo = data / folder
    if any(data.glob(needed)):
        return data
    if not any(demo.glob(needed)):
        raise UserError("there is nothing to show yet", path=data, hint=f"run {recipe} first")
    say(f"there are no results in {data}: these are the demo's, from {demo}")
    return demo
