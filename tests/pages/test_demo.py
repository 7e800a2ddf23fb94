"""The demo of the page track: all of our cases through model, browser and report; and the check of our cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pages_bench import EXPECTED, expecting, make_case, page

from pipeline.core.store import Store
from pipeline.llm.costs import requests
from pipeline.pages.checking import check
from pipeline.pages.cli import command
from pipeline.pages.demo import run_demo

pytestmark = pytest.mark.engine("browser")


def test_the_demo_has_the_expected_results_and_a_rerun_is_free(tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    report, broken = run_demo(store)
    assert broken == [] and report.exists()
    sent = len(requests(store.ledger))
    assert run_demo(store) == (report, []) and len(requests(store.ledger)) == sent


def test_a_check_reports_expectations_that_do_not_hold(tmp_path: Path) -> None:
    turned = EXPECTED | {"Has a heading": "fail", "Nobody asserts": "pass"}
    case = make_case(
        tmp_path / "harbour", good=expecting(page(), EXPECTED), turned=expecting(page(), turned), broken=""
    )
    found = check([case])
    assert (found.examples, found.expectations, found.held) == (3, 7, 5)
    problems = {(finding.where, finding.what) for finding in found.findings}
    assert ("examples/broken.html", 'there is no <script id="a11y-assertions">') in problems
    assert ("examples/turned.html", "'Has a heading': expected to fail, and does not") in problems
    assert ("examples/turned.html", "'Nobody asserts': no assertion has this name") in problems
    assert ("examples", "'The button says so': no example expects it to fail") in problems


@pytest.mark.rule("on-task")
def test_a_case_that_passes_an_unrelated_page_is_reported(tmp_path: Path) -> None:
    test = "module.exports.run = async ({assert}) => { await assert('Nothing is asked', () => true); };"
    lax = make_case(tmp_path / "lax", test + " module.exports.onTask = () => true;", "Make anything.")
    found = check([lax])
    assert {finding.where for finding in found.findings if "it passes" in finding.what} == {
        "an empty page",
        "an unrelated page",
        "an unrelated page with the usual names",
    }
    strict = make_case(tmp_path / "strict", test, "Make a page about a lighthouse.")
    assert not [finding for finding in check([strict]).findings if "it passes" in finding.what]


def test_check_prints_its_findings(tmp_path: Path) -> None:
    make_case(tmp_path / "cases" / "harbour")
    done = CliRunner().invoke(command, ["check", str(tmp_path / "cases"), "--json"])
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert (found["held"], found["expectations"], len(found["findings"])) == (3, 3, 3)
