"""Amounts of USD: exact decimals within bounds in which sums and products stay exact. Standard library only."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

#: the powers of ten of an amount's first and last digit, at most
LARGEST, SMALLEST = 30, -30


def amount(value: object) -> Decimal:
    """A value as an amount; a float as its shortest decimal form, never its binary value. Raises ValueError for one
    that is negative, not finite, or has digits above 10^30 or below 10^-30."""
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite() or found < 0 or not _is_within_bounds(found):
        raise ValueError(f"'{value}' is not an amount")
    return found


def _is_within_bounds(number: Decimal) -> bool:
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= SMALLEST and number.adjusted() <= LARGEST
