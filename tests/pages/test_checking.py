"""Checking cases: what is reported about good pages that do not contain the words of their prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages_bench import EXPECTED, expecting, look_at, make_case

from pipeline.pages.cases import Case, load_case
from pipeline.pages.checking import check

pytestmark = pytest.mark.engine("browser", "npm")

TEST = """
module.exports.run = async ({ page, assert }) => {
  await assert("Has a heading", async () => (await page.getByRole("heading").count()) > 0);
};
"""
HELLO = """<!doctype html><html lang="en"><head><title>Hello</title></head>
<body><main><h1>Hello</h1></main></body></html>"""
POOR = HELLO.replace("<h1>Hello</h1>", "<p>Hello</p>")


def older(folder: Path, prompt: str, good: str, bad: str) -> Case:
    """A case in the older form."""
    make_case(folder, TEST, prompt)
    (folder / "examples" / "good.html").unlink()
    for name, html in (("example-pass", good), ("example-fail", bad)):
        (folder / name).mkdir()
        (folder / name / "index.html").write_text(html)
    return load_case(folder)


@pytest.mark.rule("on-task")
def test_a_good_page_of_the_older_form_may_lack_the_words_of_the_prompt(tmp_path: Path) -> None:
    """It should have passed, `pages-check` said: off_task."""
    found = check([older(tmp_path / "a", "Make a page about a harbour.", HELLO, POOR)], strangers=False)
    assert found.findings == ()


@pytest.mark.rule("on-task")
def test_a_bad_page_of_the_older_form_that_lacks_them_is_still_reported(tmp_path: Path) -> None:
    found = check([older(tmp_path / "a", "Make a page about a harbour.", POOR, HELLO)], strangers=False)
    (pass_finding,) = [finding for finding in found.findings if finding.where == "example-pass/index.html"]
    assert pass_finding.what == "it should pass: Has a heading"


@pytest.mark.rule("on-task")
@pytest.mark.parametrize(
    ("html", "is_about"), [(HELLO, True), (POOR, False), (POOR.replace("<p>", "<p role=heading>"), True)]
)
def test_a_heading_need_not_be_called_one(html: str, is_about: bool, tmp_path: Path) -> None:
    good = expecting(HELLO, {"Has a heading": EXPECTED["Has a heading"]})
    case = make_case(tmp_path / "a", TEST, "Write a page with one heading.", good=good)
    assert (look_at(html, case).observed.off_task == "") is is_about
