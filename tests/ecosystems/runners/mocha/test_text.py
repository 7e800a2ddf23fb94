"""The output of Mocha's `spec` reporter, if there is nothing else to read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.core.records import Status
from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import ReportError

PASSED, FAILED, SKIPPED = Status.PASSED, Status.FAILED, Status.SKIPPED
LOGS = sorted((Path(__file__).parent / "outputs").glob("*.log"))


@pytest.mark.rule("parser-audits-itself")
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_the_text_log_of_mocha_is_read(path: Path) -> None:
    """It names no files, and a printed line can look exactly like a test's line: the totals show it."""
    log = path.read_text(encoding="utf-8")
    with pytest.raises(ReportError, match="PASSED: 5 read, 4 reported"):
        parser("mocha-text").read(log.encode(), "/repo")
    honest = re.sub(r".*printed by the test\n", "", log)
    honest = honest.replace('hook for "opens"', "hook")
    found = parser("mocha-text").read(honest.encode(), "/repo")
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


@pytest.mark.parametrize("end", ["\u2028", "\x85", "\x0b", "\x1c"])
def test_a_title_with_an_unusual_line_break_is_one_title(end: str) -> None:
    log = f"\n  Menu\n    ✓ opens {end}  ✓ again\n    - later\n\n\n  1 passing (12ms)\n  1 pending\n"
    expected = {f"Menu > opens {end}  ✓ again": PASSED, "Menu > later": SKIPPED}
    for text in (log, log.replace("\n", "\r\n")):
        assert parser("mocha-text").read(text.encode(), "/repo").tests == expected
