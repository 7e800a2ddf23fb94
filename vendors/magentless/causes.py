"""The closed lists of how an instance can end, and of external failures.

An attempt that ends without a patch raises `Ended`; the attempt that came furthest determines the instance's outcome.
An external failure is a `ProviderFailure` and says nothing about the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

FUNNEL = ("located", "shown", "edited", "matched", "applied", "parses", "selected")


class Cause(StrEnum):
    """How an instance, or one attempt at it, ended; `CAUSES` has the meanings."""

    NO_LOCALISATION = "NO_LOCALISATION"
    NO_MODEL_RESPONSE = "NO_MODEL_RESPONSE"
    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    CUT_ANSWER = "CUT_ANSWER"
    NO_EDITS = "NO_EDITS"
    HALLUCINATED_FILE = "HALLUCINATED_FILE"
    SEARCH_MISMATCH = "SEARCH_MISMATCH"
    WHITESPACE_ONLY = "WHITESPACE_ONLY"
    INVALID_PATCH = "INVALID_PATCH"
    SUCCESSFUL_PATCH = "SUCCESSFUL_PATCH"


class Fault(StrEnum):
    """A failure outside the agent: never the model's fault, and worth a retry once budget and configuration allow
    it."""

    BUDGET_EXCEEDED = "budget_exceeded"
    CONFIGURATION = "configuration"
    RATE_LIMITED = "rate_limited"
    UNREACHABLE = "unreachable"
    PROVIDER_ERROR = "provider_error"


# cause, meaning; from least to most progress
CAUSES = (
    (Cause.NO_LOCALISATION, "neither the model nor retrieval named a file"),
    (Cause.NO_MODEL_RESPONSE, "the reply was empty or refused"),
    (Cause.CONTEXT_OVERFLOW, "not even the shortest prompt fits the model's context"),
    (Cause.CUT_ANSWER, "the reply was cut at its limit of tokens"),
    (Cause.NO_EDITS, "the reply has no edit that changes anything, or a part that is not complete or not understood"),
    (Cause.HALLUCINATED_FILE, "a path that is not in the repository, or leads out of it"),
    (Cause.SEARCH_MISMATCH, "searched lines that do not occur in the file, or more than once"),
    (Cause.WHITESPACE_ONLY, "the patch changes nothing but white space"),
    (Cause.INVALID_PATCH, "a patched file has syntax errors that it did not have before"),
    (Cause.SUCCESSFUL_PATCH, "a patch was selected"),
)

# a repair with one of these ends may be requested once more, with the reason
MENDABLE = (
    Cause.CUT_ANSWER,
    Cause.NO_EDITS,
    Cause.HALLUCINATED_FILE,
    Cause.SEARCH_MISMATCH,
    Cause.WHITESPACE_ONLY,
    Cause.INVALID_PATCH,
)

# the header with the gateway's cause of a missing answer, and its values' meaning here
CAUSE_HEADER = "x-a11y-bench-cause"
# the header that tells the gateway which of several requests alike one is
SAMPLE_HEADER = "x-a11y-bench-sample"
CAUSES_TOLD: dict[str, Cause | Fault] = {
    "context": Cause.CONTEXT_OVERFLOW,
    "refused": Cause.NO_MODEL_RESPONSE,
    "configuration": Fault.CONFIGURATION,
}


class BadInput(Exception):
    """An unusable argument, file or environment variable; the message names it and the field."""


class Ended(Exception):
    """An attempt ended without a patch. It is data, and caught where attempts are recorded."""

    def __init__(self, cause: Cause, detail: str) -> None:
        self.cause, self.detail = cause, detail
        super().__init__(f"{cause}: {detail}")


class ProviderFailure(Exception):
    """The provider failed after all retries: the instance has no result, and the model is not to blame."""

    def __init__(self, fault: Fault, message: str) -> None:
        self.fault = fault
        super().__init__(message)


def furthest(causes: Iterable[Cause]) -> Cause:
    """The cause that made the most progress through the funnel."""
    order = [cause for cause, _ in CAUSES]
    return max(causes, key=order.index)
