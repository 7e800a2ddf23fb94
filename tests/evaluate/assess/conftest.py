"""The snapshots of our own components (`library/`), and a browser to render them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import browser
from pipeline.browser import Browser
from pipeline.ecosystems.runners.jest import snapshots as snapfile

LIBRARY = Path(__file__).parent / "library" / "__snapshots__" / "components.test.js.snap"


@pytest.fixture(scope="session")
def snapshots() -> dict[str, str]:
    return snapfile.read(LIBRARY.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def viewer() -> Iterator[Browser]:
    with browser.opened() as viewer:
        yield viewer
