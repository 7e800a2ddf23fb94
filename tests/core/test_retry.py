"""What is tried again, how often, and what is not."""

from __future__ import annotations

import time

import pytest

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.retry import PASSING, Patience, patiently

QUICK = Patience(tries=3, seconds=0.001)


class Work:
    """Raises these errors, one per call, and then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.tries = list(errors), 0

    def __call__(self) -> str:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def broken(cause: str) -> InfrastructureError:
    return InfrastructureError("it broke", cause=cause)


@pytest.mark.rule("not-evaluated-is-retried")
@pytest.mark.parametrize("cause", PASSING)
def test_a_temporary_fault_is_retried_and_reported(cause: str) -> None:
    messages: list[str] = []
    assert patiently(Work(broken(cause), broken(cause)), messages.append, QUICK) == "done"
    assert messages == [f"trying again in 0 s: {cause}: it broke"] * 2


def test_retries_are_limited_and_the_last_error_is_raised() -> None:
    work = Work(*[broken("engine")] * 9)
    with pytest.raises(InfrastructureError, match="it broke"):
        patiently(work, print, QUICK)
    assert work.tries == 3


@pytest.mark.parametrize("error", [broken("memory"), broken("provider"), UserError("no"), ValueError("no")])
def test_a_permanent_fault_is_not_retried(error: Exception) -> None:
    """An install that runs out of memory would do so again."""
    work = Work(error)
    with pytest.raises(type(error)):
        patiently(work, print, QUICK)
    assert work.tries == 1


def test_waits_grow() -> None:
    started = time.monotonic()
    patiently(Work(*[broken("registry")] * 3), print, Patience(tries=4, seconds=0.05))
    assert 0.05 + 0.1 + 0.2 <= time.monotonic() - started < 5
