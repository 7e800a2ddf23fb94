"""Which layers may go: pure functions over what a sandbox keeps. Used by the budget of a build and by `gc`."""

from __future__ import annotations

from collections.abc import Callable, Collection

from pipeline.sandbox.images import Kept

#: how useful a kind is: what is quick to make again goes first. Containers belong to whoever works in them
USEFUL = {"leftover": 0, "instance": 1, "cache": 2, "environment": 3, "tools": 4}


def standing(kept: Collection[Kept], wanted: Callable[[Kept], bool]) -> dict[str, Kept]:
    """What is wanted, and all that it stands on: name -> the one that is wanted."""
    below, names = {one.name: one.on for one in kept}, dict[str, Kept]()
    for one in kept:
        if wanted(one) or one.kind not in USEFUL:
            name = one.name
            while name:
                names.setdefault(name, one)
                name = below.get(name, "")
    return names


def least_useful(kept: Collection[Kept], staying: Collection[str]) -> list[Kept]:
    """What does not stay, in the order in which it can go: nothing before what stands on it, the oldest first."""
    below = {one.name: one.on for one in kept}

    def height(name: str) -> int:
        return 1 + height(below.get(name, "")) if name else 0

    going = [one for one in kept if one.name not in staying]
    return sorted(going, key=lambda one: (USEFUL[one.kind], -height(one.name), one.created))
