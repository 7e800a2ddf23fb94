"""Sizes as people write them: `60GB`, `512 MiB`, `1.5T`."""

from __future__ import annotations

import re

from pipeline.core.errors import UserError

#: the powers of 1000 or, with an `i`, of 1024
UNITS = ("", "K", "M", "G", "T")


def parse_size(text: str) -> int:
    """A size in bytes. Raises UserError for an invalid one."""
    match = re.fullmatch(rf"\s*([0-9]{{1,15}}(?:\.[0-9]+)?)\s*([{''.join(UNITS)}]?)(i?)B?\s*", text, re.IGNORECASE)
    if not match:
        raise UserError(f"'{text}' is not a size", hint="write it like 60GB, 512MiB or 1.5T")
    number, unit, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** UNITS.index(unit.upper()))


def show_size(size: float) -> str:
    """A size in the largest unit that gives a number above 1, with one decimal place."""
    for unit in UNITS[:-1]:
        if abs(size) < 1000:
            return f"{size:.1f} {unit}B" if unit else f"{size:.0f} B"
        size /= 1000
    return f"{size:.1f} {UNITS[-1]}B"
