"""Retrying after faults of the machine: a bounded number of times, with growing waits.

Writes nothing. Does not cover providers and GitHub, whose own modules know their limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pipeline.core.errors import InfrastructureError

if TYPE_CHECKING:
    import tenacity

R = TypeVar("R")

#: causes that may disappear by themselves: an engine that restarts, a registry that recovers, space that is freed, a
#: cache that another process stops writing, a network that returns
PASSING = ("engine", "registry", "disk", "cache", "workspace_gone", "network")


@dataclass(frozen=True)
class Patience:
    """How often something is tried, and the seconds before the second try. The wait then doubles each time."""

    tries: int = 4
    seconds: float = 10


PATIENT = Patience()


def patiently(work: Callable[[], R], say: Callable[[str], None], patience: Patience = PATIENT) -> R:
    """The result of `work`, repeated while it fails for a cause that may pass; `say` gets a message before each wait.

    Raises what the last try raised.
    """
    import tenacity

    def tell(state: tenacity.RetryCallState) -> None:
        error = state.outcome and state.outcome.exception()
        assert isinstance(error, InfrastructureError)
        say(f"trying again in {state.upcoming_sleep:.0f} s: {error.cause}: {error}")

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_passes),
        stop=tenacity.stop_after_attempt(patience.tries),
        wait=tenacity.wait_exponential(multiplier=patience.seconds),
        before_sleep=tell,
        reraise=True,
    )
    return retrying(work)


def _passes(error: BaseException) -> bool:
    return isinstance(error, InfrastructureError) and error.cause in PASSING
