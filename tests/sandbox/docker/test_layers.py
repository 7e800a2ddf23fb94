"""Layers from a registry: which of its failures only cost time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.docker.layers import Layers


class Refusing:
    """An engine without images, whose registry answers with this message."""

    architecture = "amd64"

    def __init__(self, message: str) -> None:
        self.message, self.api = message, SimpleNamespace(inspect_distribution=self._inspect)

    def image(self, name: str) -> None:
        return None

    def _inspect(self, name: str) -> Any:
        raise APIError(self.message)


@pytest.mark.parametrize("message", ["429 Client Error: toomanyrequests", "503 Server Error: Service Unavailable"])
def test_a_layer_that_a_busy_registry_does_not_give_is_made(tmp_path: Path, message: str) -> None:
    """The instances were not evaluated, although a registry only saves time."""
    said: list[str] = []
    Layers(Refusing(message), tmp_path)._pull("registry.example", "0" * 32, said.append)
    assert len(said) == 1 and message in said[0] and "making it here" in said[0]


def test_a_full_disk_is_no_fault_of_the_registry(tmp_path: Path) -> None:
    engine = Refusing("500 Server Error: write: no space left on device")
    with pytest.raises(InfrastructureError) as error:
        Layers(engine, tmp_path)._pull("registry.example", "0" * 32, pytest.fail)
    assert error.value.cause == "disk"
