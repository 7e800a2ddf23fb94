"""One self-contained HTML file for people: tables, figures, and a page for each instance.

    pages            what a page of an instance shows
    diff             patches as HTML
    report.html.j2   the file; table.html.j2 and instance.html.j2 are its parts, report.css and report.js its look

Makes text, writes nothing. Everything that comes from a repository or a model is escaped, and the file's own policy
allows no script but its own: the two digests are in its head. It needs no network.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import jinja2
import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.definition import Table, definitions
from pipeline.analyze.measures.shares import ALL
from pipeline.analyze.measures.shown import headings, shown
from pipeline.analyze.plots.style import Plot
from pipeline.analyze.report.pages import MARKS, pages
from pipeline.analyze.report.summary import check, counted, facts
from pipeline.core.records import PRINCIPLES
from pipeline.core.store import now
from pipeline.report.diff import marked

#: chapter -> its title and what it is about
CHAPTERS = {
    "glance": ("At a glance", "Models that were evaluated, the best first."),
    "dataset": ("Dataset", "Where the instances come from, and what they are about."),
    "cost": ("Cost", "What was spent on models and embeddings, and what came of it."),
    "models": ("Models", "How models did, and how their patches compare with those that maintainers merged."),
    "repositories": ("Repositories", "Where models did well, and where none did."),
}
#: rows of a table that the report shows; its CSV file has all
MOST_ROWS = 100


def render(frames: Frames, made: Mapping[str, pd.DataFrame], plots: list[Plot]) -> str:
    """The report as HTML."""
    return policed(
        environment().get_template("report.html.j2"),
        chapters=_chapters(made, plots),
        facts=facts(frames, made),
        check=check(made),
        pages=pages(frames),
        marks=MARKS,
        principles=[one for one in PRINCIPLES if one in set(frames.criteria["principle"])],
        notes=frames.notes,
        repos=[str(repo) for repo in frames.repos],
        made_at=now(),
    )


def environment() -> jinja2.Environment:
    """The templates of this folder. What goes into them is escaped, and a name that is not there is an error."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader(__name__, ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters |= {"diff": marked, "words": _words, "percent": _percent, "counted": counted}
    return found


def policed(template: jinja2.Template, **context: Any) -> str:
    """A page with its style, its script, and the policy that allows these two and nothing else."""
    style, script = (files(__name__).joinpath(name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return template.render(style=style, script=script, policy=policy, **context)


def _words(text: object) -> str:
    """`not_applied` as `not applied`; names of instances keep their form."""
    return str(text) if "__" in str(text) else str(text).replace("_", " ")


def _percent(text: str) -> str:
    """A number and its sign stay on one line."""
    return text.replace(" %", "\u00a0%")


def _digest(text: str) -> str:
    """How a policy names the one script or style that it allows."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _chapters(made: Mapping[str, pd.DataFrame], plots: list[Plot]) -> list[dict[str, Any]]:
    chapters = []
    for name, (title, about) in CHAPTERS.items():
        tables = [table for table in definitions() if table.chapter == name and table.name in made]
        if tables:
            parts = [_part(table, made[table.name], plots) for table in tables]
            chapters.append({"name": name, "title": title, "about": about, "parts": parts})
    return chapters


class Row(NamedTuple):
    """The cells of a row, and its share with the ends of its interval, where it has them, to be drawn as a bar."""

    cells: tuple[str, ...]
    bar: tuple[float, float, float] | None


def _bars(data: pd.DataFrame) -> list[tuple[float, float, float] | None]:
    """Share and interval of each row, in percent; None where they are not known."""
    names = ["resolved_pct", "resolved_low", "resolved_high"]
    if not set(names) <= set(data):
        return [None] * len(data)
    known = data[names].astype(float).round(1)
    return [None if row.hasnans else tuple(row) for _, row in known.iterrows()]


def _part(table: Table, data: pd.DataFrame, plots: list[Plot]) -> dict[str, Any]:
    """A table with its figures, its rows of totals apart."""
    cells = shown(data, table.dictionary).itertuples(index=False, name=None)
    rows = [Row(*pair) for pair in zip(cells, _bars(data), strict=True)]
    single = [row for row in rows if ALL not in row.cells]
    return {
        "table": table,
        "headings": headings(data, table.dictionary),
        "rows": single[:MOST_ROWS],
        "totals": [row for row in rows if ALL in row.cells],
        "left_out": max(0, len(single) - MOST_ROWS),
        "plots": [(plot, _data_uri(plot)) for plot in plots if plot.table == table.name],
    }


def _data_uri(plot: Plot) -> str:
    return "data:image/svg+xml;base64," + b64encode(plot.svg).decode()
