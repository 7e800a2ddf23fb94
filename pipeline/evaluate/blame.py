"""Whether the machine failed, or a patch made it look so.

A patch can fill the disk with deleted but open files, use up memory or processes in the background, or end processes
that we start in its container. Then our own commands fail there. So if a run with a patch still fails after the usual
tries, the machine is to blame only if it also fails without the patch. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pipeline.core.errors import InfrastructureError
from pipeline.execution.runs import Plan
from pipeline.sandbox import base

R = TypeVar("R")

#: causes that code in a container can bring about
DOUBTFUL = ("engine", "disk", "workspace", "workspace_gone")


def settled(error: InfrastructureError, run: Callable[[], R], serves: Callable[[], bool]) -> R | None:
    """The result of trying `run` once more; None if it fails again, while the machine works immediately before and
    after (`serves`). Raises InfrastructureError if the machine is to blame."""
    if error.cause not in DOUBTFUL or not serves():
        raise error
    try:
        return run()
    except InfrastructureError as again:
        if again.cause not in DOUBTFUL or not serves():
            raise
    return None


def serves(plan: Plan) -> bool:
    """Whether a command runs, without any patch, where the patch ran."""
    return base.serves(plan.sandbox, plan.image, plan.limits)
