"""Pages of any track: their own policy, and parts in which no foreign text is markup."""

from __future__ import annotations

import base64
import hashlib

import pytest
from bs4 import BeautifulSoup
from jinja2 import UndefinedError

from pipeline.report.figures.style import WIDE, Plot, canvas
from pipeline.report.page import counted, environment, policed, words
from pipeline.report.tables import MOST_ROWS, Heading, Row, Table

HOSTILE = "</code><script>alert(1)</script>"
PAGE = """{% extends "shell.html.j2" %}
{% from "table.html.j2" import data_table %}
{% from "patch.html.j2" import patch_view %}
{% block title %}{{ title }}{% endblock %}
{% block body %}
<main><h1>{{ title }}</h1>{{ data_table(table) }}{{ patch_view("The patch", patch) }}</main>
{% endblock %}
"""
OURS = "pipeline.report"


def shown(table: Table, **context: str) -> BeautifulSoup:
    template = environment(OURS).from_string(PAGE)
    styles, scripts = [(OURS, "page.css"), (OURS, "texts.css")], [(OURS, "tables.js")]
    given = {"title": "A page", "patch": "+a", "table": table} | context
    return BeautifulSoup(policed(template, styles, scripts, **given), "html.parser")


@pytest.fixture
def table() -> Table:
    headings = [Heading("model", "who was asked"), Heading("resolved", "5% of all", True, "s", bar=True)]
    rows = [Row((f"model_{number}", "1"), (10, 5, 20)) for number in range(MOST_ROWS + 2)]
    plot = Plot("bars", "Bars of nothing", "t", canvas(1), "There is nothing to be seen.")
    totals = [Row(("all", "2"), soft=True)]
    return Table("t", "A table", "What it says.", headings, rows, totals, [plot], "tables/t.csv").cut()


def test_the_policy_allows_only_the_pages_own_style_and_script(table):
    page = shown(table)
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    for kind, tag in (("style-src", page.style), ("script-src", page.script)):
        digest = base64.b64encode(hashlib.sha256(tag.string.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")


@pytest.mark.invariant(5)
def test_foreign_text_is_escaped(table):
    rows = [Row((HOSTILE, HOSTILE))]
    page = shown(table._replace(title=HOSTILE, rows=rows), title=HOSTILE, patch=f"+{HOSTILE}")
    assert len(page.find_all("script")) == 1
    assert page.title.string == HOSTILE and page.pre.ins.string == f"+{HOSTILE}"


def test_a_table_has_a_name_meanings_totals_and_a_region_to_scroll(table):
    page = shown(table)
    assert page.find(id=page.table["aria-labelledby"]).string == "A table"
    assert [head["scope"] for head in page.thead.find_all("th")] == ["col", "col"]
    assert page.select_one(".scroll")["tabindex"] == "0"
    assert [element.string for element in page.select(".meaning dt")] == ["model", "resolved"]
    assert page.select(".meaning dd")[1].get_text() == "5% of all (s)"
    assert page.tfoot.tr["class"] == ["reference"] and not page.tfoot.svg


@pytest.mark.parametrize(("worded", "name"), [(False, "model_0"), (True, "model 0")])
def test_only_words_of_ours_lose_their_underscores(table, worded, name):
    """A report called the model `gpt_4o` `gpt 4o`, which is another name."""
    page = shown(table._replace(headings=[table.headings[0]._replace(worded=worded), table.headings[1]]))
    assert page.tbody.th.get_text() == name


def test_a_long_table_is_cut_with_a_link_to_the_rest(table):
    page = shown(table)
    assert len(page.tbody.find_all("tr")) == len(page.tbody.find_all("svg")) == MOST_ROWS
    assert "2 more are in tables/t.csv" in page.get_text()


def test_a_figure_has_its_text_alternative_and_loads_nothing(table):
    image = shown(table).figure.img
    assert image["alt"] == "There is nothing to be seen."
    assert image["src"].startswith("data:image/svg+xml,")


def test_a_wide_figure_scrolls_in_a_region_with_a_name(table):
    """It was made as narrow as the screen: on a phone, letters of 2 pixels."""
    assert not table.figures[0].wide and shown(table).find("figure").find(role="region") is None
    wide = Plot("grid", "A wide grid", "t", canvas(1, width=WIDE + 1), "There is nothing to be seen.")
    assert wide.wide and wide.image().wide
    region = shown(table._replace(figures=[wide])).figure.img.parent
    assert (region["role"], region["aria-label"], region["tabindex"]) == ("region", "Figure: A wide grid", "0")
    assert {"scroll", "wide"} == set(region["class"])


def test_an_undefined_name_is_an_error(table):
    with pytest.raises(UndefinedError, match="'title' is undefined"):
        environment(OURS).from_string(PAGE).render(table=table, patch="", style="", script="", policy="")


def test_identifiers_and_numbers_are_shown_for_people():
    assert [words(text) for text in ("not_applied", "acme__ui-1", "acme/my_ui")] == [
        "not applied",
        "acme__ui-1",
        "acme/my_ui",
    ]
    assert (counted(1, "file"), counted(2, "repository")) == ("1 file", "2 repositories")
