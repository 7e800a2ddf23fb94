"""The report on a run of pages in a real browser: axe-core finds nothing, and nothing overflows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from analyze.browser.conftest import LONG, WIDTHS, violations
from pages_bench import SEEN, keep, make_run
from playwright.sync_api import expect

from pipeline.browser import axe as pinned
from pipeline.core.store import Store
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.report import Baseline, write

pytestmark = [pytest.mark.engine("browser", "npm"), pytest.mark.rule("report-for-everybody")]

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every chapter, on pages with every result, by a model with a long name."""
    folder = tmp_path_factory.mktemp("report")
    run = make_run(Store(folder / "data"), folder / "cases", ("one", LONG))
    evaluation = keep(Evaluation(run), [*SEEN[:4], SEEN[2]])
    verdicts = evaluation.evaluate()
    return write(evaluation, verdicts, Baseline("before", evaluation, verdicts))


@contextmanager
def opened(chromium: Any, path: Path, width: int, scheme: str = "light") -> Iterator[Any]:
    """A file of the report; the test fails if it uses the network, or if its script has an error."""
    asked: list[str] = []
    page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce")
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.goto(path.as_uri())
    yield page
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_in_the_report(chromium: Any, report: Path, width: int, scheme: str) -> None:
    with opened(chromium, report, width, scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert violations(page, pinned.source().decode()) == []
        assert page.evaluate(OVERFLOW) == 0


@pytest.mark.parametrize("sample", range(4))
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_on_the_page_of_a_sample(chromium: Any, report: Path, width: int, sample: int) -> None:
    (path,) = report.parent.glob(f"samples/*one__s{sample}.html")
    with opened(chromium, path, width) as page:
        assert violations(page, pinned.source().decode()) == []
        assert page.evaluate(OVERFLOW) == 0


#: of each table, scrolled to its last column: the width of its box, and of the name and the number that are in view
IN_VIEW = """() => [...document.querySelectorAll(".scroll")].map((box) => {
  const [name, number] = ["th", "td:last-child"].map((one) => box.querySelector(`tbody ${one}`));
  box.scrollIntoView();
  box.scrollLeft = 99999;
  const shown = [name, number].map((cell) => {
    const { left, right, top, bottom } = cell.getBoundingClientRect();
    const isThere = cell.contains(document.elementFromPoint(right - 8, (top + bottom) / 2));
    return isThere ? right - left : 0;
  });
  return [box.clientWidth, ...shown];
})"""


def test_names_and_numbers_are_seen_together_on_a_narrow_screen(chromium: Any, report: Path) -> None:
    """The name of an assertion was wider than the screen, and names were scrolled away with other columns."""
    with opened(chromium, report, min(WIDTHS)) as page:
        tables = page.evaluate(IN_VIEW)
    assert len(tables) > 5
    assert [table for table in tables if not (0 < table[1] < 0.45 * table[0] and table[2])] == []


def test_samples_are_reached_from_the_keyboard_and_loaded_when_opened(chromium: Any, report: Path) -> None:
    with opened(chromium, report, WIDTHS[0]) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()
        page.get_by_role("link", name="harbour, one, sample 2", exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("harbour, one, sample 2")
        page.get_by_role("link", name="All samples").press("Enter")
        expect(page.get_by_role("heading", name="Samples", exact=True)).to_be_visible()
    assert "Ferry" not in report.read_text(encoding="utf-8"), "the text of a page is in its sample's file alone"
