"""Multi-SWE-bench's judgement of an export: loads every line as its `Dataset`, and judges the runs by its `Report`.

Reads JSON Lines on stdin, writes JSON Lines on stdout: `id`, `valid`, `error` and the names of the tests of each class.
Its parsers of test logs are not used: they parse text, and for several repositories they do so wrongly.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from multi_swe_bench.harness.dataset import Dataset
from multi_swe_bench.harness.report import Report

CLASSES = ("fixed_tests", "p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests")


def judge(line: str) -> dict[str, Any]:
    """Multi-SWE-bench's verdict on the three runs of one record. Raises what its classes raise for an invalid
    record."""
    record = Dataset.from_json(line)
    report = Report(
        org=record.org,
        repo=record.repo,
        number=record.number,
        run_result=record.run_result,
        test_patch_result=record.test_patch_result,
        fix_patch_result=record.fix_patch_result,
    )
    tests = {name: sorted(getattr(report, name)) for name in CLASSES}
    return {"id": report.id, "valid": report.valid, "error": report.error_msg, **tests}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(judge(line)))
