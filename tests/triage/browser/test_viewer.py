"""The viewer in a real browser: by keyboard alone, with drafts that survive a restart of the server, without axe
violations."""

from __future__ import annotations

import csv
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import factories
import pytest
from playwright.sync_api import Error, expect
from viewer_bench import PROGRAM, Server

from pipeline.browser import axe
from pipeline.collect.stage import collect
from pipeline.core.ratings import CONDITIONS
from pipeline.core.records import Instance
from pipeline.core.reviews import all_reviews, standings
from pipeline.core.store import Store, read_records
from pipeline.core.trust import DEMO
from pipeline.demo import stage as demo
from pipeline.demo.history import build_history

pytestmark = pytest.mark.engine("browser")
REPO = factories.REPO
ONE = "/candidate/acme__ui-1"
PAGES = [
    "/",
    "/?q=nothing",
    "/statistics",
    "/statistics?repo=acme/ui",
    ONE,
    "/candidate/acme__ui-2",
    "/queue",
    "/agreement",
    "/ask",
    "/ask?repo=acme/ui&model=scripted",
    "/ask?repo=acme/ui&model=scripted&pr=9",
    "/export",
]
#: a desktop, a phone, and a desktop at 400% (1280 by 1024 pixels, a quarter each way)
WIDTHS = {"desk": (1280, 900), "phone": (390, 844), "zoomed": (320, 256)}


def named(page: Any, name: str) -> None:
    page.goto("/")
    page.get_by_label("You rate as").fill(name)
    page.keyboard.press("Enter")
    expect(page.locator("#reviewer")).to_have_attribute("value", name)


def said(page: Any, words: str) -> None:
    """Wait for the page after a form was sent; its address no longer says what was done."""
    expect(page.locator(".message[role=status]")).to_contain_text(words)


def tabbed_to(page: Any, selector: str) -> None:
    """Reach an element by the tab key alone."""
    for _ in range(250):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the tab key does not lead to {selector}")


def test_axe_finds_nothing_in_any_view(chromium: Any, server: Server) -> None:
    """All axe-core rules, light and dark; and nothing is wider than the page."""
    found, wide = [], []
    views = [("light", name) for name in WIDTHS] + [("dark", "desk")]
    for scheme, name in views:
        width, height = WIDTHS[name]
        context = chromium.new_context(
            base_url=server.url,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
            bypass_csp=True,
        )
        shown = context.new_page()
        for path in PAGES:
            shown.goto(path)
            shown.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
            shown.evaluate(axe.source().decode())
            rules = shown.evaluate("axe.run(document).then((said) => said.violations.map((one) => one.id))")
            found += [f"{scheme} {name} {path}: {rule}" for rule in rules]
            if shown.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(f"{name} {path}")
        context.close()
    assert found == [] and wide == []


def test_a_candidate_is_rated_by_keyboard_alone(page: Any, server: Server) -> None:
    named(page, "kim")
    page.goto(ONE)
    page.keyboard.press("1")
    tabbed_to(page, "#all-hold")
    page.keyboard.press("Space")
    tabbed_to(page, "details:has(#c-4\\.1\\.2) > summary")
    page.keyboard.press("Enter")
    tabbed_to(page, "#c-4\\.1\\.2")
    page.keyboard.press("Space")
    tabbed_to(page, "#w-statement")
    page.keyboard.type("The menu has no name, su")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("s")
    said(page, "Your rating is saved.")
    (one,) = [each for each in all_reviews(server.store, REPO) if each.rater == "kim"]
    assert (one.status, one.success_criteria) == ("super", ("4.1.2",))
    assert one.statement == "The menu has no name, su" and one.conditions == dict.fromkeys(CONDITIONS, True)
    page.keyboard.press("u")
    said(page, "The last change is undone.")
    assert "acme__ui-1" not in standings(server.store, REPO)


def test_single_keys_can_be_switched_off(page: Any) -> None:
    page.goto(ONE)
    page.get_by_text("Keys", exact=True).click()
    page.get_by_label("Single keys work").uncheck()
    page.reload()
    page.keyboard.press("1")
    expect(page.locator("input[name=status]:checked")).to_have_count(0)


def test_a_draft_outlives_a_reload_and_the_server(page: Any, server: Server) -> None:
    named(page, "kim")
    page.goto(ONE)
    page.locator("#s-accepted").check()
    page.locator("#w-note").fill("half a thought")
    page.reload()
    expect(page.locator("#w-note")).to_have_value("half a thought")
    expect(page.locator(".draft")).to_be_visible()
    server.kill()
    with suppress(Error):  # there is nobody to answer
        page.locator("button[value=rate]").click()
    server.start()
    page.goto(ONE)
    expect(page.locator("#w-note")).to_have_value("half a thought")
    expect(page.locator("#s-accepted")).to_be_checked()
    page.locator("button[value=rate]").click()
    said(page, "Your rating is saved.")
    page.goto(ONE)
    expect(page.locator(".draft")).to_be_hidden()
    assert [review.note for review in all_reviews(server.store, REPO) if review.rater == "kim"] == ["half a thought"]


def test_a_draft_after_saving_outlives_a_reload(page: Any) -> None:
    """A reload of the page that said *saved* removed the draft of the next change."""
    named(page, "kim")
    page.goto(ONE)
    page.locator("#s-accepted").check()
    page.locator("button[value=rate]").click()
    said(page, "Your rating is saved.")
    page.locator("#w-note").fill("a second thought")
    page.reload()
    expect(page.locator("#w-note")).to_have_value("a second thought")
    expect(page.locator(".draft")).to_be_visible()


def test_a_discarded_draft_is_removed(page: Any) -> None:
    page.goto(ONE)
    page.locator("#w-note").fill("half a thought")
    page.reload()
    page.locator("#discard").click()
    expect(page.locator("#w-note")).to_have_value("")
    page.reload()
    expect(page.locator(".draft")).to_be_hidden()


def test_a_refused_rating_is_explained_and_kept_in_the_form(page: Any) -> None:
    page.goto(ONE)
    page.locator("#s-super").check()
    page.locator("#v-S7").select_option("no")
    page.locator("#w-note").fill("n")
    page.locator("button[value=rate]").click()
    expect(page.get_by_role("alert")).to_contain_text("undisclosed test identifiers")
    expect(page.locator("#wrong")).to_be_focused()
    expect(page.locator("#w-note")).to_have_value("n")
    expect(page.locator("#v-S7")).to_have_value("no")


def test_from_a_disagreement_to_the_export(page: Any, server: Server) -> None:
    """A second reviewer resolves it, and the preview follows the choice."""
    named(page, "cleo")
    page.goto("/queue")
    page.get_by_role("link", name="acme/ui#2").first.click()
    page.locator("#s-super").check()
    page.locator("button[value=decide]").click()
    said(page, "The final value is saved.")
    assert standings(server.store, REPO)["acme__ui-2"].final.rater == "cleo"
    page.goto("/export")
    expect(page.locator("#preview")).to_contain_text("acme__ui-2")
    page.get_by_label("super").uncheck()
    page.get_by_label("rejected").check()
    expect(page.locator("#count")).to_have_text("0")
    page.get_by_label("Form").select_option("json")
    expect(page.locator("#preview code")).to_have_text("[]")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download").click()
    assert re.match(r"instances\.json", taken.value.suggested_filename)


def test_another_origin_can_neither_write_nor_frame(chromium: Any, server: Server) -> None:
    """A page of another origin that submits a form, and one that shows ours in a frame."""
    context = chromium.new_context()
    foreign = context.new_page()
    foreign.goto(server.url)
    fields = '<input name="status" value="accepted"><button>x</button>'
    form = f'<form method="post" action="{server.url}{ONE}">{fields}</form>'
    foreign.route("http://evil.example/", lambda route: route.fulfill(body=form, content_type="text/html"))
    foreign.goto("http://evil.example/")
    with foreign.expect_navigation() as gone:
        foreign.locator("button").click()
    assert gone.value.status == 403
    assert {review.rater for review in all_reviews(server.store, REPO)} == {"ann", "m"}
    context.close()


def test_from_a_rating_to_the_analysis(chromium: Any, tmp_path: Path) -> None:
    """Two reviewers disagree on a candidate of the demo, and a third one reworks it; the result is built and analyzed.
    In between, the server is killed."""
    store, clone = Store(tmp_path / "data"), tmp_path / "clone.git"
    build_history(DEMO, clone)
    collect(store, demo.REPO, clone, DEMO / "issues.jsonl")
    server = Server(store)
    server.start()
    page = chromium.new_context(base_url=server.url).new_page()
    menu = demo.REPO.instance_id(17)
    _rates(page, menu, "kim", "accepted")
    server.kill()
    server.start()
    _rates(page, menu, "lee", "rejected")
    page.goto("/queue")
    named(page, "cleo")
    page.goto("/queue")
    page.get_by_role("link", name="harbor-ui#17").first.click()
    page.locator("#s-reworked").check()
    page.locator("#w-statement").fill("Arrow keys do not move the focus in the menu.")
    page.locator("button[value=decide]").click()
    said(page, "The final value is saved.")
    page.goto("/export?status=reworked")
    expect(page.locator("#preview")).to_contain_text(menu)
    page.context.close()
    server.kill()

    run = [PROGRAM, "build", str(demo.REPO), "--reviewed", "--repeats", "1", "--sandbox", "local", "--data", store.root]
    subprocess.run(run, check=True, capture_output=True)
    (built,) = read_records(store.dataset(demo.REPO), Instance)
    assert (built.instance_id, built.statement_source) == (menu, "review")
    assert built.statement == "Arrow keys do not move the focus in the menu."
    subprocess.run([PROGRAM, "analyze", "--data", store.root], check=True, capture_output=True)
    with (store.root / "05_analysis" / "tables" / "ratings.csv").open(encoding="utf-8") as lines:
        ratings = [(row["value"], row["ratings"]) for row in csv.DictReader(lines) if row["field"] == "status"]
    assert ratings == [("accepted", "1"), ("rejected", "1")]
    with (store.root / "05_analysis" / "instances.csv").open(encoding="utf-8") as lines:
        assert [row["statement_source"] for row in csv.DictReader(lines)] == ["review"]


def _rates(page: Any, instance: str, name: str, status: str) -> None:
    named(page, name)
    page.goto(f"/candidate/{instance}")
    page.locator(f"#s-{status}").check()
    page.locator("button[value=rate]").click()
    said(page, "Your rating is saved.")
