"""The world as GraphQL nodes: a table of fields for each GitHub type that the project uses.

A value that is a function takes the field's arguments (plan.py). If a query of the project needs another field, add it
here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any

from github_double.connections import Listed, Node, page
from github_double.problems import NotModelled, Problem, not_found
from github_double.records import File, Issue, Pull
from github_double.world import Repository, World

SITE = "https://github.com"
ORDERS = {"CREATED_AT": "created_at", "UPDATED_AT": "updated_at"}


def root(world: World, rate_limit: Callable[[], Node]) -> Node:
    """The fields of Query; `rate_limit` is computed on request."""

    def repository_field(owner: str, name: str, followRenames: bool = True) -> Node:  # noqa: N803 - GitHub's argument
        found = world.find(f"{owner}/{name}")
        if found is None or (not followRenames and found.name.lower() != f"{owner}/{name}".lower()):
            raise not_found("Repository", f"{owner}/{name}")
        return repository(found)

    return {
        "repository": repository_field,
        "node": partial(_node, world),
        "nodes": lambda ids: [_node(world, id_) for id_ in ids],
        "rateLimit": lambda dryRun=False: rate_limit(),  # noqa: N803 - GitHub's argument
        "viewer": _user("ann"),
    }


def repository(repo: Repository) -> Node:
    """A repository with its lists."""
    owner, _, name = repo.name.partition("/")
    facts = repository_facts(repo)
    return {
        "__typename": "Repository",
        "id": _identifier(repo, 0),
        "databaseId": facts["id"],
        "name": name,
        "nameWithOwner": repo.name,
        "owner": _user(owner),
        "url": f"{SITE}/{repo.name}",
        "description": facts["description"],
        "stargazerCount": facts["stars"],
        "pushedAt": facts["pushed_at"],
        "updatedAt": facts["pushed_at"],
        "isArchived": facts["archived"],
        "isFork": facts["fork"],
        "isPrivate": False,
        "primaryLanguage": {"name": facts["language"]} if facts["language"] else None,
        "repositoryTopics": Listed(repo.cursors, facts["topics"], lambda topic: {"topic": {"name": topic}}),
        "defaultBranchRef": {"__typename": "Ref", "name": "main"},
        "pullRequest": lambda number: _numbered(repo, number, "PullRequest"),
        "issue": lambda number: _numbered(repo, number, "Issue"),
        "issueOrPullRequest": lambda number: _numbered(repo, number, "issue or pull request"),
        "pullRequests": partial(_list, repo, "pull"),
        "issues": partial(_list, repo, "issue"),
    }


def repository_facts(repo: Repository) -> dict[str, Any]:
    """Facts about a repository, for both GraphQL and REST."""
    defaults = {
        "id": int(sha256(repo.name.encode()).hexdigest()[:7], 16),
        "description": None,
        "stars": 1000,
        "pushed_at": "2025-01-01T00:00:00Z",
        "archived": False,
        "fork": False,
        "language": "TypeScript",
        "topics": ["components", "react"],
    }
    return defaults | repo.facts


def _list(
    repo: Repository,
    kind: str,
    states: list[str] | None = None,
    orderBy: Mapping[str, str] | None = None,  # noqa: N803 - GitHub's argument
    **window: Any,
) -> Node:
    order = orderBy or {"field": "CREATED_AT", "direction": "ASC"}
    if order["field"] not in ORDERS:
        raise NotModelled(f"the order {order['field']}")
    positions = repo.positions(kind, tuple(states or ()), ORDERS[order["field"]])
    descending = order["direction"] == "DESC"
    return page(repo.cursors, positions, lambda n: node(repo, repo.get(n)), descending=descending, **window)


def _numbered(repo: Repository, number: int, kind: str) -> Node:
    record = repo.get(number)
    wanted = {"PullRequest": Pull, "Issue": Issue}.get(kind)
    if record is None or (wanted and type(record) is not wanted):
        raise not_found(kind, number)
    return node(repo, record)


def node(repo: Repository, record: Pull | Issue) -> Node:
    """An issue, or a pull request with its additional fields."""
    place = "pull" if isinstance(record, Pull) else "issues"
    common = {
        "id": _identifier(repo, record.number),
        "number": record.number,
        "title": record.title,
        "body": record.body,
        "state": record.state,
        "closed": record.state != "OPEN",
        "url": f"{SITE}/{repo.name}/{place}/{record.number}",
        "author": _user(record.author) if record.author else None,
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
        "closedAt": record.updated_at if record.state != "OPEN" else None,
        "labels": Listed(repo.cursors, record.labels, _label),
        "repository": lambda: repository(repo),
    }
    return common | (_pull(repo, record) if isinstance(record, Pull) else _issue(record))


def _issue(record: Issue) -> Node:
    return {"__typename": "Issue", "stateReason": "COMPLETED" if record.state == "CLOSED" else None}


def _pull(repo: Repository, pull: Pull) -> Node:
    return {
        "__typename": "PullRequest",
        "merged": pull.merged,
        "mergedAt": pull.merged_at,
        "isDraft": False,
        "baseRefName": pull.branch,
        "baseRefOid": pull.base,
        "headRefName": f"topic-{pull.number}",
        "headRefOid": f"{pull.number:040x}",
        "mergeCommit": _commit(repo, pull) if pull.merge else None,
        "changedFiles": len(pull.files),
        "additions": sum(file.additions for file in pull.files),
        "deletions": sum(file.deletions for file in pull.files),
        "commits": Listed(repo.cursors, range(pull.commits), _only_counted),
        "files": Listed(repo.cursors, pull.files, _file),
        "closingIssuesReferences": Listed(repo.cursors, pull.closes, partial(_closed, repo)),
    }


def _only_counted(index: int) -> Node:
    raise NotModelled("a commit of a pull request")


def _closed(repo: Repository, reference: int | str) -> Node:
    """A closed issue; of one in another repository, only the name is known."""
    if isinstance(reference, int):
        return node(repo, repo.get(reference))
    name, _, number = reference.partition("#")
    return node(Repository(name, repo.cursors, {}), Issue(int(number), "An issue of another repository"))


def _commit(repo: Repository, pull: Pull) -> Node:
    return {
        "__typename": "Commit",
        "oid": pull.merge,
        "message": f"{pull.title} (#{pull.number})",
        "committedDate": pull.merged_at,
        "parents": Listed(repo.cursors, [pull.base], lambda oid: {"__typename": "Commit", "oid": oid}),
    }


def _file(file: File) -> Node:
    return {"path": file.path, "changeType": file.change, "additions": file.additions, "deletions": file.deletions}


def _label(name: str) -> Node:
    return {"__typename": "Label", "name": name, "description": None, "color": "ededed"}


def _user(login: str) -> Node:
    kind = "Bot" if login.endswith("[bot]") else "User"
    return {"__typename": kind, "login": login.removesuffix("[bot]"), "url": f"{SITE}/{login}"}


def _identifier(repo: Repository, number: int) -> str:
    return base64.b64encode(f"{repo.name}#{number}".encode()).decode()


def _node(world: World, id: str) -> Node:  # noqa: A002 - GitHub's argument
    """A node by its identifier: a repository, a pull request or an issue. Raises Problem for any other text."""
    try:
        name, _, number = base64.b64decode(id, validate=True).decode().partition("#")
        repo = world.find(name)
        return node(repo, repo.get(int(number))) if int(number) else repository(repo)
    except (ValueError, AttributeError):
        raise Problem("NOT_FOUND", f"Could not resolve to a node with the global id of '{id}'") from None
