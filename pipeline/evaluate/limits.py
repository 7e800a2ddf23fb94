"""The limits of a patch's evaluation; its memory depends on gold's.

If a patch uses more than twice the memory of gold, the patch is at fault, never the machine. An instance that was
qualified with more memory than usual is evaluated with as much. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from pipeline.core.records import Identity, Instance
from pipeline.sandbox.base import Limits

#: the multiple of gold's memory that a patch may use
FACTOR = 2


def of_instance(instance: Instance, limits: Limits) -> Limits:
    """The limits for patches of an instance."""
    ran = instance.ran
    general = int(ran.limits.get("memory", limits.memory)) if ran else limits.memory
    return replace(limits, memory=_memory(instance, general))


def due(instance: Instance) -> Identity | None:
    """The identity that should run: that of the qualification, with the memory limit of patches."""
    ran = instance.ran
    if ran is None or "memory" not in ran.limits:
        return ran
    return ran.within(ran.limits | {"memory": _memory(instance, int(ran.limits["memory"]))})


def _memory(instance: Instance, limit: int) -> int:
    return min(limit, FACTOR * instance.memory) if instance.memory else limit
