"""Versions and ranges as npm reads them; a text that is no version satisfies no range."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ecosystems.versions import exact, full, lower_bounds, major, published_by, satisfies


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("14.2.0", ">=10"),
        ("12.22.12", ">=10 <13"),
        ("14.0.0", "12 || 14"),
        ("16.20.2", "^16.4"),
        ("16.4.9", "~16.4"),
        ("18.0.0", "*"),
        ("18.0.0", ""),
        ("18.2.1", "18.x"),
        ("1.2.3", "v1.2.3"),
        ("1.2.3", "=1.2.3"),
        ("2.0.0", "1 - 2"),
        ("20.9.0", ">= 18 "),
    ],
)
def test_a_version_is_in_a_range(version: str, wanted: str) -> None:
    assert satisfies(version, wanted)


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("9.11.2", ">=10"),
        ("13.0.0", ">=10 <13"),
        ("13.14.0", "12 || 14"),
        ("17.0.0", "^16.4"),
        ("16.5.0", "~16.4"),
        ("3.0.0", "1 - 2"),
        ("18.0.0", "lts/*"),
        ("18.0.0", "latest"),
        ("", ">=1"),
        ("not a version", "*"),
        ("1.2.3", "workspace:^"),
        ("1.2.3", "git+ssh://git@example.org/x.git"),
        ("1.0.0", ">>1"),
    ],
)
def test_a_version_is_not_in_a_range(version: str, wanted: str) -> None:
    assert not satisfies(version, wanted)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("v18", "18"),
        ("18", "18"),
        ("18.x", "18"),
        ("18.X.x", "18"),
        ("18.*", "18"),
        (" 18.2.0\n", "18.2.0"),
        ("18.2", "18.2"),
        ("18.2.0.1", ""),
        (">=18", ""),
        ("lts/hydrogen", ""),
        ("node", ""),
        ("", ""),
        ("18-rc", ""),
    ],
)
def test_the_numbers_of_an_exact_version_are_read(text: str, numbers: str) -> None:
    assert exact(text) == numbers


@pytest.mark.parametrize(
    ("wanted", "versions"),
    [
        (">=10 <13", ["10", "13"]),
        ("^16.4 || 18.2.1", ["16.4", "18.2.1"]),
        ("*", []),
        ("", []),
        ("1.2.3.4", ["1.2.3", "4"]),
    ],
)
def test_the_versions_named_by_a_range_are_read(wanted: str, versions: list[str]) -> None:
    assert lower_bounds(wanted) == versions


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("14", "14.0.0"),
        ("14.2", "14.2.0"),
        ("14.2.1", "14.2.1"),
        ("v3.0.0-rc.1", "3.0.0"),
        ("", "0.0.0"),
        ("1.2.3.4", "1.2.3"),
    ],
)
def test_a_version_is_completed_to_three_numbers(version: str, numbers: str) -> None:
    assert full(version) == numbers and major(version) == int(numbers.partition(".")[0])


def test_what_is_published_on_the_day_of_a_commit_can_be_installed() -> None:
    """npm reads a day as its beginning in UTC, up to 36 hours before a commit of that day."""
    assert (published_by("2024-02-28"), published_by("2024-02-28", days=7)) == ("2024-03-01", "2024-03-08")
    assert published_by("") == ""


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_can_be_compared(version: str, wanted: str) -> None:
    """Repositories' files contain them: no text may raise an error."""
    assert satisfies(version, wanted) in (True, False)
    assert isinstance(exact(version), str) and isinstance(lower_bounds(wanted), list)
