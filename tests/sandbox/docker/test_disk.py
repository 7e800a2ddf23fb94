"""What an engine stores, while others remove some of it."""

from __future__ import annotations

from typing import Any

import pytest
from docker.errors import NotFound

from pipeline.core.errors import InfrastructureError
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


class Current(Busy):
    """An engine that lists what it stores only in answers that are to be detailed, and in another form."""

    def df(self) -> dict[str, Any]:
        return {"ImageUsage": {"TotalCount": 2}, "ContainerUsage": {}, "VolumeUsage": {}}

    def _url(self, path: str) -> str:
        return path

    def _get(self, path: str, params: dict[str, str]) -> dict[str, Any]:
        listed = super().df()["Images"] if (path, params) == ("/system/df", {"verbose": "1"}) else []
        return {"ImageUsage": {"TotalCount": 2, "Items": listed}, "ContainerUsage": {}, "VolumeUsage": {"Items": None}}

    def _result(self, answer: dict[str, Any], json: bool) -> dict[str, Any]:
        return answer


def test_both_forms_of_the_engines_answer_are_read() -> None:
    """Newer engines dropped the fields of the older ones."""
    assert Disk(Current()).kept() == Disk(Busy()).kept() != []


class Silent(Busy):
    """An engine whose answer lists nothing that is known."""

    def df(self) -> dict[str, Any]:
        return {"Everything": []}

    _url, _result = Current._url, Current._result

    def _get(self, path: str, params: dict[str, str]) -> dict[str, Any]:
        return self.df()


def test_an_answer_of_an_unknown_form_is_a_fault_of_the_engine() -> None:
    """It is no empty disk."""
    with pytest.raises(InfrastructureError, match="lists no images"):
        Disk(Silent()).kept()
