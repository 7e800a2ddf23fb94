"""Karma's browser may fail by itself, which says nothing of the tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import ReportError


def test_the_browser_that_failed_is_no_result() -> None:
    data = json.loads((Path(__file__).parent / "outputs" / "6.report").read_text(encoding="utf-8"))
    data["stats"]["error"] = True
    with pytest.raises(ReportError, match="the browser or the bundle failed"):
        parser("karma-json").read(json.dumps(data).encode(), "/repo")
