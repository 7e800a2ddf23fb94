"""What a patch may use: the limits of its evaluation, with memory by gold's use.

A patch that uses more than twice as much is itself at fault, never the machine. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from pipeline.core.records import Identity, Instance
from pipeline.sandbox.base import Limits

#: times gold's memory
FACTOR = 2


def of_instance(instance: Instance, limits: Limits) -> Limits:
    """The limits for patches of an instance."""
    return replace(limits, memory=_memory(instance, limits.memory))


def due(instance: Instance) -> Identity | None:
    """What should run: what ran at qualification, with the memory that patches have."""
    ran = instance.ran
    if ran is None or "memory" not in ran.limits:
        return ran
    return ran.within(ran.limits | {"memory": _memory(instance, int(ran.limits["memory"]))})


def _memory(instance: Instance, most: int) -> int:
    return min(most, FACTOR * instance.memory) if instance.memory else most
