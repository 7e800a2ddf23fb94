"""One self-contained HTML file for people: tables, figures, and each instance with its patches, tests and verdicts.

Makes text, writes nothing. Everything that comes from a repository or a model is escaped. The file needs no network.
"""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from pipeline.analyze.frames import Frames, transitions_of
from pipeline.analyze.measures import TITLES, amounts, shown
from pipeline.analyze.plots import Plot
from pipeline.core import verdict as law
from pipeline.core.llm.prices import total
from pipeline.core.records import Instance, Prediction, Triple, Verdict
from pipeline.core.store import now

#: chapter -> its tables and figures, in the order of the report
CHAPTERS = (
    ("Results", ("resolution", "outcomes")),
    ("Dataset", ("funnel", "qualification", "rejections")),
    ("Accessibility principles", ("principles", "principle_results")),
    ("Costs", ("costs",)),
)


@dataclass(frozen=True)
class Attempt:
    """What one agent and model made of an instance: each part may be missing. `cost` is USD."""

    agent: str
    model: str
    prediction: Prediction | None
    verdict: Verdict | None
    cost: Decimal | None


@dataclass(frozen=True)
class Page:
    """One instance with all that is shown of it. `unchanged` counts tests that pass before and after the gold patch."""

    instance: Instance
    transitions: list[tuple[str, Triple, str]]
    unchanged: int
    attempts: list[Attempt] = field(default_factory=list)


def render(frames: Frames, made: dict[str, pd.DataFrame], plots: list[Plot]) -> str:
    """The report as HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("report.html.j2").render(
        chapters=[chapter for chapter in _chapters(made, plots) if chapter["tables"]],
        pages=pages(frames),
        notes=frames.notes,
        repos=[str(repo) for repo in frames.sources.repos],
        made_at=now(),
    )


def _chapters(made: dict[str, pd.DataFrame], plots: list[Plot]) -> list[dict[str, Any]]:
    return [
        {
            "title": title,
            "tables": [(TITLES[name], amounts(made[name]), shown(made[name])) for name in names if name in made],
            "plots": [(plot, _data_uri(plot)) for plot in plots if plot.name in names],
        }
        for title, names in CHAPTERS
    ]


def _data_uri(plot: Plot) -> str:
    return "data:image/svg+xml;base64," + b64encode(plot.image("svg")).decode()


def pages(frames: Frames) -> list[Page]:
    """The instances in order, each with its attempts."""
    attempts = _attempts(frames)
    return [_page(instance, attempts[instance.instance_id]) for instance in frames.sources.instances]


def _page(instance: Instance, attempts: list[Attempt]) -> Page:
    rows = [(name, triple, law.table()[triple].kind) for name, triple in transitions_of(instance).items()]
    telling = [row for row in rows if row[2] != "p2p"]
    return Page(instance, telling, len(rows) - len(telling), attempts)


def _attempts(frames: Frames) -> dict[str, list[Attempt]]:
    predictions = {(p.instance_id, p.agent, p.model_name_or_path): p for p in frames.sources.predictions}
    verdicts = {(v.instance_id, v.agent, v.model): v for v in frames.sources.verdicts}
    costs = _costs(frames)
    found: dict[str, list[Attempt]] = defaultdict(list)
    for key in sorted(predictions.keys() | verdicts.keys()):
        instance_id, agent, model = key
        found[instance_id].append(Attempt(agent, model, predictions.get(key), verdicts.get(key), costs.get(key)))
    return found


def _costs(frames: Frames) -> dict[tuple[str, str, str], Decimal]:
    sums = frames.requests.groupby(["holder", "agent", "model"])["cost_usd"].agg(total)
    return dict(sums.items())
