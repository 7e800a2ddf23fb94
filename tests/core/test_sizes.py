"""Sizes as people write them."""

from __future__ import annotations

import pytest

from pipeline.core.errors import UserError
from pipeline.core.sizes import parse_size, show_size

WRITTEN = [
    ("60GB", 60 * 10**9),
    ("60 gb", 60 * 10**9),
    ("512MiB", 512 * 2**20),
    ("1.5T", 15 * 10**11),
    ("10", 10),
    ("2kB", 2000),
]


@pytest.mark.parametrize(("text", "size"), WRITTEN)
def test_a_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("text", ["", "much", "-1GB", "60 PB", "GB", "9" * 400, "1e3", "1,5GB", "\u0663GB", "nan"])
def test_an_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="60GB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (12_340_000_000, "12.3 GB"), (5 * 10**15, "5000.0 TB")]
)
def test_a_size_is_shown(size: int, text: str) -> None:
    assert show_size(size) == text
