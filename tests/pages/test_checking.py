"""Checking cases: good pages that lack what their prompt mentions, and unrelated pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages_bench import EXPECTED, expecting, look_at, make_case

from pipeline.pages.cases import Case, load_case
from pipeline.pages.checking import check
from pipeline.pages.engine import Job, Looked
from pipeline.pages.records import Assertion, Observed

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
def test_a_good_page_that_lacks_what_the_prompt_mentions_is_reported_and_passes(tmp_path: Path) -> None:
    """It was counted as if it had the words, and failed as an answer."""
    good = HELLO.replace("</h1>", '</h1><img src="data:," alt="Hello">')
    case = older(tmp_path / "a", "Make a page about a harbour.", good, POOR)
    (finding,) = check([case], strangers=False).findings
    assert finding.where == "example-pass/index.html"
    assert finding.what == "it lacks what the prompt mentions, so a page is on task with one of: img, 'harbour'"


@pytest.mark.rule("busy-machine")
def test_examples_that_do_as_they_state_are_not_run_again_on_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most examples fail, as they should."""
    case, ran = older(tmp_path / "a", "Make a page about a heading.", HELLO, POOR), []

    def look(job: Job) -> Looked:
        ran.append(job.html)
        status = "pass" if job.html == HELLO and ran.count(HELLO) > 1 else "fail"
        return Looked(Observed(assertions=(Assertion(name="Has a heading", status=status),), busy="busy"))

    monkeypatch.setattr("pipeline.pages.running.look", look)
    monkeypatch.setattr("pipeline.pages.running.PATIENCE", 0)
    found = check([case], strangers=False)
    assert sorted(ran) == sorted([HELLO, POOR, HELLO]) and found.findings == ()


@pytest.mark.rule("on-task")
def test_a_case_that_tells_on_task_itself_lacks_nothing(tmp_path: Path) -> None:
    case = older(tmp_path / "a", "Make a page about a harbour.", HELLO, POOR)
    (case.folder / "test.js").write_text(f"{TEST} module.exports.onTask = () => true;")
    assert case.lacking and check([load_case(case.folder)], strangers=False).findings == ()


@pytest.mark.rule("on-task")
def test_a_bad_page_of_the_older_form_that_lacks_them_is_still_reported(tmp_path: Path) -> None:
    found = check([older(tmp_path / "a", "Make a page about a harbour.", POOR, HELLO)], strangers=False)
    reported = [finding.what for finding in found.findings if finding.where == "example-pass/index.html"]
    assert reported[0] == "it should pass: Has a heading"
    assert reported[1].endswith("so a page need only not be empty to be on task")


@pytest.mark.rule("on-task")
@pytest.mark.parametrize("prompt", ["Create a modal dialog.", "Generate an HTML page with a tab widget."])
def test_unrelated_pages_fail_a_test_in_which_nothing_can_fail(prompt: str, tmp_path: Path) -> None:
    """They passed, as nothing was asked of pages where a script may add an element later."""
    test = 'module.exports.run = async ({ assert }) => { await assert("All dialogs are named", () => true); };'
    check_one = check(
        [make_case(tmp_path / "a", test, prompt, bad=expecting(HELLO, {"All dialogs are named": "fail"}))]
    )
    assert [finding for finding in check_one.findings if "it passes" in finding.what] == []


@pytest.mark.rule("on-task")
@pytest.mark.parametrize(
    ("html", "is_about"), [(HELLO, True), (POOR, False), (POOR.replace("<p>", "<p role=heading>"), True)]
)
def test_a_heading_need_not_be_called_one(html: str, is_about: bool, tmp_path: Path) -> None:
    good = expecting(HELLO, {"Has a heading": EXPECTED["Has a heading"]})
    case = make_case(tmp_path / "a", TEST, "Write a page with one heading.", good=good)
    assert (look_at(html, case).observed.off_task == "") is is_about
