"""`show --browser`: an instance as a page, with gold beside each answer, failed tests, and trajectories.

Writes `05_analysis/shown/INSTANCE.html`, one self-contained file, which each call replaces; safe to delete.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from pipeline.core.assessment import Spoken
from pipeline.core.names import parse_instance_id
from pipeline.core.records import Instance
from pipeline.core.store import Store, now, write_bytes
from pipeline.inspection.answered import Answer
from pipeline.report.page import environment, policed

STYLES = (("pipeline.report", "page.css"), (__package__, "show.css"), ("pipeline.report", "texts.css"))


def write(store: Store, gold: Instance, answers: Sequence[Answer], missing: str) -> Path:
    """Write the page and return its path. `missing` says why there are no answers."""
    path = store.analysis / "shown" / f"{gold.instance_id}.html"
    write_bytes(path, render(gold, answers, missing).encode())
    return path


def render(gold: Instance, answers: Sequence[Answer], missing: str) -> str:
    """The page as HTML."""
    repo, number = parse_instance_id(gold.instance_id)
    templates = environment(__package__)
    templates.filters["beside"] = _spoken_rows
    context = {"gold": gold, "answers": answers, "missing": missing, "made_at": now()}
    heading = f"{repo}#{number}: {gold.title}"
    return policed(templates.get_template("show.html.j2"), STYLES, (), heading=heading, **context)


def _spoken_rows(spoken: Spoken) -> list[tuple[str, str, str]]:
    """What a screen reader says, phrase by phrase: in the base, with gold, with the answer."""
    return list(zip_longest(spoken.base, spoken.gold, spoken.patch, fillvalue=""))
