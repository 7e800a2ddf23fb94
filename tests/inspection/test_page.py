"""An instance as a page: everything that the terminal shows, no foreign text as markup, and easy to use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from analyze.browser.conftest import WIDTHS, violations
from bs4 import BeautifulSoup
from click.testing import CliRunner
from factories import REPO, make_instance, make_prediction, make_verdict
from inspection.conftest import SPOKEN, TIME

from pipeline.browser import axe as pinned
from pipeline.core.records import Issue, Outcome
from pipeline.core.store import Store, write_bytes, write_records
from pipeline.core.verdict import Status
from pipeline.inspection import instance

HOSTILE = "</div></code><script>alert(1)</script>"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def shown(store: Store, *words: str) -> Path:
    """The page that the command writes."""
    arguments = ["acme/ui#1", "--browser", "--print", *words, "--data", str(store.root)]
    path = Path(CliRunner().invoke(instance.command, arguments, catch_exceptions=False).stdout.strip())
    assert path == store.analysis / "shown" / "acme__ui-1.html"
    return path


def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def add_trajectory(store: Store, text: str) -> None:
    place = store.answers(REPO, REPO.instance_id(1), "answer-magentless") / "trajectory.jsonl"
    messages = [{"role": "user", "content": text}]
    write_bytes(place, json.dumps({"messages": messages, "reply": "at the door"}).encode())


def test_a_page_has_gold_beside_each_answer_with_its_trajectory(assessed: Store) -> None:
    add_trajectory(assessed, "where is it")
    page = parsed(shown(assessed))
    assert [head.get_text() for head in page.select("section > h2")] == [
        "magentless with model-a: unresolved",
        "magentless@greedy with model-a: resolved",
    ]
    assert [len(beside.find_all("pre")) for beside in page.select(".beside")] == [2, 2]
    assert [text.get_text() for text in page.select("details .text")] == ["where is it", "at the door"]
    assert [row.get_text("|") for row in page.select(".phrases tbody tr")] == [
        "|".join((*SPOKEN.base, *SPOKEN.gold, SPOKEN.patch[0])),
        "off",
    ]


def test_a_statement_without_an_issues_number_has_none(store: Store) -> None:
    """As those of other benchmarks: it was shown as issue #0."""
    (issue,) = make_instance(1).resolved_issues
    unnumbered = issue.model_copy(update={"number": 0})
    write_records(store.dataset(REPO), [make_instance(1, resolved_issues=(unnumbered,)), make_instance(2)])
    assert [head.get_text() for head in parsed(shown(store)).find_all("h3")][0] == issue.title
    printed = CliRunner().invoke(instance.command, ["acme/ui#1", "--data", str(store.root)]).output
    assert printed.startswith(f"{issue.title}\n")


def test_a_page_names_the_tests_that_do_not_pass(store: Store) -> None:
    prediction = make_prediction(1, run=TIME)
    failing = {"unfixed": {"has a name": Status.FAILED}, "broken": {"opens": Status.NONE}}
    verdict = make_verdict(prediction, Outcome.UNRESOLVED, **failing)
    write_records(store.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl", [verdict])
    listed = parsed(shown(store, "--agent", "magentless")).select("section ul li")
    assert [test.get_text() for test in listed] == ["unfixed: has a name (FAILED)", "broken: opens (NONE)"]


def test_a_page_shows_only_the_answers_that_are_chosen(store: Store) -> None:
    page = parsed(shown(store, "--agent", "magentless@greedy"))
    assert [head.get_text() for head in page.select("section > h2")] == ["magentless@greedy with model-a: resolved"]
    page = parsed(shown(store, "--agent", "nobody"))
    assert "No such answer; available: magentless with" in page.get_text() and len(page.find_all("pre")) == 1


@pytest.mark.invariant(5)
def test_nothing_foreign_is_markup_in_a_page(store: Store) -> None:
    """The statement, the patches, the names of tests and the conversation come from other people or from a model."""
    issue = Issue(number=1, title=HOSTILE, body=HOSTILE)
    gold = make_instance(1, title=HOSTILE, resolved_issues=(issue,), fix_patch=f"+{HOSTILE}")
    write_records(store.dataset(REPO), [gold])
    prediction = make_prediction(1, run=TIME, model_patch=f"+{HOSTILE}", answer="answer-magentless")
    folder = store.predictions(REPO, "magentless", "model-a") / TIME
    write_records(folder / "predictions.jsonl", [prediction])
    verdict = make_verdict(prediction, Outcome.UNRESOLVED, unfixed={HOSTILE: Status.FAILED})
    write_records(store.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl", [verdict])
    add_trajectory(store, HOSTILE)
    page = parsed(shown(store, "--agent", "magentless"))
    assert [script.get_text() for script in page.find_all("script")] == [""]
    assert page.get_text().count(HOSTILE) >= 7
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none'")


@pytest.mark.rule("bad-input")
def test_only_a_page_is_printed(store: Store) -> None:
    result = CliRunner().invoke(instance.command, ["acme/ui#1", "--print", "--data", str(store.root)])
    assert result.exit_code == 2 and "add --browser" in result.output


@pytest.mark.engine("browser")
@pytest.mark.rule("report-for-everybody")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_page_and_nothing_overflows(
    chromium: Any, assessed: Store, width: int, scheme: str
) -> None:
    add_trajectory(assessed, "a" * 500)
    page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.goto(shown(assessed).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert violations(page, pinned.source().decode()) == []
    assert page.evaluate(OVERFLOW) == 0
    first, second = (side.bounding_box() for side in page.locator(".beside").first.locator("pre").all())
    assert (first["y"] == second["y"]) == (width == WIDTHS[0]), "side by side at a desk, one below the other on a phone"
    page.close()
