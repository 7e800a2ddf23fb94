"""What a machine lacks: a test that needs it is skipped loudly, and fails in CI, where nothing may be lacking."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def lack(what: str) -> NoReturn:
    """Skip the test that runs, or fail it in CI; `what` says what it needs."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)
