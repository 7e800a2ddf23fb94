"""Whether the machine failed, or a patch made it look so.

A patch can fill the disk with deleted but open files, use up memory or processes in the background, or end what we
start in its container. Then our own commands fail there. So a failure under a patch, after the usual tries, is the
machine's only if the machine also fails without the patch. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pipeline.core.errors import InfrastructureError
from pipeline.execution.runs import Plan

R = TypeVar("R")

#: causes that what runs in a container can bring about
DOUBTFUL = ("engine", "disk", "workspace", "workspace_gone")


def settled(error: InfrastructureError, run: Callable[[], R], serves: Callable[[], bool]) -> R | None:
    """What `run` gives where it is tried once more; None where it fails again, and the machine `serves` others right
    before and right after. Raises InfrastructureError for what the machine failed at."""
    if error.cause not in DOUBTFUL or not serves():
        raise error
    try:
        return run()
    except InfrastructureError as again:
        if again.cause not in DOUBTFUL or not serves():
            raise
    return None


def serves(plan: Plan) -> bool:
    """Whether a command without any patch runs where the patch did: one that fails, since after such a one the sandbox
    looks at its disk and its counters."""
    try:
        with plan.sandbox.open(plan.image, cache="none", limits=plan.limits) as workspace:
            done = workspace.run(["false"])
            return done.code == 1 and done.limit is None
    except InfrastructureError:
        return False
