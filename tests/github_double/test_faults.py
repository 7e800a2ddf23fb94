"""Faults on command: what a client sees, when, and that the next request is answered properly."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from http.client import IncompleteRead
from json import JSONDecodeError

import pytest

from github_double import GitHubDouble, World, faults
from github_double.client import get, post

QUERY = '{ repository(owner: "acme", name: "ui") { pullRequests(first: 5) { nodes { number } } } }'


@pytest.mark.parametrize(
    ("fault", "status", "headers"),
    [
        (faults.secondary_limit(), 403, {"Retry-After": "1"}),
        (faults.secondary_limit(429, 7), 429, {"Retry-After": "7"}),
        (faults.secondary_limit(retry_after=None), 403, {}),
        (faults.bad_gateway(), 502, {"Content-Type": "text/html"}),
        (faults.unavailable(), 503, {"Content-Type": "text/html"}),
    ],
)
def test_an_answer_of_another_status(
    github: GitHubDouble, fault: faults.Fault, status: int, headers: dict[str, str]
) -> None:
    github.fault(fault)
    reply = post(github, QUERY)
    assert (reply.status, headers.items() <= reply.headers.items()) == (status, True)
    assert ("Retry-After" in reply.headers) is ("Retry-After" in headers)
    assert (github.requests[0].fault, github.requests[0].cost) == (fault.name, 0)
    assert post(github, QUERY).status == 200


def test_the_primary_limit_ends_at_its_reset(github: GitHubDouble) -> None:
    github.fault(faults.primary_limit(reset_in=0.2))
    reply = post(github, QUERY)
    assert (reply.status, reply.kinds, reply.headers["x-ratelimit-remaining"]) == (200, ["RATE_LIMITED"], "0")
    assert post(github, QUERY).kinds == ["RATE_LIMITED"]
    assert post(github, QUERY, token="another").kinds == []
    time.sleep(int(reply.headers["x-ratelimit-reset"]) - time.time())
    assert post(github, QUERY).kinds == []


def test_a_small_budget_runs_out(world: World) -> None:
    with GitHubDouble(world, limit=2) as github:
        kinds = [post(github, QUERY).kinds for _ in range(3)]
        assert kinds == [[], [], ["RATE_LIMITED"]]
        assert get(github, "/rate_limit").data["resources"]["graphql"]["remaining"] == 0


def test_partial_data_with_its_error(github: GitHubDouble) -> None:
    github.fault(faults.partial("repository", "pullRequests", "nodes", 3))
    reply = post(github, QUERY)
    nodes = reply.data["data"]["repository"]["pullRequests"]["nodes"]
    assert [node is None for node in nodes] == [False, False, False, True, False]
    assert reply.data["errors"][0]["path"] == ["repository", "pullRequests", "nodes", 3]


def test_an_error_without_data(github: GitHubDouble) -> None:
    github.fault(faults.broken())
    reply = post(github, QUERY)
    assert (reply.status, reply.data["data"], len(reply.data["errors"])) == (200, None, 1)


def test_a_connection_that_ends_in_mid_body(github: GitHubDouble) -> None:
    github.fault(faults.cut(0.5))
    with pytest.raises(IncompleteRead) as caught:
        post(github, QUERY)
    assert len(caught.value.partial) > 0
    assert post(github, QUERY).status == 200


def test_json_that_ends_too_soon(github: GitHubDouble) -> None:
    github.fault(faults.garbled())
    with pytest.raises(JSONDecodeError):
        _ = post(github, QUERY).data


def test_a_slow_answer(github: GitHubDouble) -> None:
    github.fault(faults.slow(0.3))
    assert post(github, QUERY).status == 200
    assert github.requests[0].seconds > 0.3


def test_faults_come_when_they_are_planned(github: GitHubDouble) -> None:
    github.fault(faults.bad_gateway(), after=1, times=2)
    github.fault(faults.unavailable(), on="rest")
    assert [post(github, QUERY).status for _ in range(4)] == [200, 502, 502, 200]
    assert [get(github, "/repos/acme/ui").status for _ in range(2)] == [503, 200]


def test_a_revoked_token(github: GitHubDouble) -> None:
    github.revoke("secret")
    reply = post(github, QUERY)
    assert (reply.status, reply.data["message"]) == (401, "Bad credentials")
    assert post(github, QUERY, token="another").status == 200


def test_expired_cursors(github: GitHubDouble) -> None:
    page = '{{ repository(owner: "acme", name: "ui") {{ pullRequests(first: 5{}) {{ pageInfo {{ endCursor }} }} }} }}'
    cursor = post(github, page.format("")).data["data"]["repository"]["pullRequests"]["pageInfo"]["endCursor"]
    after = page.format(f', after: "{cursor}"')
    assert post(github, after).kinds == []
    github.expire_cursors()
    assert post(github, after).kinds == ["INVALID_CURSOR_ARGUMENTS"]


def test_requests_at_the_same_time_are_counted(world: World) -> None:
    with GitHubDouble(world, latency=0.2) as github, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: post(github, QUERY), range(4)))
        assert github.peak == 4
