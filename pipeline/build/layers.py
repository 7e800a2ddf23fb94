"""Which layers may go: pure functions over what a sandbox keeps. Used by the budget of a build and by `gc`."""

from __future__ import annotations

from collections.abc import Callable, Collection

from pipeline.sandbox.images import Kept

#: how useful a kind is: what is quick to make again goes first. Other kinds (containers) are never removed
USEFUL = {"leftover": 0, "instance": 1, "cache": 2, "environment": 3, "tools": 4}


def standing(kept: Collection[Kept], wanted: Callable[[Kept], bool]) -> dict[str, Kept]:
    """The wanted layers and all layers below them: name -> the wanted layer on top."""
    below, names = {layer.name: layer.on for layer in kept}, dict[str, Kept]()
    for layer in kept:
        if wanted(layer) or layer.kind not in USEFUL:
            name = layer.name
            while name:
                names.setdefault(name, layer)
                name = below.get(name, "")
    return names


def least_useful(kept: Collection[Kept], staying: Collection[str]) -> list[Kept]:
    """What does not stay, in the order in which it can go: a layer after those on top of it, the oldest first."""
    below = {layer.name: layer.on for layer in kept}

    def height(name: str) -> int:
        return 1 + height(below.get(name, "")) if name else 0

    going = [layer for layer in kept if layer.name not in staying]
    return sorted(going, key=lambda layer: (USEFUL[layer.kind], -height(layer.name), layer.created))
