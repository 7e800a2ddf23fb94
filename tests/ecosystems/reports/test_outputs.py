"""Reports and logs of real runners (outputs/, made by make.sh from projects/): every version says the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipeline.core.records import Status
from pipeline.ecosystems.reports import PARSERS, Report, ReportError, announced, read
from pipeline.ecosystems.reports.jest_text import MARKS

OUTPUTS = Path(__file__).parent / "outputs"
PASSED, FAILED, SKIPPED = Status.PASSED, Status.FAILED, Status.SKIPPED
#: by runner: the parser, and what its project's tests say
JEST = {
    "src/Menu.test.js > Menu > opens": PASSED,
    "src/Menu.test.js > Menu > opens [2]": FAILED,
    "src/Menu.test.js > Menu > is slow": PASSED,
    "src/Menu.test.js > Menu > later": SKIPPED,
    "src/Menu.test.js > Menu > some day": SKIPPED,
    "src/Menu.test.js > Menu > nested > deep (12 ms)": PASSED,
    "src/Menu.test.js > Menu > markup": FAILED,
    "src/Tabs.test.js > Menu > opens": PASSED,
}
MOCHA = {
    "test/menu.test.js > Menu > opens": PASSED,
    "test/menu.test.js > Menu > opens [2]": FAILED,
    "test/menu.test.js > Menu > is slow": PASSED,
    "test/menu.test.js > Menu > later": SKIPPED,
    "test/menu.test.js > Menu > some day": SKIPPED,
    "test/menu.test.js > Menu > nested > deep (12ms)": PASSED,
    "test/hooks.test.js > Menu > opens": PASSED,
}
NODE = {
    "test/menu.test.js > Menu > opens": PASSED,
    "test/menu.test.js > Menu > opens [2]": FAILED,
    "test/menu.test.js > Menu > is slow": PASSED,
    "test/menu.test.js > Menu > later": SKIPPED,
    "test/menu.test.js > Menu > some day": SKIPPED,
    "test/menu.test.js > Menu > nested <&> > deep (12 ms)": PASSED,
    "test/tabs.test.js > opens": PASSED,
    "test/tabs.test.js > has parts > one": PASSED,
}
KARMA = {
    "Menu > opens": PASSED,
    "Menu > opens (12 ms)": FAILED,
    "Menu > later": SKIPPED,
    "Menu > nested > deep": PASSED,
    "Tabs > opens": PASSED,
}
PLAYWRIGHT = {
    "src/Menu.spec.jsx > chromium > Menu > has a name": PASSED,
    "src/Menu.spec.jsx > chromium > Menu > opens": FAILED,
    "src/Menu.spec.jsx > chromium > Menu > later": SKIPPED,
    "src/Tabs.spec.jsx > chromium > has a name": PASSED,
}
RUNNERS = {
    "jest": ("jest-json", JEST, {"src/Broken.test.js"}),
    "vitest": ("vitest-json", JEST, {"src/Broken.test.js"}),
    "mocha": ("mocha-json", MOCHA, {"test/hooks.test.js", "test/broken.test.js"}),
    "node": ("node-junit", NODE, {"test/broken.test.js"}),
    "karma": ("karma-json", KARMA, set()),
    "playwright": ("playwright-json", PLAYWRIGHT, set()),
}
REPORTS = sorted(path.stem for path in OUTPUTS.glob("*.report"))
LOGS = [stem for stem in REPORTS if stem.startswith("jest-")]


def parsed(stem: str, parser: str = "", suffix: str = "report") -> Report:
    text = (OUTPUTS / f"{stem}.{suffix}").read_bytes()
    return read(parser or RUNNERS[stem.partition("-")[0]][0], text, "/repo")


def test_every_runner_has_outputs() -> None:
    assert {stem.partition("-")[0] for stem in REPORTS} == set(RUNNERS)
    assert {f"jest-{major}" for major in range(19, 31)} == set(LOGS)
    assert {f"vitest-{version}" for version in ("0.12", "0.34", 1, 2, 3, 4)} <= set(REPORTS)


@pytest.mark.trap("same-name-collapses")
@pytest.mark.parametrize("stem", REPORTS)
def test_a_report_says_the_same_in_every_version(stem: str) -> None:
    """Names are file and full name: the same over twelve majors, with the second of two equal ones apart."""
    _, expected, broken = RUNNERS[stem.partition("-")[0]]
    report = parsed(stem)
    assert {name: report.tests.get(name) for name in expected} == expected | _without_todo(report)
    assert report.tests.keys() <= expected.keys()
    assert {file for file, status in report.suites.items() if status is FAILED} == broken
    assert not report.success


def _without_todo(report: Report) -> dict[str, None]:
    """Before Jest 24 there is no `test.todo`: the project leaves it out."""
    todo = "src/Menu.test.js > Menu > some day"
    return {} if todo in report.tests or "src/Tabs.test.js > Menu > opens" not in report.tests else {todo: None}


@pytest.mark.rule("snapshot-only")
@pytest.mark.parametrize("stem", [stem for stem in REPORTS if stem.startswith(("jest-", "vitest-"))])
def test_failures_by_snapshot_alone_are_known_in_every_version(stem: str) -> None:
    assert parsed(stem).by_snapshot == {"src/Menu.test.js > Menu > markup"}


@pytest.mark.trap("duration-in-name")
@pytest.mark.parametrize("stem", LOGS)
def test_the_text_of_jest_says_what_its_report_says(stem: str) -> None:
    """Jest prints `(5.1 s)` behind slow tests only: kept in the name, a slower run would be another test."""
    log, report = parsed(stem, "jest-text", "log"), parsed(stem)
    expected = {name.replace(" (12 ms)", ""): status for name, status in report.tests.items()}
    if int(stem.partition("-")[2]) < 24:
        skipped = "src/Menu.test.js > Menu > later"
        expected = {name: status for name, status in expected.items() if name != skipped}
        expected["src/Menu.test.js > Menu > (skipped)"] = SKIPPED
    assert log.tests == expected
    assert (log.suites, log.success) == (report.suites, False)


@pytest.mark.trap("failure-mark")
def test_every_mark_is_read_and_no_file_stands_in_for_its_tests() -> None:
    """Multi-SWE-bench's reader of grommet knows `×` and `✗`, and not `✕`: failing tests become NONE."""
    tests = "".join(f"  {mark} {number}\n" for number, mark in enumerate(MARKS))
    totals = "Tests: 2 failed, 2 skipped, 2 passed, 6 total\n"
    found = read("jest-text", f"FAIL a.test.js\n{tests}\n{totals}".encode(), "/repo")
    assert found.tests == {f"a.test.js > {number}": status for number, status in enumerate(MARKS.values())}


@pytest.mark.trap("printed-passed")
@pytest.mark.parametrize("stem", LOGS)
def test_what_a_test_prints_is_no_test(stem: str) -> None:
    """The project prints `✓ printed by the test`, as a candidate's code might."""
    assert b"printed by the test" in (OUTPUTS / f"{stem}.log").read_bytes()
    assert not any("printed" in name for name in parsed(stem, "jest-text", "log").tests)


@pytest.mark.rule("parser-audits-itself")
@pytest.mark.parametrize("stem", [stem for stem in REPORTS if stem.startswith("mocha-")])
def test_the_text_of_mocha(stem: str) -> None:
    """It names no files, and a printed line that looks like a test's own can not be told from one: totals tell."""
    log = (OUTPUTS / f"{stem}.log").read_text(encoding="utf-8")
    with pytest.raises(ReportError, match="PASSED: 5 read, 4 reported"):
        read("mocha-text", log.encode(), "/repo")
    honest = re.sub(r".*printed by the test\n", "", log)
    honest = honest.replace('hook for "opens"', "hook")
    found = read("mocha-text", honest.encode(), "/repo")
    assert found.tests == {
        "Menu > opens": PASSED,
        "Menu > opens [2]": FAILED,
        "Menu > is slow": PASSED,
        "Menu > later": SKIPPED,
        "Menu > some day": SKIPPED,
        "Menu > nested > deep": PASSED,
        'Tabs > "before all" hook': FAILED,
        "Menu > opens [3]": PASSED,
    }
    assert not found.success


@pytest.mark.rule("tampered")
@pytest.mark.parametrize("stem", REPORTS)
def test_every_runner_announces_its_report_but_playwright(stem: str) -> None:
    parser, log = RUNNERS[stem.partition("-")[0]][0], (OUTPUTS / f"{stem}.log").read_bytes()
    assert announced(parser, log, "/scratch/report")
    assert announced(parser, log, "/scratch/another") is (parser == "playwright-json")


@pytest.mark.trap("printed-passed")
@pytest.mark.rule("parser-audits-itself")
@pytest.mark.parametrize(
    ("stem", "honest", "faked"),
    [
        ("mocha-11", '"passes":4', '"passes":5'),
        ("mocha-11", '"pending":2', '"pending":0'),
        ("node-24", "<!-- pass 6 -->", "<!-- pass 7 -->"),
        ("node-24", "<!-- skipped 1 -->", "<!-- skipped 0 -->"),
        ("node-24", "<!-- tests 10 -->", "<!-- tests 11 -->"),
        ("node-24", "<!-- tests 10 -->", ""),
        ("karma-6", '"failed":1', '"failed":0'),
        ("playwright-1", '"unexpected": 1', '"unexpected": 0'),
    ],
)
def test_a_report_must_add_up(stem: str, honest: str, faked: str) -> None:
    """Every parser audits itself: what it read equals the runner's own totals."""
    text = (OUTPUTS / f"{stem}.report").read_text(encoding="utf-8")
    assert honest in text
    with pytest.raises(ReportError):
        read(RUNNERS[stem.partition("-")[0]][0], text.replace(honest, faked).encode(), "/repo")


@pytest.mark.parametrize("parser", [name for name, row in PARSERS.items() if row.log])
@pytest.mark.parametrize(
    "text", [b"", b"Tests: all of them\n", b"\nTests: 1 passed, 1 total\n", b"  3 passing (2ms)\n"]
)
def test_a_log_without_tests_or_totals(parser: str, text: bytes) -> None:
    with pytest.raises(ReportError):
        read(parser, text, "/repo")


def test_a_broken_tree_is_no_crash() -> None:
    """A candidate's code may print anything."""
    log = b"PASS a.test.js\n  Menu\n          \xe2\x9c\x93 deep\n\nTest Suites: 1 passed\n\nTests: 1 passed, 1 total\n"
    with pytest.raises(ReportError, match="a.test.js"):
        read("jest-text", log, "/repo")


def test_the_browser_that_failed_is_no_result() -> None:
    data = json.loads((OUTPUTS / "karma-6.report").read_text(encoding="utf-8"))
    data["stats"]["error"] = True
    with pytest.raises(ReportError, match="the browser or the bundle failed"):
        read("karma-json", json.dumps(data).encode(), "/repo")


@pytest.mark.parametrize(
    ("header", "file"),
    [
        ("PASS src/a.test.js", "src/a.test.js"),
        ("PASS src/a.test.js (5.1 s)", "src/a.test.js"),
        ("PASS src/a.test.js (5.1 s) (43 MB heap size)", "src/a.test.js"),
        (" PASS  src/a.test.js (12.3s)", "src/a.test.js"),
        ("PASS  Vue  packages/vue/a.test.js", "packages/vue/a.test.js"),
        ("PASS React packages/react/a.test.js (1 m 2 s)", "packages/react/a.test.js"),
    ],
)
def test_the_files_of_a_log(header: str, file: str) -> None:
    """The name of a project before it and the times behind it are none of it."""
    log = f"{header}\n  ✓ works\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\n"
    assert read("jest-text", log.encode(), "/repo").tests == {f"{file} > works": PASSED}


def test_the_summary_of_failures_is_not_read_twice() -> None:
    tree = "FAIL a.test.js\n  ✕ works\n\n  ● works\n\n    no\n\n"
    again = "Summary of all failing tests\nFAIL a.test.js\n  ● works\n\n    no\n\n"
    totals = "Test Suites: 1 failed, 1 total\nTests: 1 failed, 1 total\n"
    report = read("jest-text", f"{tree}{again}{totals}".encode(), "/repo")
    assert (report.tests, report.suites) == ({"a.test.js > works": FAILED}, {"a.test.js": PASSED})
