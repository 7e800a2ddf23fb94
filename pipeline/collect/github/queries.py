"""The GraphQL queries, as text.

A page of 100 costs 3 points by GitHub's rule: 1 connection, and 100 each of labels, files and closing references. The
issues of a page cost 1 more for each hundred.
"""

from __future__ import annotations

from collections.abc import Iterable

LIMIT = "rateLimit { cost remaining resetAt }"

_PULL = """
fragment Pull on PullRequest {
  number title body state mergedAt updatedAt baseRefName baseRefOid
  additions deletions
  author { __typename login }
  mergeCommit { oid }
  labels(first: 100) { nodes { name } }
  files(first: 100) { nodes { path } pageInfo { hasNextPage endCursor } }
  closingIssuesReferences(first: 50) { nodes { number repository { nameWithOwner } } }
}
"""

#: the oldest change first: pull requests that change meanwhile move to the end, so none is missed
PAGE = f"""
query Page($owner: String!, $name: String!, $first: Int!, $after: String) {{
  {LIMIT}
  repository(owner: $owner, name: $name) {{
    pullRequests(states: MERGED, first: $first, after: $after, orderBy: {{field: UPDATED_AT, direction: ASC}}) {{
      totalCount
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ ...Pull }}
    }}
  }}
}}
{_PULL}
"""

#: the numbers alone, for a page of which GitHub cannot deliver everything; its size stays as it is in all tries
NUMBERS = f"""
query Numbers($owner: String!, $name: String!, $size: Int!, $after: String) {{
  {LIMIT}
  repository(owner: $owner, name: $name) {{
    pullRequests(states: MERGED, first: $size, after: $after, orderBy: {{field: UPDATED_AT, direction: ASC}}) {{
      nodes {{ number }}
    }}
  }}
}}
"""

KNOWN = f"""
query Known($owner: String!, $name: String!) {{
  {LIMIT}
  repository(owner: $owner, name: $name) {{ nameWithOwner }}
}}
"""

COMMITS = f"""
query Commits($owner: String!, $name: String!, $number: Int!) {{
  {LIMIT}
  repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{ commits(first: 1) {{ totalCount }} }} }}
}}
"""

FILES = f"""
query Files($owner: String!, $name: String!, $number: Int!, $after: String) {{
  {LIMIT}
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      files(first: 100, after: $after) {{ nodes {{ path }} pageInfo {{ hasNextPage endCursor }} }}
    }}
  }}
}}
"""


def named(numbers: Iterable[int]) -> str:
    """The query for single pull requests: `p12` is number 12."""
    return _aliases("Named", (f"p{n}: pullRequest(number: {n}) {{ ...Pull }}" for n in numbers)) + _PULL


def issues(numbers: Iterable[int]) -> str:
    """The query for many issues at once: `i12` is number 12, which may be a pull request."""
    fields = (
        "... on Issue { number title body state labels(first: 100) { nodes { name } } } ... on PullRequest { number }"
    )
    lines = (f"i{n}: issueOrPullRequest(number: {n}) {{ __typename {fields} }}" for n in numbers)
    return _aliases("Issues", lines)


def _aliases(name: str, lines: Iterable[str]) -> str:
    body = "\n    ".join(lines)
    return f"""
query {name}($owner: String!, $name: String!) {{
  {LIMIT}
  repository(owner: $owner, name: $name) {{
    {body}
  }}
}}
"""
