"""The way out of a container, as far as it can be tested without an engine."""

from __future__ import annotations

import pytest

from pipeline.sandbox.docker.reach import Route, route_to


@pytest.mark.parametrize(
    ("url", "way"),
    [
        ("http://127.0.0.1:4000/v1", Route(("127.0.0.1", 4000), "http://127.0.0.1:4000/v1", {})),
        ("http://10.0.0.5:4000/v1", Route(("10.0.0.5", 4000), "http://127.0.0.1:4000/v1", {})),
        ("http://[::1]:4000/v1", Route(("::1", 4000), "http://127.0.0.1:4000/v1", {})),
        ("http://localhost/v1", Route(("localhost", 80), "http://127.0.0.1:80/v1", {})),
        (
            "https://llm.acme.org/v1",
            Route(("llm.acme.org", 443), "https://llm.acme.org/v1", {"llm.acme.org": "127.0.0.1"}),
        ),
    ],
)
def test_a_name_stays_and_a_number_becomes_the_containers_own(url: str, way: Route) -> None:
    """A certificate is valid for a name, so the container must use the gateway's name."""
    assert route_to(url) == way
