"""A test runner for tests: it reports in Jest's form, and can break its word in each way that a runner can.

A test file has one test per line, `title | path | text`: it passes when the file at `path` holds the text.
Usage: tiny_runner.py MODE REPORT FILE...
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def main(mode: str, report: str, *files: str) -> int:
    suites = [suite(Path(file).absolute()) for file in files]
    success = all(one["status"] == "passed" for one in suites)
    if mode == "hang":
        time.sleep(60)
    if mode == "flood":
        print("x" * 100_000)
    if mode != "no-report":
        Path(report).write_text("no JSON" if mode == "garbage" else json.dumps(summary(suites, success, mode)))
    if mode != "silent":
        print(f"Test results written to: {report}", file=sys.stderr)
    return int(success) if mode == "wrong-exit" else int(not success)


def suite(path: Path) -> dict[str, Any]:
    tests = [case(*(part.strip() for part in line.split("|"))) for line in path.read_text().splitlines()]
    broken = not tests or any(test["status"] == "failed" for test in tests)
    return {"name": str(path), "status": "failed" if broken else "passed", "assertionResults": tests}


def case(title: str, path: str, text: str) -> dict[str, Any]:
    passed = Path(path).exists() and text in Path(path).read_text()
    return {"title": title, "ancestorTitles": [], "status": "passed" if passed else "failed"}


def summary(suites: list[dict[str, Any]], success: bool, mode: str) -> dict[str, Any]:
    counts = {status: sum(t["status"] == status for s in suites for t in s["assertionResults"]) for status in ("passed", "failed")}
    if mode == "wrong-totals":
        counts["passed"] += 1
    totals = {"numPassedTests": counts["passed"], "numFailedTests": counts["failed"], "numPendingTests": 0}
    return {"success": success, **totals, "testResults": suites}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
