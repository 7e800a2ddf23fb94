"""The report for people: tables, figures, and a page for each instance. Every file is self-contained HTML.

A report on up to `TOGETHER` instances is one file that can be sent to others. A larger report has a file for each
instance beside it, so that the first page opens quickly.

    pages            the content of an instance's page
    summary          the facts at the top
    report.html.j2   the first page; instance.html.j2 is a part of it, alone.html.j2 an instance in a file of its own;
                     instances.css and instances.js are their look

Pages with their content security policy, tables, patches and figures come from the report floor. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.definition import Table, definitions
from pipeline.analyze.measures.shares import ALL
from pipeline.analyze.measures.shown import Heading as Named
from pipeline.analyze.measures.shown import headings, shown
from pipeline.analyze.report.pages import MARKS, pages
from pipeline.analyze.report.summary import check, facts
from pipeline.core.store import now
from pipeline.core.wcag import PRINCIPLES
from pipeline.report.figures.style import Plot
from pipeline.report.page import environment, policed
from pipeline.report.tables import Heading, Row
from pipeline.report.tables import Table as Shown

#: the first page, and the folder of the others
FIRST, INSTANCES = "report.html", "instances"
#: the largest number of instances whose pages are in the report's own file
TOGETHER = 100
#: chapter -> its title and subject
CHAPTERS = {
    "glance": ("At a glance", "Models that were evaluated, the best first."),
    "dataset": ("Dataset", "Where the instances come from, and which criteria they concern."),
    "cost": ("Cost", "What was spent on models and embeddings, and what it achieved."),
    "models": ("Models", "How models did, and how their patches compare with those that maintainers merged."),
    "repositories": ("Repositories", "Where models did well, and where none did."),
    "provenance": ("Provenance", "Versions, digests, settings and prices behind these results."),
}
#: the styles and scripts of a page
STYLES = (("pipeline.report", "page.css"), (__name__, "instances.css"), ("pipeline.report", "texts.css"))
SCRIPTS = (("pipeline.report", "tables.js"), (__name__, "instances.js"), ("pipeline.report", "contents.js"))


def render(frames: Frames, made: Mapping[str, pd.DataFrame], plots: list[Plot]) -> Iterator[tuple[str, str]]:
    """The files of the report as path and HTML, the first page first."""
    several, repos = pages(frames), [str(repo) for repo in frames.repos]
    apart = len(several) > TOGETHER
    yield (
        FIRST,
        page(
            "report.html.j2",
            chapters=_chapters(made, plots),
            facts=facts(frames, made),
            check=check(made),
            pages=several,
            apart=apart,
            marks=MARKS,
            principles=[one for one in PRINCIPLES if one in set(frames.criteria["principle"])],
            notes=frames.notes,
            repos=repos,
            made_at=now(),
        ),
    )
    names = [one.row.instance_id for one in several]
    for number, one in enumerate(several if apart else ()):
        before, after = names[number - 1] if number else None, dict(enumerate(names)).get(number + 1)
        text = page("alone.html.j2", page=one, before=before, after=after, marks=MARKS, repos=repos, first=FIRST)
        yield f"{INSTANCES}/{names[number]}.html", text


def page(name: str, **context: Any) -> str:
    """A page from a template of this folder."""
    return policed(environment(__name__).get_template(name), STYLES, SCRIPTS, **context)


def _chapters(made: Mapping[str, pd.DataFrame], plots: list[Plot]) -> list[dict[str, Any]]:
    chapters = []
    for name, (title, about) in CHAPTERS.items():
        there = (table for table in definitions() if table.chapter == name and table.name in made)
        tables = [table for table in there if tells(table, made[table.name])]
        if tables:
            parts = [_part(table, made[table.name], plots) for table in tables]
            chapters.append({"name": name, "title": title, "about": about, "parts": parts})
    return chapters


def tells(table: Table, data: pd.DataFrame) -> bool:
    """Whether a table by classes has more than one class; with only one it repeats the leaderboard."""
    classes = [name for name in table.by if name not in ("model", "agent", "kind")]
    return not classes or any(data[data[name] != ALL][name].nunique() > 1 for name in classes)


def _bars(data: pd.DataFrame) -> list[tuple[float, float, float] | None]:
    """Share and interval of each row, in percent; None if unknown."""
    names = ["resolved_pct", "resolved_low", "resolved_high"]
    if not set(names) <= set(data):
        return [None] * len(data)
    known = data[names].astype(float).round(1)
    return [None if row.hasnans else tuple(row) for _, row in known.iterrows()]


def _part(table: Table, data: pd.DataFrame, plots: list[Plot]) -> Shown:
    """A table with its figures; rows of totals are separate."""
    cells = shown(data, table.dictionary).itertuples(index=False, name=None)
    rows = [Row(one, bar, "reference" in one) for one, bar in zip(cells, _bars(data), strict=True)]
    return Shown(
        name=table.name,
        title=table.title,
        about=table.about,
        headings=[_heading(one) for one in headings(data, table.dictionary)],
        rows=[row for row in rows if ALL not in row.cells],
        totals=[row for row in rows if ALL in row.cells],
        figures=[plot for plot in plots if plot.table == table.name],
        file=f"tables/{table.name}.csv",
    ).cut()


def _heading(one: Named) -> Heading:
    unit = "" if one.column.unit in ("%", "p") else one.column.unit
    return Heading(one.name, one.column.meaning, one.numeric, unit, one.column.name == "resolved_low")
