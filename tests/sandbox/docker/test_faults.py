"""The message about an engine that does not answer."""

from __future__ import annotations

import pytest
import requests
from docker.errors import DockerException
from urllib3.exceptions import ProtocolError

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.docker.faults import faults

GONE = FileNotFoundError(2, "No such file or directory")


def wrapped() -> None:
    """An error as the SDK raises it: each layer wraps the one below."""
    try:
        raise requests.ConnectionError(ProtocolError("Connection aborted.", GONE))
    except requests.ConnectionError as error:
        raise DockerException(f"Error while fetching server API version: {error}") from error


def test_an_unreachable_engine_is_reported_with_the_systems_message() -> None:
    """It was once the text of a Python tuple."""
    with pytest.raises(InfrastructureError) as caught, faults():
        wrapped()
    assert str(caught.value) == "the Docker engine failed: No such file or directory"


def test_the_engines_own_message_is_passed_on() -> None:
    with pytest.raises(InfrastructureError, match="the Docker engine failed: no such image: a") as caught, faults():
        raise DockerException("no such image: a")
    assert caught.value.cause == "engine"


def test_a_full_disk_has_its_own_cause() -> None:
    with pytest.raises(InfrastructureError) as caught, faults():
        raise DockerException("write /x: no space left on device")
    assert caught.value.cause == "disk"
