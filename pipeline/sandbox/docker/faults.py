"""What an engine gets wrong is an InfrastructureError: its cause is `disk` where no space is left, else `engine`."""

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
    """Raise what the engine gets wrong as InfrastructureError."""
    try:
        yield
    except FAULTS as error:
        cause = "disk" if FULL in str(error).lower() else "engine"
        raise InfrastructureError(f"the Docker engine failed: {error}", cause=cause) from error
