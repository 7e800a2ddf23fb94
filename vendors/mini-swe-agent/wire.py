"""Sends requests to the gateway, and sends one again exactly if the gateway asks for it.

It does for a request that waited in vain for money that others under way might not need. Failures of the provider were
retried there.
"""

from typing import Any, Self

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry
from urllib3.exceptions import MaxRetryError, ResponseError

#: how often a request is sent again; the gateway may let each of them wait for five minutes
RETRIES = 5
#: the status and the header with which the gateway asks for it
TOO_MANY, AGAIN = 429, "x-should-retry"


class Patience(Retry):
    """Retries only what the gateway asks for."""

    def increment(self, method: Any = None, url: Any = None, response: Any = None, *args: Any, **more: Any) -> Self:
        """The remaining retries. Raises MaxRetryError, so that the response is returned."""
        if response is not None and response.headers.get(AGAIN) != "true":
            raise MaxRetryError(more["_pool"], url, ResponseError("the gateway does not ask for it"))
        return super().increment(method, url, response, *args, **more)


def session() -> requests.Session:
    """A session for requests to the gateway."""
    patience = Patience(
        RETRIES, connect=0, read=False, status_forcelist=(TOO_MANY,), allowed_methods=None, raise_on_status=False
    )
    http = requests.Session()
    for scheme in ("http://", "https://"):
        http.mount(scheme, HTTPAdapter(max_retries=patience))
    return http
