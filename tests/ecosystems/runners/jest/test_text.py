"""Jest's output with `--verbose`: every version's log agrees with its report, whatever tests print."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.records import Status
from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import Report, ReportError
from pipeline.ecosystems.runners.jest.text import MARKS

OUTPUTS = Path(__file__).parent / "outputs"
PASSED, FAILED, SKIPPED = Status.PASSED, Status.FAILED, Status.SKIPPED
VERSIONS = sorted(path.stem for path in OUTPUTS.glob("*.log"))


def read(text: bytes, name: str = "jest-text") -> Report:
    return parser(name).read(text, "/repo")


@pytest.mark.trap("duration-in-name")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_text_log_gives_the_same_results_as_the_report(version: str) -> None:
    """Jest prints `(5.1 s)` after slow tests only: if it were part of the name, a slower run would have another
    test."""
    log = read((OUTPUTS / f"{version}.log").read_bytes())
    report = read((OUTPUTS / f"{version}.report").read_bytes(), "jest20-json" if int(version) < 21 else "jest-json")
    expected = {name.replace(" (12 ms)", ""): status for name, status in report.tests.items()}
    if int(version) < 24:
        skipped = "src/Menu.test.js > Menu > later"
        expected = {name: status for name, status in expected.items() if name != skipped}
        expected["src/Menu.test.js > Menu > (skipped)"] = SKIPPED
    assert log.tests == expected
    assert (log.suites, log.success) == (report.suites, False)


@pytest.mark.trap("failure-mark")
def test_every_mark_is_read_and_files_are_no_tests() -> None:
    """Multi-SWE-bench's parser for grommet knows `×` and `✗`, but not `✕`, so failing tests become NONE."""
    tests = "".join(f"  {mark} {number}\n" for number, mark in enumerate(MARKS))
    totals = "Tests: 2 failed, 2 skipped, 2 passed, 6 total\n"
    found = read(f"FAIL a.test.js\n{tests}\n{totals}".encode())
    assert found.tests == {f"a.test.js > {number}": status for number, status in enumerate(MARKS.values())}


@pytest.mark.trap("printed-passed")
@pytest.mark.parametrize("version", VERSIONS)
def test_output_of_a_test_is_no_test(version: str) -> None:
    """The project prints `✓ printed by the test`, as a candidate's code might do."""
    log = (OUTPUTS / f"{version}.log").read_bytes()
    assert b"printed by the test" in log
    assert not any("printed" in name for name in read(log).tests)


def test_a_malformed_tree_of_titles_is_refused() -> None:
    """A candidate's code may print anything."""
    log = b"PASS a.test.js\n  Menu\n          \xe2\x9c\x93 deep\n\nTest Suites: 1 passed\n\nTests: 1 passed, 1 total\n"
    with pytest.raises(ReportError, match="a.test.js"):
        read(log)


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
def test_the_files_of_a_log_are_read(header: str, file: str) -> None:
    """Without the name of the project before the file and the time after it."""
    log = f"{header}\n  ✓ works\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\n"
    assert read(log.encode()).tests == {f"{file} > works": PASSED}


def test_the_summary_of_failures_is_not_read_twice() -> None:
    tree = "FAIL a.test.js\n  ✕ works\n\n  ● works\n\n    no\n\n"
    again = "Summary of all failing tests\nFAIL a.test.js\n  ● works\n\n    no\n\n"
    totals = "Test Suites: 1 failed, 1 total\nTests: 1 failed, 1 total\n"
    report = read(f"{tree}{again}{totals}".encode())
    assert (report.tests, report.suites) == ({"a.test.js > works": FAILED}, {"a.test.js": PASSED})


@pytest.mark.invariant(7)
def test_a_forged_number_of_skipped_tests_is_refused() -> None:
    """A candidate's code may print a huge number; we would count up to it."""
    with pytest.raises(ReportError, match="no group has"):
        read("PASS a.test.js\n  ○ skipped 999999999999 tests\n\nTests: 1 passed, 1 total\n".encode())


@pytest.mark.parametrize("end", ["\u2028", "\x85", "\x0b", "\x1c"])
def test_a_title_with_an_unusual_line_break_is_one_title(end: str) -> None:
    log = f"PASS a.test.js\n  Menu\n    ✓ opens{end}\n    ✓ closes {end} again (12 ms)\n\nTests: 2 passed, 2 total\n"
    names = [f"a.test.js > Menu > opens{end}", f"a.test.js > Menu > closes {end} again"]
    assert read(log.encode()).tests == dict.fromkeys(names, PASSED)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_log_with_terminal_codes_gives_the_same_results(version: str) -> None:
    """A terminal ends lines with CR LF."""
    log = (OUTPUTS / f"{version}.log").read_bytes()
    assert read(log.replace(b"\n", b"\r\n")) == read(log)
