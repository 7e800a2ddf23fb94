"""Reports of real runners (Jest 29, Vitest 3), shortened: names, statuses, and reports that do not add up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import factories
import pytest

from pipeline.core.errors import UserError
from pipeline.core.records import Status
from pipeline.core.store import read_records, write_records
from pipeline.ecosystems import all_parsers, parser
from pipeline.ecosystems.reports import ForgedReport, Report, ReportError

HERE = Path(__file__).parent
PASSED, FAILED, SKIPPED = Status.PASSED, Status.FAILED, Status.SKIPPED
#: the results of this folder's two files; `Broken.test.js` could not run, and `Tabs` failed after its tests
JEST = {
    "src/Menu.test.js > Menu > opens": PASSED,
    "src/Menu.test.js > Menu > opens [2]": FAILED,
    "src/Menu.test.js > Menu > is slow": PASSED,
    "src/Menu.test.js > Menu > later": SKIPPED,
    "src/Menu.test.js > Menu > some day": SKIPPED,
    "src/Menu.test.js > Menu > nested > deep": PASSED,
    "src/Menu.test.js > Menu > markup": FAILED,
    "src/Tabs.test.js > Menu > opens": PASSED,
}
VITEST = {
    "src/Menu.test.js > g > p": PASSED,
    "src/Menu.test.js > g > p [2]": PASSED,
    "src/Menu.test.js > g > f": FAILED,
    "src/Menu.test.js > g > s": SKIPPED,
    "src/Menu.test.js > g > t": SKIPPED,
    "src/Menu.test.js > snap": FAILED,
}
RUNNERS = ["jest", "vitest"]


def load(runner: str) -> dict[str, Any]:
    return json.loads((HERE / "runners" / runner / "short.json").read_text(encoding="utf-8"))


def parse(runner: str, report: Any, root: str = "/repo") -> Report:
    return parser(f"{runner}-json").read(json.dumps(report).encode(), root)


def small(*tests: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A report of one file with these tests and correct totals."""
    tests = tuple(
        {"ancestorTitles": [], "failureMessages": [], "title": "t", "status": "passed"} | test for test in tests
    )
    count = [test["status"] for test in tests].count
    totals = {"numPassedTests": count("passed"), "numFailedTests": count("failed"), "numPendingTests": count("pending")}
    suite = {"name": "/repo/a.test.js", "status": "passed", "assertionResults": list(tests)}
    return {"success": True, **totals, "testResults": [suite]} | more


@pytest.mark.parametrize(("runner", "expected"), [("jest", JEST), ("vitest", VITEST)])
def test_reports_of_every_runner_are_read(runner: str, expected: dict[str, Status]) -> None:
    report = parse(runner, load(runner))
    assert report.tests == expected
    assert report.suites["src/Broken.test.js"] is FAILED
    assert report.suites["src/Menu.test.js"] is PASSED
    assert not report.success


@pytest.mark.trap("duration-in-name")
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_slower_run_has_the_same_names(runner: str) -> None:
    """With `(5.1 s)` as part of its name, a test would go missing on a slower machine and a new one appear."""
    slow = load(runner)
    for suite in slow["testResults"]:
        suite["endTime"] += 9000
        for test in suite["assertionResults"]:
            test["duration"] = 5100
    assert parse(runner, slow).tests == parse(runner, load(runner)).tests


@pytest.mark.trap("same-name-collapses")
def test_no_two_tests_share_a_name() -> None:
    """Elsewhere, equal titles in two files, or twice in one, become a single test; a title could also end as our marker
    for the second one does."""
    tests = [
        {"title": "x"},
        {"title": "x", "status": "failed"},
        {"title": "x [2]"},
        {"title": "x", "status": "pending"},
    ]
    report = parse("jest", small(*tests))
    assert len(report.tests) == 4
    assert list(report.tests.values()) == [PASSED, FAILED, PASSED, SKIPPED]
    assert report.tests["a.test.js > x"] is PASSED
    assert "src/Menu.test.js > Menu > opens" in JEST and "src/Tabs.test.js > Menu > opens" in JEST


@pytest.mark.rule("suite-is-a-test")
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_file_that_cannot_run_has_no_tests(runner: str) -> None:
    """It is one FAILED test named by its file, so a fix that makes the file importable counts. (In Jest's short report,
    `Tabs` has an `afterAll` that fails.)"""
    report = parse(runner, load(runner))
    assert not any(name.startswith("src/Broken.test.js") for name in report.tests)
    hooks = {"jest": ["src/Tabs.test.js"]}.get(runner, [])
    assert [file for file, status in report.suites.items() if status is FAILED] == [*hooks, "src/Broken.test.js"]


@pytest.mark.parametrize(
    ("runner", "name"), [("jest", "src/Menu.test.js > Menu > markup"), ("vitest", "src/Menu.test.js > snap")]
)
def test_snapshot_failures_are_recognized(runner: str, name: str) -> None:
    assert parse(runner, load(runner)).by_snapshot == {name}


def test_a_failure_beside_a_snapshot_is_no_snapshot_failure() -> None:
    by_snapshot = "Error: expect(received).toMatchSnapshot()\n\nSnapshot name: `a 1`"
    both = {"status": "failed", "failureMessages": [by_snapshot, "Error: no"]}
    assert parse("jest", small(both, success=False)).by_snapshot == set()
    alone = {"status": "failed", "failureMessages": [by_snapshot]}
    assert parse("jest", small(alone, success=False)).by_snapshot == {"a.test.js > t"}


def _add(key: str) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        report[key] += 1

    return change


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda report: report.update({key: value})


def _drop(report: dict[str, Any]) -> None:
    report["testResults"][0]["assertionResults"].pop()


@pytest.mark.trap("printed-passed")
@pytest.mark.rule("parser-audits-itself")
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    "change", [*map(_add, ["numPassedTests", "numFailedTests", "numPendingTests", "numTodoTests"]), _drop]
)
def test_a_report_must_add_up(runner: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Every parser checks itself: what it read equals the runner's own totals."""
    report = load(runner)
    change(report)
    with pytest.raises(ReportError, match="does not add up: .* read, .* reported"):
        parse(runner, report)


@pytest.mark.rule("crashed")
@pytest.mark.trap("honest-crash")
def test_a_dead_vitest_process_is_no_forgery() -> None:
    """An exhausted heap ends the process of a file. Since version 2, its tests are reported as pending, are in no
    total, and the report says success. A test that is in no total must not count as passed."""
    report = small({"title": "a", "status": "pending"}, {"title": "b"}, numPendingTests=0, numTotalTests=2)
    assert parse("vitest", report).tests == {"a.test.js > a": SKIPPED, "a.test.js > b": PASSED}
    for status in ("passed", "skipped"):
        with pytest.raises(ForgedReport):
            parse("vitest", small({"status": status}, {"status": "failed"}, numPassedTests=0, numTotalTests=2))


@pytest.mark.parametrize("name", [name for name, reader in all_parsers().items() if reader.log])
@pytest.mark.parametrize(
    "text", [b"", b"Tests: all of them\n", b"\nTests: 1 passed, 1 total\n", b"  3 passing (2ms)\n"]
)
def test_a_log_without_tests_or_totals_is_refused(name: str, text: bytes) -> None:
    with pytest.raises(ReportError):
        parser(name).read(text, "/repo")


@pytest.mark.parametrize(
    "change",
    [
        _set("testResults", [{}]),
        _set("testResults", None),
        _set("numPassedTests", "many"),
        lambda report: report.pop("success"),
    ],
)
def test_a_report_without_required_fields_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    report = load("jest")
    change(report)
    with pytest.raises(ReportError):
        parse("jest", report)


@pytest.mark.parametrize(
    "test", [{"status": "great"}, {"title": None}, {"title": 1}, {"ancestorTitles": [1]}, {"status": []}]
)
def test_a_test_with_impossible_fields_is_refused(test: dict[str, Any]) -> None:
    with pytest.raises(ReportError):
        parse("jest", small(test))


@pytest.mark.parametrize("status", ["pending", "skipped", "disabled", "todo"])
def test_every_status_of_a_test_that_did_not_run_is_read(status: str) -> None:
    report = small({"status": status}, numPendingTests=1)
    assert set(parse("jest", report).tests.values()) == {SKIPPED}


def test_files_are_named_from_the_root() -> None:
    """The folder differs between sandboxes; a test's name must not."""
    report = small({})
    assert set(parse("jest", report, "/repo/").tests) == set(parse("jest", report).tests) == {"a.test.js > t"}
    report["testResults"][0]["name"] = "/work/spaces/7/repo/a.test.js"
    assert set(parse("jest", report, "/work/spaces/7/repo").tests) == {"a.test.js > t"}


@pytest.mark.rule("tampered")
@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("jest-json", "Test results written to: /scratch/report-1f.json", True),
        ("jest-json", "Test results written to: ../scratch/report-1f.json", True),
        ("jest-json", "Test results written to: /scratch/report-00.json", False),
        ("jest-json", "     +  <butTest results written to: /scratch/report-1f.json", True),
        ("jest-json", "JSON report written to /scratch/report-1f.json", False),
        ("vitest-json", "JSON report written to /scratch/report-1f.json", True),
        ("vitest-json", "JSON report written to /scratch/report-00.json", False),
        ("vitest-json", "", False),
    ],
)
def test_the_runner_announces_its_report(name: str, line: str, expected: bool) -> None:
    """A run that ended before its runner did is invalid; the report's name is unknown until the run starts."""
    output = f"Tests: 1 passed\n{line}\nDone in 3 s\n\xff".encode("latin-1")
    assert parser(name).announced(output, "/scratch/report-1f.json") is expected


def test_an_unknown_parser_lists_what_there_is() -> None:
    with pytest.raises(UserError, match=r"unknown parser 'tap'\n  available: .*jest-json, jest-text, .*vitest-json"):
        parser("tap")


@pytest.mark.trap("half-an-emoji")
@pytest.mark.parametrize("runner", RUNNERS)
def test_half_an_emoji_in_a_title_is_replaced(runner: str, tmp_path: Path) -> None:
    """Such a title cannot be stored in a record: it made the instance fail every time."""
    titles = ["\ud83d", "\ude00", "\ud83d\ude00", "�"]
    report = parse(runner, small(*({"title": title, "ancestorTitles": ["\ude00 menu"]} for title in titles)))
    start = "a.test.js > � menu > "
    assert list(report.tests) == [f"{start}�", f"{start}� [2]", f"{start}😀", f"{start}� [3]"]
    verdict = factories.make_verdict(factories.make_prediction(), fixed=tuple(report.tests))
    write_records(tmp_path / "verdicts.jsonl", [verdict])
    assert read_records(tmp_path / "verdicts.jsonl", type(verdict))[0].fixed == tuple(report.tests)


@pytest.mark.rule("screenshots-are-no-tests")
@pytest.mark.parametrize(
    ("message", "drawn"),
    [
        ("Error: Expected image to match or be a close match to snapshot but was 0.53% different", True),
        ("Error: Expected image to be the same size as the snapshot (800x600), but was different", True),
        ("New snapshot was not written.\n    at Object.toMatchImageSnapshot (src/a.test.js:3:1)", True),
        ("Error: expect(page).toHaveScreenshot(expected) failed\n\n  2046 pixels are different", True),
        ("Error: Expect element to match existing screenshot baseline.\n at toMatchScreenshot (a.test.ts)", True),
        ("Fixture test failed:\n  Difference: 1204px / 2.3%\n  Threshold: 10%", True),
        ("expect(received).toMatchSnapshot()\n\nSnapshot name: `Menu 1`", False),
        ("Error: expect(page).toMatchAriaSnapshot(expected) failed", False),
        ("expect(received).toBe(expected)", False),
    ],
)
def test_screenshot_failures_are_recognized(message: str, drawn: bool) -> None:
    """With jest-image-snapshot, Playwright and Vitest; snapshots of markup and accessibility trees are ordinary
    tests."""
    test = {"ancestorTitles": [], "title": "looks right", "status": "failed", "failureMessages": [message]}
    suite = {"name": "/repo/a.test.js", "assertionResults": [test]}
    totals = {"numPassedTests": 0, "numFailedTests": 1, "success": False}
    found = parser("jest-json").read(json.dumps({"testResults": [suite], **totals}).encode(), "/repo")
    assert found.by_screenshot == ({"a.test.js > looks right"} if drawn else set())
    result = {"errors": [{"message": message}]}
    spec = {"file": "a.spec.ts", "title": "looks right", "tests": [{"status": "unexpected", "results": [result]}]}
    stats = {"expected": 0, "unexpected": 1, "flaky": 0, "skipped": 0}
    data = {"config": {"rootDir": "/repo"}, "suites": [{"title": "", "specs": [spec]}], "stats": stats, "errors": []}
    found = parser("playwright-json").read(json.dumps(data).encode(), "/repo")
    assert bool(found.by_screenshot) == drawn


@pytest.mark.rule("report-leaves-at-once")
@pytest.mark.parametrize("name", RUNNERS)
def test_a_second_report_is_forged(name: str) -> None:
    """The runner writes once. A broken text is no forgery: a runner that was killed leaves one."""
    report = (HERE / "runners" / name / "short.json").read_bytes()
    with pytest.raises(ForgedReport, match="more than one"):
        parser(f"{name}-json").read(report + b'{"success": true}', "/repo")
    with pytest.raises(ReportError) as broken:
        parser(f"{name}-json").read(report[:-20], "/repo")
    assert not isinstance(broken.value, ForgedReport)


@pytest.mark.rule("same-failure")
@pytest.mark.parametrize("runner", RUNNERS)
def test_the_reason_of_a_failure_is_read(runner: str) -> None:
    """Equal words are the same reason, whatever their color and position; a passing test has none."""
    message = 'Error: expect(received).toBe(expected)\n\nExpected: "a"\nReceived: {}"b"{}\n    at x ({}:1:1)'

    def said(*parts: str) -> dict[str, str]:
        failed = {"status": "failed", "failureMessages": [message.format(*parts)]}
        return parse(runner, small(failed, {"title": "u"}, numTotalTests=2, success=False)).reasons

    assert said("", "", "/repo/a.js") == said("\x1b[31m", "\x1b[39m", "/other/b.js")
    assert said("", "", "/repo/a.js") != said("", "c", "/repo/a.js") and set(said("", "", "")) == {"a.test.js > t"}


@pytest.mark.invariant(7)
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("message", ["\n", "1", "Snapshot `", "\u25cf ", "\n    at ", "Difference: 1", "\x1b[1"])
def test_a_long_message_is_read_in_one_pass(runner: str, message: str) -> None:
    """A candidate's code writes the messages: a parser that looks back from every character would be busy for hours."""
    long = message * (400_000 // len(message))
    report = small({"status": "failed", "failureMessages": [long]}, success=False)
    report["testResults"][0]["message"] = long
    assert parse(runner, report).tests == {"a.test.js > t": FAILED}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("runner", RUNNERS)
def test_the_order_of_a_files_projects_does_not_matter(runner: str, turned: bool) -> None:
    """Projects end in any order; the last one used to decide about the file, and the first one got the plain name."""
    passed, failed = (small({"status": status})["testResults"][0] for status in ("passed", "failed"))
    failed["message"] = "\u25cf Test suite failed to run"
    suites = [failed, passed] if turned else [passed, failed]
    report = parse(runner, small(numPassedTests=1, numFailedTests=1, numTotalTests=2, testResults=suites))
    assert report.tests == {"a.test.js > t": FAILED, "a.test.js > t [2]": PASSED}
    if runner == "jest":
        assert report.suites == {"a.test.js": FAILED}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_file_that_one_project_cannot_run_failed(runner: str, turned: bool) -> None:
    runs = small({})["testResults"][0]
    suites = [runs, runs | {"assertionResults": []}]
    report = parse(runner, small({}, testResults=suites[::-1] if turned else suites))
    assert report.suites["a.test.js"] is FAILED


@pytest.mark.parametrize("character", ["\x1b[31m", "\0", "&#27;", "&#x1B;", "&#9999999;", "\uffff"])
def test_a_message_may_contain_characters_that_xml_forbids(character: str) -> None:
    """Node writes the colors of an error unescaped, and the whole report was unreadable."""
    test = f'<testcase name="t"><failure message="{character}red">{character}</failure></testcase>'
    totals = {"tests": 1, "suites": 0, "pass": 0, "fail": 1, "cancelled": 0, "skipped": 0, "todo": 0}
    comments = "".join(f"<!-- {name} {number} -->" for name, number in totals.items())
    text = f'<testsuites><testsuite name="/repo/a.test.js">{test}</testsuite>{comments}</testsuites>'
    report = parser("node-junit").read(text.encode(), "/repo")
    assert report.tests == {"a.test.js > t": FAILED}


@pytest.mark.invariant(7)
def test_a_name_repeated_thousands_of_times_is_numbered_quickly() -> None:
    """A loop that defines tests can cause this."""
    report = parse("jest", small(*[{}] * 30_000))
    assert len(report.tests) == 30_000 and "a.test.js > t [30000]" in report.tests
