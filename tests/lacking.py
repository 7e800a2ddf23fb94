"""What a machine lacks: a test that needs it is skipped with a message, or fails in CI, where nothing may be
missing."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def lack(what: str) -> NoReturn:
    """Skip the running test, or fail it in CI; `what` says what it needs."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)
