"""What a screen reader says in the viewer, from a virtual one's log: each control with its name, in a sensible order.

`@guidepup/virtual-screen-reader` walks the page's accessibility tree as a screen reader does. It is not one that people
use, and does not show how those behave in a browser.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from viewer_bench import Server

from pipeline.browser.spoken import READER

pytestmark = pytest.mark.engine("browser", "npm")
#: goes through the whole page and a bit of a second round, so that the end of the first is seen
READ = """async (address) => {
  const { virtual } = await import(address);
  await virtual.start({ container: document.body });
  for (let step = 0; step < 1500; step += 1) {
    await virtual.next();
    if ((await virtual.lastSpokenPhrase()) === "end of document") break;
  }
  const said = await virtual.spokenPhraseLog();
  await virtual.stop();
  return said;
}"""
#: said of a control without a name; browsers do not announce a nameless form or details element
NAMELESS = {
    *("button", "link", "textbox", "combobox", "checkbox, not checked", "radio, not checked", "region", "navigation"),
    *("searchbox", "heading, level 1", "heading, level 2", "heading, level 3"),
}


@pytest.fixture(scope="module")
def chromium_page(chromium: Any) -> Any:
    return lambda server: chromium.new_context(base_url=server.url, bypass_csp=True).new_page()


def spoken(page: Any, path: str) -> list[str]:
    address = "/static/reader.js"
    page.route(f"**{address}", lambda route: route.fulfill(path=READER.file(), content_type="text/javascript"))
    page.goto(path)
    return page.evaluate(READ, address)


def nameless(phrases: list[str]) -> list[str]:
    """Controls without a name, each with what was said before it."""
    return [f"{before} | {phrase}" for before, phrase in pairwise(phrases) if phrase in NAMELESS]


def place(phrases: list[str], words: str) -> int:
    return next(number for number, phrase in enumerate(phrases) if words in phrase)


@pytest.mark.parametrize("path", ["/", "/queue", "/agreement", "/export", "/ask?repo=acme/ui&model=scripted"])
def test_every_page_is_announced_by_name(chromium_page: Any, server: Server, path: str) -> None:
    phrases = spoken(chromium_page(server), path)
    assert phrases[-1] == "end of document" and nameless(phrases) == []
    assert place(phrases, "Skip to the content") < place(phrases, "navigation, Pages") < place(phrases, "heading,")


def test_a_candidate_is_read_aloud_in_order(chromium_page: Any, server: Server) -> None:
    """Evidence is spoken as marks, raters with their ratings, and each field of the form by its label."""
    phrases = spoken(chromium_page(server), "/candidate/acme__ui-2")
    assert phrases[-1] == "end of document" and nameless(phrases) == []
    expected = (
        *("region, Candidate", "mark", "region, Ratings so far", "Raters differ on: status.", "heading, ann person"),
        *("heading, m model", "region, Your rating", "group, Status", "radio, super all of S1 to S8 hold"),
        *(
            "combobox, S1: ",
            "group, Success criteria of WCAG 2.2",
            "textbox, Problem statement",
            "button, Save my rating",
        ),
        *("region, Transitions", "region, Changes of", "heading, History"),
    )
    places = [place(phrases, words) for words in expected]
    assert places == sorted(places)
