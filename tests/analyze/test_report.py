"""The report as a file: structure, access, escaping. It is read with a parser, not with patterns."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from pipeline import analyze
from pipeline.core.store import Store
from tests.analyze.conftest import HOSTILE, collect, fill_ledger, make_data


def report(store: Store) -> BeautifulSoup:
    return BeautifulSoup(analyze.write(analyze.load(store), store).read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> BeautifulSoup:
    """Made once: the tests only read it."""
    store = make_data(tmp_path_factory.mktemp("report") / "data")
    fill_ledger(store)
    return report(store)


def test_language_title_skip_link_and_landmarks(page):
    assert page.html["lang"] == "en"
    assert page.title.string == "A11y-Bench report: acme/forms, acme/ui"
    assert page.find(id=page.select_one("a.skip")["href"].removeprefix("#")).name == "main"
    assert len(page.find_all("main")) == len(page.find_all("h1")) == 1


def test_headings_skip_no_level(page):
    levels = [int(heading.name[1]) for heading in page.find_all(["h1", "h2", "h3", "h4"])]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


def test_tables_have_captions_scopes_and_a_region_to_scroll(page):
    for table in page.find_all("table"):
        assert table.caption.get_text(strip=True)
        assert all(cell.get("scope") in ("col", "row") for cell in table.find_all("th"))
        assert (table.parent["role"], table.parent["tabindex"]) == ("region", "0")


def test_identifiers_and_region_names_are_unique(page):
    identifiers = [tag["id"] for tag in page.select("[id]")]
    regions = [tag["aria-label"] for tag in page.select("[role=region]")]
    assert len(identifiers) == len(set(identifiers))
    assert len(regions) == len(set(regions))
    assert all(page.find(id=tag["aria-labelledby"]) for tag in page.select("[aria-labelledby]"))
    assert all(page.find(id=link["href"].removeprefix("#")) for link in page.select("a[href]"))


def test_figures_have_a_text_alternative(page):
    images = page.find_all("img")
    assert len(images) == 2
    assert "magentless, lab/model-b: 2 of 4 (50.0 %)" in images[0]["alt"]
    assert "acme__ui-3" in images[1]["alt"]


def test_one_file_without_network_or_scripts(page):
    assert not page.find_all(["script", "link", "iframe"])
    assert all(image["src"].startswith("data:") for image in page.find_all("img"))
    assert "default-src 'none'" in page.find("meta", attrs={"http-equiv": True})["content"]


@pytest.mark.invariant(5)
def test_text_of_repositories_and_models_is_escaped(page):
    """Invariant 5: what a model or a repository wrote runs nowhere, not in a reader's browser either."""
    codes = [code.get_text() for code in page.find_all("code")]
    assert codes.count(HOSTILE) == 2
    assert HOSTILE in page.find(id="acme__ui-3").get_text()


def test_an_instance_shows_issue_patches_tests_and_verdicts(page):
    article = page.find("article", attrs={"aria-labelledby": "acme__ui-1"})
    summaries = [summary.get_text(" ", strip=True) for summary in article.find_all("summary")]
    assert summaries == [
        "Issue of acme__ui-1",
        "Gold patch of acme__ui-1",
        "Tests: 2 change, 1 pass throughout in acme__ui-1",
        "magentless, lab/model-b: resolved on acme__ui-1",
        "magentless, model-a: resolved on acme__ui-1",
    ]
    assert "Menu has no name" in article.get_text()
    assert "Cost of this instance: 0.10 USD" in article.get_text()


def test_what_is_missing_stands_in_the_report(tmp_path):
    store = Store(tmp_path)
    collect(store)
    page = report(store)
    assert "02 build: nothing yet for acme/ui." in page.find("section", attrs={"aria-labelledby": "missing"}).get_text()
    assert not page.find(id="instances")
