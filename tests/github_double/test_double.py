"""Queries: what is refused, what each costs, and that answers equal those of graphql-core's own execution."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import Request

import pytest
from graphql import FragmentDefinitionNode, OperationDefinitionNode, execute_sync, get_variable_values, parse

from github_double import GitHubDouble, World
from github_double.client import HEADERS, Reply, get, post, send
from github_double.limits import Size, measure
from github_double.model import root
from github_double.plan import Query, resolve
from github_double.queries import execute
from github_double.schema import PACKAGE, github_schema
from pipeline.core.errors import InfrastructureError

REPOSITORY = 'repository(owner: "acme", name: "ui")'


def ask(github: GitHubDouble, selection: str, **variables: object) -> Reply:
    return post(github, f"{{ {REPOSITORY} {{ {selection} }} }}", **variables)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ("stars", "Cannot query field 'stars' on type 'Repository'"),
        ('pullRequest(number: "7") { title }', 'Int cannot represent non-integer value: "7"'),
        ("pullRequests(first: 1, states: [DONE]) { totalCount }", "Value 'DONE' does not exist in 'PullRequestState'"),
        ("pullRequest { title }", "of type 'Int!' is required"),
        ("pullRequests(first: 1)", "must have a selection of subfields"),
        ("pullRequests { totalCount }", "You must provide a `first` or `last` value"),
        ("pullRequests(first: 101) { totalCount }", "exceeds the `first` limit of 100 records"),
        ("pullRequests(last: 101) { totalCount }", "exceeds the `last` limit of 100 records"),
        ("pullRequests(first: 1, last: 1) { totalCount }", "Passing both `first` and `last`"),
        ("pullRequests(first: 9) { nodes { labels { totalCount } } }", "paginate the `labels` connection"),
        ('pullRequests(first: 9, after: "x") { totalCount }', "`x` does not appear to be a valid cursor"),
        ("pullRequest(number: 9) { title", "Syntax Error"),
    ],
)
def test_invalid_queries_are_refused(github: GitHubDouble, selection: str, message: str) -> None:
    reply = ask(github, selection)
    assert reply.status == 200
    assert any(message in error["message"] for error in reply.data["errors"])
    assert not (reply.data.get("data") or {}).get("repository")


def test_a_variable_of_the_wrong_type_is_refused(github: GitHubDouble) -> None:
    query = f"query ($n: Int!) {{ {REPOSITORY} {{ pullRequest(number: $n) {{ title }} }} }}"
    [error] = post(github, query, n="seven").data["errors"]
    assert "$n" in error["message"]
    assert "Int cannot represent non-integer value" in error["message"]


def test_more_than_half_a_million_nodes_are_refused(github: GitHubDouble) -> None:
    """100 + 100 × 100 + 100 × 100 × 49 is below it, with 50 it is above."""
    issues = "closingIssuesReferences(first: %d) { nodes { labels(first: 100) { totalCount } } }"
    nested = f"pullRequests(first: 100) {{ nodes {{ {issues} }} }}"
    assert ask(github, nested % 49).kinds == []
    assert ask(github, nested % 50).kinds == ["MAX_NODE_LIMIT_EXCEEDED"]


@pytest.mark.parametrize(
    ("selection", "points", "nodes"),
    [
        ("name", 1, 0),
        ("pullRequests(first: 100) { nodes { title } }", 1, 100),
        # 1 for the page, 100 for its labels: 101 requests
        ("pullRequests(first: 100) { nodes { labels(first: 20) { nodes { name } } } }", 1, 100 + 2000),
        # 1 + 100 labels + 100 files + 100 closing references: 301 requests
        (
            "pullRequests(first: 100) { nodes { labels(first: 9) { totalCount } files(first: 100) { totalCount }"
            " closingIssuesReferences(first: 5) { totalCount } } }",
            3,
            100 + 900 + 10_000 + 500,
        ),
        # 1 + 50 + 50 × 5 labels of their issues: 301 requests
        (
            "pullRequests(last: 50) { nodes { closingIssuesReferences(first: 5) { nodes { labels(first: 2)"
            " { totalCount } } } } }",
            3,
            50 + 250 + 500,
        ),
        # 1 + 2 × 75 requests are rounded up
        (
            "pullRequests(first: 75) { nodes { a: labels(first: 1) { totalCount }"
            " b: labels(first: 1) { totalCount } } }",
            2,
            225,
        ),
        # asked for twice under the same key, a connection counts once: 76 requests
        (
            "pullRequests(first: 75) { nodes { labels(first: 1) { totalCount }"
            " labels(first: 1) { pageInfo { endCursor } } } }",
            1,
            150,
        ),
    ],
)
def test_the_cost_is_githubs_rule(github: GitHubDouble, selection: str, points: int, nodes: int) -> None:
    query = f"{{ rateLimit {{ cost nodeCount remaining used }} {REPOSITORY} {{ {selection} }} }}"
    rate = post(github, query).data["data"]["rateLimit"]
    assert rate == {"cost": points, "nodeCount": nodes, "remaining": 5000 - points, "used": points}
    assert github.points == points


#: the two examples of GitHub's documentation
NODES = """{ viewer {
  repositories(first: 50) { edges { repository: node { name
    pullRequests(first: 20) { edges { pullRequest: node { title
      comments(first: 10) { edges { comment: node { bodyHTML } } } } } }
    issues(first: 20) { totalCount edges { issue: node { title bodyHTML
      comments(first: 10) { edges { comment: node { bodyHTML } } } } } } } } }
  followers(first: 10) { edges { follower: node { login } } } } }"""
POINTS = """{ viewer { login repositories(first: 100) { edges { node { id
  issues(first: 50) { edges { node { id labels(first: 60) { edges { node { id name } } } } } } } } } } }"""


@pytest.mark.parametrize(("query", "figure", "value"), [(NODES, "nodes", 22_060), (POINTS, "requests", 5101)])
def test_the_examples_of_githubs_documentation(query: str, figure: str, value: int) -> None:
    schema = github_schema()
    (operation,) = parse(query).definitions
    assert isinstance(operation, OperationDefinitionNode)
    size = measure(Query(schema, {}, None), schema.query_type, operation.selection_set)
    assert getattr(size, figure) == value


def test_a_cost_is_rounded() -> None:
    assert [Size(requests).points for requests in (1, 149, 150, 5101)] == [1, 1, 2, 51]


PAGE = """
query Page($owner: String!, $name: String!, $after: String, $authors: Boolean = true) {
  repository(owner: $owner, name: $name) {
    nameWithOwner stargazerCount primaryLanguage { name } repositoryTopics(first: 5) { nodes { topic { name } } }
    pullRequests(first: 60, after: $after, states: [MERGED, CLOSED], orderBy: {field: UPDATED_AT, direction: DESC}) {
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { ...Pull } }
    }
    linked: issueOrPullRequest(number: 20) { __typename ... on Issue { title state } ... on PullRequest { ...Pull } }
    nothing: issue(number: 999999) { title }
  }
}
fragment Pull on PullRequest {
  __typename number title body state mergedAt updatedAt baseRefOid
  author @include(if: $authors) { __typename login }
  mergeCommit { oid parents(first: 1) { nodes { oid } } }
  labels(first: 10) { nodes { name } }
  files(first: 100) { totalCount nodes { path changeType additions } pageInfo { hasNextPage } }
  closingIssuesReferences(first: 5) { nodes { number title labels(first: 5) { nodes { name } } } }
}
"""


@pytest.mark.parametrize("authors", [True, False])
def test_the_fast_execution_agrees_with_graphql_core(world: World, authors: bool) -> None:
    """Answers and errors are the same, key by key and in the same order."""
    document, schema = parse(PAGE), github_schema()
    given = {"owner": "acme", "name": "ui", "authors": authors}
    operation = next(
        definition for definition in document.definitions if isinstance(definition, OperationDefinitionNode)
    )
    fragments = {
        definition.name.value: definition
        for definition in document.definitions
        if isinstance(definition, FragmentDefinitionNode)
    }
    variables = get_variable_values(schema, operation.variable_definitions, given)
    ours = execute(world, Query(schema, fragments, variables), operation, dict)
    theirs = execute_sync(
        schema,
        document,
        root(world, dict),
        variable_values=given,
        field_resolver=lambda source, info, **given: resolve(info.parent_type, source, info.field_name, given),
        type_resolver=lambda source, *_: source["__typename"],
    )
    assert json.dumps(ours["data"]) == json.dumps(theirs.data)
    assert [(e["message"], e["path"]) for e in ours["errors"]] == [(e.message, e.path) for e in theirs.errors]


def test_a_missing_object_is_null_with_its_path(github: GitHubDouble) -> None:
    reply = ask(github, "name gone: issue(number: 999999) { title }")
    assert reply.data["data"] == {"repository": {"name": "ui", "gone": None}}
    [error] = reply.data["errors"]
    assert (error["type"], error["path"]) == ("NOT_FOUND", ["repository", "gone"])
    assert error["message"] == "Could not resolve to an Issue with the number of 999999."


def test_an_unknown_repository(github: GitHubDouble) -> None:
    reply = post(github, '{ repository(owner: "no", name: "where") { name } }')
    assert reply.data["data"] == {"repository": None}
    assert "Could not resolve to a Repository with the name 'no/where'." in reply.body.decode()


def test_closing_references_may_lead_to_other_repositories() -> None:
    world = World()
    repository = world.repository("acme/ui")
    repository.issue(1, title="Here")
    repository.pull(2, title="Both", closes=[1, "other/place#3"])
    with GitHubDouble(world) as github:
        closing = "closingIssuesReferences(first: 9) { nodes { number repository { nameWithOwner } } }"
        pull = ask(github, f"pullRequest(number: 2) {{ {closing} }}").data["data"]["repository"]["pullRequest"]
    nodes = pull["closingIssuesReferences"]["nodes"]
    assert [(node["number"], node["repository"]["nameWithOwner"]) for node in nodes] == [
        (1, "acme/ui"),
        (3, "other/place"),
    ]


def test_a_field_that_the_double_lacks_is_named(github: GitHubDouble) -> None:
    reply = ask(github, "forkCount")
    assert (reply.status, "Repository.forkCount" in reply.data["message"]) == (501, True)
    assert post(github, 'mutation { deleteIssue(input: {issueId: "x"}) { clientMutationId } }').status == 501


def test_recorded_requests_lack_only_the_token(github: GitHubDouble) -> None:
    query = f"query Title($n: Int!) {{ {REPOSITORY} {{ issueOrPullRequest(number: $n) {{ __typename }} }} }}"
    post(github, query, n=1)
    post(github, "{ viewer { login } }", token="other")
    get(github, "/repos/acme/ui")
    assert [(request.path, request.status, request.cost) for request in github.requests] == [
        ("/graphql", 200, 1),
        ("/graphql", 200, 1),
        ("/repos/acme/ui", 200, 1),
    ]
    assert (github.requests[0].query, github.requests[0].variables) == (query, {"n": 1})
    assert sorted(github.tokens.values()) == [1, 2]
    assert "secret" not in get(github, "/_double/record").body.decode()


def test_requests_without_token_or_user_agent_are_refused(github: GitHubDouble) -> None:
    body = b'{"query": "{ viewer { login } }"}'
    assert send(Request(f"{github.url}/graphql", body, HEADERS | {"Authorization": ""})).status == 401
    assert send(Request(f"{github.url}/graphql", body, HEADERS | {"User-Agent": ""})).status == 403
    assert send(Request(f"{github.url}/graphql", b"{", HEADERS)).status == 400


def test_a_package_with_another_digest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=f"{PACKAGE.name} has the digest sha512-"):
        PACKAGE._replace(integrity="sha512-another").fetch(tmp_path)
