"""Ranges of versions, as npm reads them. Invalid versions and ranges satisfy nothing."""

from __future__ import annotations

import re
from datetime import date, timedelta

import nodesemver

_EXACT = re.compile(r"v?(\d+(?:\.\d+){0,2})(?:\.[xX*]){0,2}")


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version (`14.2.0`) is in a range (`>=10 <13`, `12 || 14`, `^16.4`)."""
    try:
        return bool(nodesemver.satisfies(version, wanted.strip(), loose=True))
    except ValueError:
        return False


def exact(text: str) -> str:
    """The numbers of `v18`, `18.x` or `18.2.0`; empty for anything else."""
    match = _EXACT.fullmatch(text.strip())
    return match[1] if match else ""


def published_by(day: str, days: int = 0) -> str:
    """The date (ISO) at whose beginning, in UTC, everything was published that a commit of a `day` (ISO, in any time
    zone) could install; `days` later, if given. Empty for an empty day."""
    return (date.fromisoformat(day) + timedelta(days=2 + days)).isoformat() if day else ""


def lower_bounds(wanted: str) -> list[str]:
    """The versions that a range names, in its order: its lower bounds are among them."""
    return re.findall(r"\d+(?:\.\d+){0,2}", wanted)


def full(version: str) -> str:
    """A version with all three numbers, for comparison with ranges."""
    numbers = re.findall(r"\d+", version)[:3]
    return ".".join([*numbers, "0", "0", "0"][:3])


def major(version: str) -> int:
    return int(full(version).partition(".")[0])


def order(version: str) -> list[int]:
    """A key by which versions are sorted, without their builds (`+…`)."""
    return [int(number) for number in re.findall(r"\d+", version.partition("+")[0])]
