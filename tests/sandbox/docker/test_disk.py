"""What an engine stores, while others remove some of it."""

from __future__ import annotations

from typing import Any

from docker.errors import NotFound

from pipeline.sandbox.docker.disk import Disk
from pipeline.sandbox.docker.names import DIGEST, LAYER

LAYERS = {"env": ["base", "modules"]}


class Busy:
    """An engine that lists an image which is gone when it is inspected."""

    def df(self) -> dict[str, Any]:
        names = {LAYER: "environment", DIGEST: "digest"}
        images = [
            {"Id": name, "Labels": names, "RepoTags": [f"a11y-bench/{name}"], "Size": 5, "Created": 1}
            for name in ("env", "gone")
        ]
        return {"Images": images, "Volumes": None, "Containers": None}

    def inspect_image(self, name: str) -> dict[str, Any]:
        if name not in LAYERS:
            raise NotFound(f"no such image: {name}")
        return {"RootFS": {"Layers": LAYERS[name]}, "Size": 5}


def test_an_image_that_is_removed_while_listing_is_left_out() -> None:
    """Another build's budget, or a test, removed an image: measuring the disk failed, and the unit with it."""
    assert [layer.name for layer in Disk(Busy()).kept()] == ["a11y-bench/env"]
