"""Karma runs one bundle: where it breaks, that is one file that could not run, as with any other runner."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.core.records import Status
from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import Report


def with_error(error: bool) -> Report:
    """A real report whose browser met an error outside every test, or none."""
    data = json.loads((Path(__file__).parent / "outputs" / "6.report").read_text(encoding="utf-8"))
    data["stats"]["error"] = error
    return parser("karma-json").read(json.dumps(data).encode(), "/repo")


@pytest.mark.parametrize(("error", "status"), [(True, Status.FAILED), (False, Status.PASSED)])
def test_a_bundle_that_breaks_is_a_file_that_could_not_run(error: bool, status: Status) -> None:
    """A fix that makes it load is told from one that does not; its tests are as they were reported."""
    assert with_error(error).suites == {"karma.conf.js": status}
    assert with_error(error).tests == with_error(False).tests
