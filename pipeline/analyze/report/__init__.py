"""The report for people: tables, figures, and a page for each instance.

A report on up to `TOGETHER` instances is one self-contained file that can be sent to others. A larger report has a file
for each instance next to it, and shows the files of its figures, so that the first page opens quickly.

    pages            the content of an instance's page
    summary          the facts at the top
    settings         the texts below the table of runs
    report.html.j2   the first page; instance.html.j2 is a part of it, alone.html.j2 an instance in a file of its own;
                     instances.css and instances.js are their style and behavior

Pages with their content security policy, tables, patches and figures come from the report floor. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.definition import Table, definitions
from pipeline.analyze.measures.shares import ALL
from pipeline.analyze.measures.shown import Heading as ColumnHeading
from pipeline.analyze.measures.shown import as_text, headings
from pipeline.analyze.report.pages import MARKS, Page, models
from pipeline.analyze.report.settings import blocks
from pipeline.analyze.report.summary import check, facts
from pipeline.core.store import now
from pipeline.core.wcag import PRINCIPLES
from pipeline.report.figures.style import Image
from pipeline.report.page import BESIDE, EMBEDDED, environment, policed
from pipeline.report.tables import Block, Figure, Heading, Row
from pipeline.report.tables import Table as ShownTable

#: the first page, the folder of the others, and that of the figures
FIRST, INSTANCES, FIGURES = "report.html", "instances", "figures"
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
#: columns with words of ours
WORDED = ("field", "class")
#: the styles and scripts of a page
STYLES = (("pipeline.report", "page.css"), (__name__, "instances.css"), ("pipeline.report", "texts.css"))
SCRIPTS = (("pipeline.report", "tables.js"), (__name__, "instances.js"), ("pipeline.report", "contents.js"))


def first(frames: Frames, shown: list[Page], tables: Mapping[str, pd.DataFrame], images: Sequence[Image]) -> str:
    """The first page, with the pages of all instances if the report is one file."""
    apart = _apart(shown)
    return page(
        "report.html.j2",
        BESIDE if apart else EMBEDDED,
        chapters=_chapters(tables, images, {"provenance": blocks(frames.runs)}, apart),
        facts=facts(frames, tables),
        check=check(frames),
        pages=shown,
        models=models(shown),
        apart=apart,
        marks=MARKS,
        principles=[principle for principle in PRINCIPLES if principle in set(frames.criteria["principle"])],
        notes=frames.notes,
        repos=_repos(frames),
        made_at=now(),
    )


def others(frames: Frames, shown: list[Page]) -> Iterator[tuple[str, str]]:
    """The files next to the first page, as path and HTML: one for each instance of a large report."""
    if not _apart(shown):
        return
    names = [instance_page.row.instance_id for instance_page in shown]
    context = {"marks": MARKS, "repos": _repos(frames), "first": FIRST}
    for instance_page, before, name, after in zip(shown, [None, *names], names, [*names[1:], None], strict=False):
        text = page("alone.html.j2", page=instance_page, before=before, after=after, **context)
        yield f"{INSTANCES}/{name}.html", text


def _apart(shown: list[Page]) -> bool:
    """Whether each instance has a file of its own."""
    return len(shown) > TOGETHER


def _repos(frames: Frames) -> list[str]:
    return [str(repo) for repo in frames.repos]


def page(name: str, images: str = EMBEDDED, /, **context: Any) -> str:
    """A page from a template of this folder, with the images that its policy allows."""
    return policed(environment(__name__).get_template(name), STYLES, SCRIPTS, images, **context)


def _chapters(
    tables: Mapping[str, pd.DataFrame], images: Sequence[Image], texts: Mapping[str, Sequence[Block]], apart: bool
) -> list[dict[str, Any]]:
    """The chapters with their tables; `texts` are those below a table, by its name."""
    chapters = []
    for name, (title, about) in CHAPTERS.items():
        available = (table for table in definitions() if table.chapter == name and table.name in tables)
        informative = [table for table in available if is_informative(table, tables[table.name])]
        if informative:
            parts = [
                _part(table, tables[table.name], images, texts.get(table.name, ()), apart) for table in informative
            ]
            chapters.append({"name": name, "title": title, "about": about, "parts": parts})
    return chapters


def is_informative(table: Table, data: pd.DataFrame) -> bool:
    """Whether a table by classes has more than one class, and pass@k more than one attempt; with only one it repeats
    the leaderboard."""
    if "k" in data and (data["k"] <= 1).all():
        return False
    classes = [name for name in table.by if name not in ("model", "agent", "kind")]
    return not classes or any(data[data[name] != ALL][name].nunique() > 1 for name in classes)


def _bars(data: pd.DataFrame) -> list[tuple[float, float, float] | None]:
    """Share and interval of each row, in percent; None if unknown."""
    names = ["resolved_pct", "resolved_low", "resolved_high"]
    if not set(names) <= set(data):
        return [None] * len(data)
    known = data[names].astype(float).round(1)
    return [None if row.hasnans else tuple(row) for _, row in known.iterrows()]


def _marked(data: pd.DataFrame, column: str, mark: str) -> list[bool]:
    """Whether each row has this value in this column, if there is such a column: a model may have the same name."""
    return list((data[column] == mark).fillna(False)) if column in data else [False] * len(data)


def _part(table: Table, data: pd.DataFrame, images: Sequence[Image], texts: Sequence[Block], apart: bool) -> ShownTable:
    """A table with its figures; rows of totals are separate."""
    cells = as_text(data, table.dictionary).itertuples(index=False, name=None)
    are_soft, are_totals = _marked(data, "kind", "reference"), _marked(data, "repo", ALL)
    rows = [Row(row, bar, soft) for row, bar, soft in zip(cells, _bars(data), are_soft, strict=True)]
    return ShownTable(
        name=table.name,
        title=table.title,
        about=table.about,
        headings=[_heading(heading) for heading in headings(data, table.dictionary)],
        rows=[row for row, is_total in zip(rows, are_totals, strict=True) if not is_total],
        totals=[row for row, is_total in zip(rows, are_totals, strict=True) if is_total],
        figures=[_figure(image, apart) for image in images if image.table == table.name],
        file=f"tables/{table.name}.csv",
        folded="Settings, request parameters and prices" if texts else "",
        blocks=texts,
    ).cut()


def _figure(image: Image, apart: bool) -> Figure:
    """A figure of the report: in the page, or in its own file if the report has several files."""
    uri = f"{FIGURES}/{image.name}.svg" if apart else image.uri
    return Figure(image.title, image.alternative, uri, image.wide)


def _heading(heading: ColumnHeading) -> Heading:
    unit = "" if heading.column.unit in ("%", "p") else heading.column.unit
    has_bars, is_worded = heading.column.name == "resolved_low", heading.column.name in WORDED
    return Heading(heading.name, heading.column.meaning, heading.numeric, unit, has_bars, is_worded)
