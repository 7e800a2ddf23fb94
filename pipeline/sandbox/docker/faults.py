"""Failures of an engine as InfrastructureError, with the cause `disk` if no space is left, else `engine`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import requests
import urllib3
from docker.errors import DockerException

from pipeline.core.errors import InfrastructureError

FAULTS = (DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError)
FULL = "no space left on device"


@contextmanager
def faults() -> Iterator[None]:
    """Raise the engine's failures in this block as InfrastructureError."""
    try:
        yield
    except FAULTS as error:
        cause = "disk" if FULL in str(error).lower() else "engine"
        raise InfrastructureError(f"the Docker engine failed: {_message(error)}", cause=cause) from error


def _message(error: BaseException) -> str:
    """The operating system's message if libraries wrapped one, else the engine's."""
    text = str(error)
    messages = [inner.strerror for inner in _wrapped(error) if isinstance(inner, OSError) and inner.strerror]
    return messages[-1] if messages and messages[-1] in text else text


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes, from the outside in."""
    yield error
    for inner in (*error.args, error.__cause__ or error.__context__):
        if isinstance(inner, BaseException):
            yield from _wrapped(inner)
