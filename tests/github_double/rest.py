"""The REST paths that the project uses, over the same world: facts, pull requests, issues, diffs.

A table of path patterns and their functions; each returns a status, a body and its media type.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from github_double.diffs import MOST_FILES, diff, run_git
from github_double.model import SITE, repository_facts
from github_double.records import File, Issue, Pull
from github_double.world import Repository, World

_MEDIA = re.compile(r"application/vnd\.github\.(?:v3\.)?(diff|patch)")


class Reply(NamedTuple):
    """An answer of REST, before limits and faults."""

    status: int
    body: bytes
    media: str = "application/json; charset=utf-8"
    headers: Mapping[str, str] = {}


class Ask(NamedTuple):
    """One request on a repository."""

    url: str
    repository: Repository
    parts: Mapping[str, str]
    accept: str
    query: Mapping[str, str]

    def numbered(self) -> Pull | Issue | None:
        """The object with the path's number."""
        return self.repository.get(int(self.parts["number"]))


def reply(world: World, url: str, path: str, accept: str, query: Mapping[str, str]) -> Reply:
    """Answer GET `path`; `url` is the double's own address, for links in answers."""
    for pattern, make in ADDRESSES:
        match = pattern.fullmatch(path)
        repository = world.find(match["name"]) if match else None
        if repository is None:
            continue
        if repository.name.lower() != match["name"].lower():
            target = f"{url}{path.replace(match['name'], repository.name)}"
            return refusal(301, "Moved Permanently", {"Location": target})
        return make(Ask(url, repository, match.groupdict(), accept, query))
    return refusal(404, "Not Found")


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Reply:
    """An error in GitHub's form."""
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return Reply(status, json.dumps(body).encode(), headers=headers or {})


def _json(data: Any) -> Reply:
    return Reply(200, json.dumps(data).encode())


def _repository(ask: Ask) -> Reply:
    facts = repository_facts(ask.repository)
    owner, _, name = ask.repository.name.partition("/")
    shown = {key: facts[key] for key in ("id", "description", "pushed_at", "archived", "fork", "language", "topics")}
    named = {"name": name, "full_name": ask.repository.name, "owner": {"login": owner, "type": "Organization"}}
    places = {"url": f"{ask.url}/repos/{ask.repository.name}", "html_url": f"{SITE}/{ask.repository.name}"}
    rest = {"stargazers_count": facts["stars"], "default_branch": "main", "private": False}
    return _json(shown | named | places | rest)


def _pull(ask: Ask) -> Reply:
    pull = ask.numbered()
    if not isinstance(pull, Pull):
        return refusal(404, "Not Found")
    media = _MEDIA.search(ask.accept)
    if media:
        return _diff(ask.repository, pull, media[1])
    base = {"ref": pull.branch, "sha": pull.base, "label": f"{ask.repository.name.partition('/')[0]}:{pull.branch}"}
    return _json(
        _numbered(ask, pull, "pulls")
        | {"merged": pull.merged, "merged_at": pull.merged_at, "merge_commit_sha": pull.merge, "base": base}
        | {"changed_files": len(pull.files), "draft": False}
    )


def _diff(repository: Repository, pull: Pull, kind: str) -> Reply:
    if len(pull.files) > MOST_FILES:
        return refusal(406, f"Sorry, the diff exceeded the maximum number of files ({MOST_FILES}).")
    return Reply(200, diff(repository, pull, binary=kind == "patch"), f"application/vnd.github.{kind}; charset=utf-8")


def _issue(ask: Ask) -> Reply:
    """An issue; a pull request is one too, with the field `pull_request`."""
    issue = ask.numbered()
    if issue is None:
        return refusal(404, "Not Found")
    pull = {"pull_request": {"merged_at": issue.merged_at}} if isinstance(issue, Pull) else {}
    return _json(_numbered(ask, issue, "issues") | pull)


def _commit(ask: Ask) -> Reply:
    """A commit and its parents; without a clone, only the merge commits of pull requests exist."""
    sha, pull = ask.parts["sha"], ask.repository.merged_by(ask.parts["sha"])
    message = {"message": f"{pull.title} (#{pull.number})" if pull else ""}
    parents = _parents(ask.repository, sha) if ask.repository.clone else [pull.base] if pull else None
    if parents is None:
        return refusal(422, f"No commit found for SHA: {sha}")
    return _json({"sha": sha, "commit": message, "parents": [{"sha": parent} for parent in parents]})


def _parents(repository: Repository, sha: str) -> list[str] | None:
    """The parents according to git, None for a commit that the clone lacks."""
    try:
        return run_git(repository.clone, "rev-parse", f"{sha}^@").decode().split()
    except subprocess.CalledProcessError:
        return None


def _compare(ask: Ask) -> Reply:
    """The diff between a merge commit and one before it, for the media types of diffs; without a clone, its parent."""
    pull, media, base = ask.repository.merged_by(ask.parts["head"]), _MEDIA.search(ask.accept), ask.parts["base"]
    if pull is None or media is None or (pull.base != base and not ask.repository.clone):
        return refusal(404, "Not Found")
    return _diff(ask.repository, replace(pull, base=base), media[1])


def _numbered(ask: Ask, record: Issue, place: str) -> dict[str, Any]:
    return {
        "url": f"{ask.url}/repos/{ask.repository.name}/{place}/{record.number}",
        "number": record.number,
        "title": record.title,
        "body": record.body or None,
        "state": "open" if record.state == "OPEN" else "closed",
        "user": {"login": record.author} if record.author else None,
        "labels": [{"name": name} for name in record.labels],
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _files(ask: Ask) -> Reply:
    pull = ask.numbered()
    if not isinstance(pull, Pull):
        return refusal(404, "Not Found")
    size, number = min(100, int(ask.query.get("per_page", 30))), int(ask.query.get("page", 1))
    shown = _json([_file(file) for file in pull.files[(number - 1) * size : number * size]])
    address = f"{ask.url}/repos/{ask.repository.name}/pulls/{pull.number}/files?per_page={size}&page="
    return shown._replace(headers=_links(address, number, math.ceil(len(pull.files) / size)))


def _links(address: str, number: int, last: int) -> dict[str, str]:
    """The links to the next and the last page, unless this is the last one."""
    if number >= last:
        return {}
    return {"Link": f'<{address}{number + 1}>; rel="next", <{address}{last}>; rel="last"'}


def _file(file: File) -> dict[str, Any]:
    words = {"ADDED": "added", "MODIFIED": "modified", "DELETED": "removed", "RENAMED": "renamed", "CHANGED": "changed"}
    previous = {"previous_filename": file.previous} if file.previous else {}
    counts = {"additions": file.additions, "deletions": file.deletions, "changes": file.additions + file.deletions}
    return {"filename": file.path, "status": words[file.change]} | counts | previous


_NAME = r"/repos/(?P<name>[^/]+/[^/]+)"
ADDRESSES: tuple[tuple[re.Pattern[str], Callable[[Ask], Reply]], ...] = (
    (re.compile(_NAME), _repository),
    (re.compile(_NAME + r"/pulls/(?P<number>\d+)"), _pull),
    (re.compile(_NAME + r"/pulls/(?P<number>\d+)/files"), _files),
    (re.compile(_NAME + r"/issues/(?P<number>\d+)"), _issue),
    (re.compile(_NAME + r"/commits/(?P<sha>[0-9a-f]+)"), _commit),
    (re.compile(_NAME + r"/compare/(?P<base>[0-9a-f]+)\.\.\.(?P<head>[0-9a-f]+)"), _compare),
)
