"""A batch whose sandbox is gone starts nothing more.

A unit waits until a failing engine answers again, but not forever (`core.retry`). If each unit of a batch did so, a
batch of hundreds would take hours to end with nothing.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pipeline.core.console import say
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.work import Request, Settled
from pipeline.sandbox.base import Sandbox

R = TypeVar("R", bound=Request[Any])

#: the cause of a failed unit after which a sandbox may be gone
CAUSE = "engine"


class Watch:
    """Whether a sandbox still answers. It is asked only after a unit failed because of it.

    Units without a sandbox need no watch: `sandbox` is None.
    """

    def __init__(self, sandbox: Sandbox | None) -> None:
        self._sandbox, self._gone = sandbox, ""

    def heed(self, fault: str) -> None:
        """Check the sandbox after a failure of this cause, or of this text that begins with its cause."""
        if self._gone or not self._sandbox or fault.partition(":")[0] != CAUSE:
            return
        try:
            self._sandbox.check()
        except UserError as error:
            self._gone = error.message
            say(f"nothing more is started: {error}\n  then run the same command again")

    def admit(self, request: R) -> R | Settled:
        """The request, or its failure if the sandbox is gone."""
        if self._gone:
            return Settled(request.failed(InfrastructureError(f"not started: {self._gone}", cause=CAUSE)))
        return request
