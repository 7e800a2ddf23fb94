"""Amounts of USD: what is accepted, and how each place that takes one reports anything else."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import ValidationError

from pipeline.core.amounts import amount
from pipeline.core.records import CostRow

NO_AMOUNTS = ("", "much", "-1", "nan", "sNaN", "inf", "1E+31", "1E-31", "1E+999999", "0E+999999", None, True, 10**5000)


@pytest.mark.parametrize("value", ["0", "0.10", "1E+30", "1E-30", 0, 3, 0.1, Decimal("2.50")])
def test_an_amount_is_exact(value: object) -> None:
    """A float is taken as the decimal that people wrote, not as its binary value."""
    assert str(amount(value)) == str(value)


@pytest.mark.trap("amount-overflows")
@pytest.mark.parametrize("value", NO_AMOUNTS, ids=lambda value: str(value)[:10] if not isinstance(value, int) else "")
def test_an_invalid_amount_is_refused(value: object) -> None:
    """A sum of huge amounts would end in a traceback, and every budget would cover a negative one."""
    with pytest.raises(ValueError, match=r"is not an amount|integer string conversion"):
        amount(value)


@pytest.mark.trap("amount-overflows")
@pytest.mark.parametrize("value", ["-1", "1E+999999"])
def test_a_record_with_another_amount_is_refused(value: str) -> None:
    with pytest.raises(ValidationError, match="is not an amount"):
        CostRow(repo="acme/ui", model="m", agent="a", cost_llm_usd=value)
