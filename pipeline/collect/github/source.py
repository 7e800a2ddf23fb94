"""The source `github`: merged pull requests by the time of their last change, so that a cursor never skips one.

Reads GITHUB_TOKEN, GITHUB_TOKENS (several) and GITHUB_API_URL. A candidate's patches are the difference between its
merge commit and that commit's first parent: from a clone if one is given, otherwise as GitHub prints it. What a page
lacks is fetched singly; nothing incomplete is given.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pipeline.collect.github import queries
from pipeline.collect.github.answers import incomplete, missing, part
from pipeline.collect.github.graphql import Answer, GraphQL, Refused
from pipeline.collect.github.limits import Patience, Tokens, tokens_of_environment
from pipeline.collect.sources import Merged, Options, Page, Patches
from pipeline.collect.sources.clone import pick
from pipeline.core.console import say
from pipeline.core.errors import UserError
from pipeline.core.git import changed_files, has_commit, open_clone
from pipeline.core.names import Repo
from pipeline.core.patches import is_picture
from pipeline.core.records import Base, Issue, PullRequest

if TYPE_CHECKING:
    from pipeline.collect.github.rest import Rest

log = logging.getLogger(__name__)

DEFAULT_URL = "https://api.github.com"
PAGE = 100
#: statuses of REST for a pull request whose files it cannot list; 500 only for a diff that it cannot make (limits.py)
_UNLISTED = (404, 406, 422, 500)


def open_source(repo: Repo, options: Options) -> GitHubSource:
    """Raises UserError without a token, for a token or a repository that GitHub does not know, and for a bad clone."""
    return GitHubSource(repo, options, api_url(), tokens_of_environment())


def api_url() -> str:
    """GITHUB_API_URL, or GitHub's own."""
    return os.environ.get("GITHUB_API_URL", DEFAULT_URL).rstrip("/")


class GitHubSource:
    """The merged pull requests of one repository on GitHub, the oldest change first."""

    problems: Sequence[UserError] = ()

    def __init__(
        self, repo: Repo, options: Options, url: str, tokens: Sequence[str], patience: Patience | None = None
    ) -> None:
        self.repo, self.url, self.is_test = repo, url, options.is_test
        self.clone = open_clone(options.path) if options.path else None
        self._where = {"owner": repo.org, "name": repo.repo}
        self._names = {str(repo).lower()}
        self._graphql = GraphQL(f"{url}/graphql", Tokens(tokens, patience))
        self._rest_tokens = Tokens(tokens, patience)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def describe(self) -> dict[str, str]:
        return {"kind": "github", "url": self.url}

    def pages(self, after: str) -> Iterator[Page]:
        """Pages of 100; while one is processed, the next is fetched. Starts over if the cursor has expired."""
        pending: Future[Answer] | None = self._send(after)
        while pending:
            try:
                answer = pending.result()
            except Refused as error:
                if error.type != "INVALID_CURSOR_ARGUMENTS" or not after:
                    raise
                say("GitHub no longer knows where the last run ended; starting over")
                after, pending = "", self._send("")
                continue
            connection, start = part(answer, "pullRequests"), after
            after = connection["pageInfo"]["endCursor"] or after
            pending = self._send(after) if connection["pageInfo"]["hasNextPage"] else None
            pulls = [self._merged(node) for node in self._complete(answer, start)]
            yield Page(pulls, after, connection["totalCount"])

    def named(self, numbers: Sequence[int]) -> list[Merged]:
        nodes = self._each(queries.named, "p", numbers).values()
        return pick((self._merged(node) for node in nodes if node and node["state"] == "MERGED"), numbers)

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue | str]:
        issues: dict[int, Issue | str] = {}
        for start in range(0, len(numbers), PAGE):
            batch = numbers[start : start + PAGE]
            issues |= {number: _issue(node) for number, node in self._each(queries.issues, "i", batch).items()}
        return issues

    def patches(self, merged: Merged) -> Patches:
        from pipeline.collect.github.patches import clone_changes, rest_changes

        def commits() -> int:
            answer = self._graphql.ask(queries.COMMITS, **self._where, number=merged.pull.number)
            return part(answer, "pullRequest", "commits")["totalCount"]

        if self.clone:
            return clone_changes(self.clone, merged, commits, self.is_test)
        return rest_changes(self._rest, str(self.repo), merged, commits, self.is_test)

    def status(self) -> str:
        return f"{self._graphql.tokens.points:,} points left"

    def close(self) -> None:
        self._graphql.close()
        if "_rest" in vars(self):
            self._rest.close()

    @cached_property
    def _rest(self) -> Rest:
        """Made when it is first used, since PyGithub takes long to load."""
        from pipeline.collect.github.rest import Rest

        return Rest(self.url, self._rest_tokens)

    def _check(self) -> None:
        """Notes the repository's present name. Raises UserError for one that does not exist or that these tokens cannot
        read."""
        repository = self._graphql.ask(queries.KNOWN, **self._where).data["repository"]
        if repository is None:
            raise UserError(
                f"GitHub has no repository {self.repo}", hint="check that it is spelled correctly and public"
            )
        if repository["nameWithOwner"].lower() not in self._names:
            self._names.add(repository["nameWithOwner"].lower())
            say(f"{self.repo} is now called {repository['nameWithOwner']}")

    def _send(self, after: str) -> Future[Answer]:
        return self._graphql.send(queries.PAGE, **self._where, first=PAGE, after=after or None)

    def _complete(self, answer: Answer, after: str) -> list[Mapping[str, Any]]:
        """The pull requests of a page; what the answer lacks is fetched by its number."""
        nodes = part(answer, "pullRequests", "nodes")
        broken = incomplete(answer, "pullRequests", "nodes")
        whole = {node["number"]: node for index, node in enumerate(nodes) if node and index not in broken}
        if broken:
            listed = self._graphql.ask(queries.NUMBERS, **self._where, size=len(nodes), after=after or None)
            if incomplete(listed, "pullRequests", "nodes"):
                raise missing(listed)
            numbers = [node["number"] for node in _without_nulls(part(listed, "pullRequests", "nodes"))]
            lacking = [number for number in numbers if number not in whole]
            whole |= {number: node for number, node in self._each(queries.named, "p", lacking).items() if node}
        return list(whole.values())

    def _each(
        self, query: Callable[[Sequence[int]], str], prefix: str, numbers: Sequence[int]
    ) -> dict[int, Mapping[str, Any] | None]:
        """The nodes of a query by number, None for unknown numbers. What the answer lacks is fetched singly.

        Raises InfrastructureError if it is still incomplete.
        """
        if not numbers:
            return {}
        answer = self._graphql.ask(query(numbers), **self._where)
        nodes, broken = dict(part(answer)), incomplete(answer)
        if broken and len(numbers) == 1:
            raise missing(answer)
        for number in numbers:
            if (name := f"{prefix}{number}") in broken:
                nodes[name] = self._each(query, prefix, [number])[number]
        return {number: nodes[f"{prefix}{number}"] for number in numbers}

    def _merged(self, node: Mapping[str, Any]) -> Merged:
        linked = [
            (issue["repository"]["nameWithOwner"], issue["number"]) for issue in _nodes(node, "closingIssuesReferences")
        ]
        return Merged(
            pull=self._pull(node),
            files=self._files(node),
            closing=tuple(number for name, number in linked if name.lower() in self._names),
            closing_elsewhere=tuple(f"{name}#{n}" for name, n in linked if name.lower() not in self._names),
            updated_at=node["updatedAt"],
            added=node["additions"],
            removed=node["deletions"],
            names=tuple(sorted(self._names)),
        )

    def _pull(self, node: Mapping[str, Any]) -> PullRequest:
        ref = node["baseRefName"]
        return PullRequest(
            org=self.repo.org,
            repo=self.repo.repo,
            number=node["number"],
            title=node["title"],
            body=node["body"] or "",
            author=_author(node["author"]),
            labels=tuple(label["name"] for label in _nodes(node, "labels")),
            base=Base(label=f"{self.repo.org}:{ref}", ref=ref, sha=node["baseRefOid"]),
            merge_sha=(node["mergeCommit"] or {}).get("oid", ""),
            merged_at=node["mergedAt"] or "",
        )

    def _files(self, node: Mapping[str, Any]) -> tuple[str, ...]:
        """The paths of a pull request, until they show that it changes tests and sources. REST has all of them; if it
        cannot list them either, a clone has those of the merge commit."""
        number, connection = node["number"], node["files"]
        paths: list[str] = []
        while connection and connection["nodes"] is not None and None not in connection["nodes"]:
            paths += [file["path"] for file in connection["nodes"]]
            if not connection["pageInfo"]["hasNextPage"] or self._show_both(paths):
                return tuple(paths)
            after = connection["pageInfo"]["endCursor"]
            answer = self._graphql.ask(queries.FILES, **self._where, number=number, after=after)
            connection = part(answer, "pullRequest")["files"]
        return self._listed(number, (node["mergeCommit"] or {}).get("oid", ""))

    def _show_both(self, paths: Sequence[str]) -> bool:
        """Whether these paths contain a source and a test. Pictures of tests are no tests (funnel.py)."""
        tests = list(filter(self.is_test, paths))
        return len(tests) < len(paths) and not all(map(is_picture, tests))

    def _listed(self, number: int, merge: str) -> tuple[str, ...]:
        """The paths of a pull request by REST, else those of its merge commit; none if there is no clone of it."""
        from github import GithubException

        try:
            return tuple(self._rest.files(str(self.repo), number))
        except GithubException as error:
            if error.status not in _UNLISTED:
                raise
        if self.clone and merge and has_commit(self.clone, merge) and has_commit(self.clone, f"{merge}^1"):
            return tuple(changed_files(self.clone, f"{merge}^1", merge))
        return ()


def _author(node: Mapping[str, Any] | None) -> str:
    """The login; that of a bot as on the web and in clones: `dependabot[bot]`."""
    if node is None:
        return ""
    return f"{node['login']}[bot]" if node["__typename"] == "Bot" else node["login"]


def _issue(node: Mapping[str, Any] | None) -> Issue | str:
    if node is None:
        return "not_found"
    if node["__typename"] != "Issue":
        return "pull_request"
    labels = tuple(label["name"] for label in _nodes(node, "labels"))
    state = node["state"].lower()
    return Issue(number=node["number"], title=node["title"], body=node["body"] or "", state=state, labels=labels)


def _nodes(node: Mapping[str, Any], connection: str) -> list[Mapping[str, Any]]:
    return _without_nulls((node[connection] or {}).get("nodes"))


def _without_nulls(nodes: Sequence[Mapping[str, Any] | None] | None) -> list[Mapping[str, Any]]:
    """The nodes of a connection without those that GitHub could not deliver, which are null."""
    present = [node for node in nodes or () if node is not None]
    if len(present) < len(nodes or ()):
        log.warning("GitHub left out %d of %d nodes", len(nodes or ()) - len(present), len(nodes or ()))
    return present
