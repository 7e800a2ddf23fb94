"""The report in a real browser: axe-core finds nothing, nothing overflows, and the keyboard reaches everything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from analyze.browser.conftest import WIDTHS, opened, violations
from playwright.sync_api import expect

from pipeline import analyze
from pipeline.core.store import Store

pytestmark = pytest.mark.engine("browser")

FIRST = "acme__forms-1"
FOCUSED = """(one => (one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent).replace(/\\s+/g, " ").trim())
    (document.activeElement)"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def shown_rows(page: Any) -> list[str]:
    return page.locator("#list tbody tr:visible th a").all_inner_texts()


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focused(page: Any) -> str:
    """A description of what has the focus."""
    return page.evaluate(FOCUSED)


def tab_to(page: Any, wanted: str, limit: int = 120, *, exactly: bool = False) -> None:
    """Press Tab until the wanted element has the focus, as somebody without a mouse does."""
    for _ in range(limit):
        press(page, "Tab")
        if focused(page) == wanted or (focused(page).startswith(wanted) and not exactly):
            return
    pytest.fail(f"Tab does not reach '{wanted}'")


# -- axe-core ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("report-for-everybody")
def test_axe_finds_nothing_in_the_overview(any_page, axe):
    """RULES, Analysis: a report on accessibility must itself be accessible."""
    any_page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert violations(any_page, axe) == []


def test_axe_finds_nothing_on_the_page_of_an_instance(any_page, axe):
    any_page.goto(f"{any_page.url}#{FIRST}")
    any_page.evaluate("document.querySelectorAll('article:target details').forEach(one => { one.open = true })")
    assert violations(any_page, axe) == []


@pytest.fixture(scope="module")
def apart(folder, tmp_path_factory) -> Path:
    """A large report, which has a file for each instance."""
    made = tmp_path_factory.mktemp("apart")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.analyze.report.TOGETHER", 0)
        analyze.write(analyze.load(Store(folder)), Store(folder), made)
    return made


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_in_the_file_of_an_instance(chromium, apart, axe, width):
    page = chromium.new_page(viewport={"width": width, "height": 844})
    page.goto((apart / f"instances/{FIRST}.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    expect(page.locator("article:visible")).to_have_count(1)
    assert violations(page, axe) == []
    page.get_by_role("link", name="All instances").click()
    expect(page.get_by_role("heading", name="Instances", exact=True)).to_be_visible()
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_figures_in_files_of_their_own_are_shown_and_wide_ones_keep_their_size(chromium, apart, axe, width):
    """The page's policy allows them, without a server; and the region of a wide one is reached with the keyboard."""
    page = chromium.new_page(viewport={"width": width, "height": 844})
    page.goto((apart / "report.html").as_uri())
    sizes = page.evaluate("[...document.images].map(one => [one.naturalWidth, one.getBoundingClientRect().width])")
    assert len(sizes) > 10 and all(natural > 0 for natural, _ in sizes)
    region = page.locator(".wide[role=region]").first
    natural, shown, outer = region.evaluate(
        "one => [one.firstElementChild.naturalWidth, one.firstElementChild.width, one.clientWidth]"
    )
    assert shown == pytest.approx(natural, abs=1) and (outer < shown) is (width < natural)
    region.focus()
    assert focused(page) == region.get_attribute("aria-label") != ""
    assert page.evaluate(OVERFLOW) == 0
    assert violations(page, axe) == []
    page.close()


def test_axe_finds_nothing_in_the_dark(chromium, folder, axe):
    """The contrast depends on the reader's color scheme."""
    with opened(chromium, folder, WIDTHS[0], "dark") as page:
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 24, 28)"
        assert violations(page, axe) == []
        page.goto(f"{page.url}#{FIRST}")
        page.evaluate("document.querySelectorAll('article:target details').forEach(one => { one.open = true })")
        assert violations(page, axe) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_in_a_sheet_for_checking_by_hand(chromium, folder, axe, width):
    page = chromium.new_page(viewport={"width": width, "height": 844})
    page.goto((folder / "sheet" / "sheet.html").as_uri())
    assert violations(page, axe) == []
    assert page.evaluate(OVERFLOW) == 0
    page.close()


# -- room --------------------------------------------------------------------------------------------------------------
def test_the_page_never_scrolls_sideways(any_page):
    assert any_page.evaluate(OVERFLOW) == 0
    any_page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert any_page.evaluate(OVERFLOW) == 0
    any_page.goto(f"{any_page.url}#{FIRST}")
    assert any_page.evaluate(OVERFLOW) == 0


#: the right ends of all figures; that of a wide one is its region's, in which it scrolls
ENDS = "[...document.images].map(one => (one.closest('.wide') ?? one).getBoundingClientRect().right)"


def test_no_figure_is_wider_than_the_page(any_page):
    ends = any_page.evaluate(ENDS)
    assert len(ends) > 10 and max(ends) <= any_page.viewport_size["width"]


#: elements with text of their own that end beyond the page and are not in a scrolling area
LOST = """() => [...document.querySelectorAll('main *, header *, nav *')].filter(one => {
  const box = one.getBoundingClientRect();
  const told = [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const apart = one.closest('.scroll, .hidden, svg, .skip') || scrolls(one);
  return told && box.width > 1 && !apart && box.right > innerWidth + 1;
  function scrolls(node) {
    for (; node; node = node.parentElement) if (/auto|scroll/.test(getComputedStyle(node).overflowX)) return true;
    return false;
  }
}).map(one => one.tagName + ': ' + one.textContent.slice(0, 60))"""


def test_nothing_is_lost_on_a_small_phone(chromium, folder):
    """At 320 px, which WCAG 1.4.10 requires: figures, tables and texts are there; tables and wide figures scroll."""
    with opened(chromium, folder, 320) as page:
        assert page.evaluate(OVERFLOW) == 0
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert page.evaluate(OVERFLOW) == 0
        assert page.evaluate(LOST) == []
        assert max(page.evaluate(ENDS)) <= 320
        page.goto(f"{page.url}#{FIRST}")
        assert page.evaluate(OVERFLOW) == 0
        assert page.evaluate(LOST) == []


# -- the keyboard ------------------------------------------------------------------------------------------------------
def test_the_first_tab_skips_to_the_results(page):
    press(page, "Tab")
    assert focused(page) == "Skip to the results"
    press(page, "Enter")
    expect(page.locator("#main")).to_be_focused()


def test_a_table_is_sorted_from_the_keyboard(page):
    table = page.locator("table[aria-labelledby=table-success_criteria]")
    before = table.locator("tbody th").all_inner_texts()
    tab_to(page, "WCAG success criteria")
    press(page, "Enter")
    tab_to(page, "Table: WCAG success criteria")
    press(page, "Tab")
    assert focused(page) == "criterion"
    press(page, "Enter")
    expect(table.locator("thead th").first).to_have_attribute("aria-sort", "ascending")
    ascending = table.locator("tbody th").all_inner_texts()
    assert ascending == sorted(before) != before
    press(page, "Space")
    assert table.locator("tbody th").all_inner_texts() == ascending[::-1]


def test_numbers_are_sorted_as_numbers_and_totals_stay(page):
    table = page.locator("table[aria-labelledby=table-costs]")
    table.locator("thead button", has_text="cost per resolved").click()
    values = table.locator("tbody tr td:last-child").all_inner_texts()
    known = [float(value) for value in values if value != "–"]
    assert known == sorted(known) and values[len(known) :] == ["–"] * (len(values) - len(known))
    expect(table.locator("tfoot th")).to_have_text("all")


def test_the_rows_of_a_long_table_are_filtered_from_the_keyboard(page):
    table = page.locator("table[aria-labelledby=table-instance_costs]")
    tab_to(page, "Cost by instance")
    press(page, "Enter")
    tab_to(page, "Filter the rows")
    page.keyboard.type("acme__ui-2")
    expect(page.locator("#table-instance_costs ~ * output")).to_have_text("3 of 72 rows")
    assert set(table.locator("tbody tr:visible td:nth-child(4)").all_inner_texts()) == {"acme__ui-2"}
    expect(table.locator("tfoot th"), "the sum is of all rows, whatever is filtered").to_be_visible()


def test_the_contents_mark_where_the_reader_is(page):
    tab_to(page, "WCAG success criteria")
    press(page, "Enter")
    page.wait_for_selector("nav a[aria-current=location][href='#table-success_criteria']")
    expect(page.locator("nav a[aria-current]")).to_have_count(1)


def test_an_explanation_opens_from_the_keyboard(page):
    tab_to(page, "What the columns mean in Leaderboard")
    press(page, "Enter")
    expect(page.locator("dd", has_text="Micro average").first).to_be_visible()


def test_instances_are_filtered_from_the_keyboard(page):
    tab_to(page, "Instances", exactly=True)
    press(page, "Enter")
    tab_to(page, "Words")
    page.keyboard.type("forms")
    expect(page.locator("form output")).to_have_text("8 of 24 instances")
    assert {name.partition("-")[0] for name in shown_rows(page)} == {"acme__forms"}
    press(page, "Tab", "Tab", "Tab")
    assert focused(page).startswith("Difficulty")
    page.keyboard.type("difficult")
    expect(page.locator("form output")).not_to_have_text("8 of 24 instances")
    tab_to(page, "Show all")
    press(page, "Enter")
    expect(page.locator("form output")).to_have_text("24 of 24 instances")
    assert len(shown_rows(page)) == 24


def test_instances_are_filtered_by_how_a_model_did(page):
    page.select_option("select[name=outcome]", "resolved")
    page.select_option("select[name=model]", label="model-b (magentless)")
    rows = page.locator("#list tbody tr:visible")
    assert rows.count() > 0
    column = page.locator("#list thead button").all_inner_texts().index("model-b (magentless)")
    assert {row.locator("th, td").nth(column).inner_text().split()[-1] for row in rows.all()} == {"resolved"}


def test_an_instance_is_a_page_of_its_own(page):
    page.locator(f"#list a[href='#{FIRST}']").focus()
    press(page, "Enter")
    page.locator(f"#{FIRST}:focus").wait_for()
    expect(page).to_have_title(re.compile("^acme/forms#1: "))
    expect(page.locator("article:visible")).to_have_count(1)
    expect(page.locator("nav")).to_be_hidden()
    press(page, "Tab", "Tab")
    assert focused(page).startswith("Next")
    press(page, "Enter")
    page.locator("#acme__forms-2:focus").wait_for()
    tab_to(page, "model-a (magentless)")
    press(page, "Enter")
    expect(page.locator("article:visible details[open]")).to_have_count(1)
    page.go_back()
    page.go_back()
    page.locator("nav").wait_for()
    expect(page).to_have_title("A11y-Bench report: acme/forms, acme/ui, orbit/design-system")


def test_without_its_script_everything_can_be_read(chromium, folder):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "05_analysis" / "report.html").as_uri() + f"#{FIRST}")
    expect(page.locator("article:visible")).to_have_count(1)
    page.locator("a", has_text="All instances").first.click()
    expect(page.locator("#list")).to_be_visible()
    expect(page.locator("form")).to_be_hidden()
    context.close()
