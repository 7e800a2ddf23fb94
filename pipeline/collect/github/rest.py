"""GitHub's REST API, through PyGithub: the facts of a repository, a commit's parents, a diff as text."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import requests
from github import Auth, Github, GithubException
from github.Repository import Repository

from pipeline.collect.github.limits import Refusal, Token, Tokens

T = TypeVar("T")
TIMEOUT = 60


class Rest:
    """PyGithub with several tokens and our retries. `url` is the API's address."""

    def __init__(self, url: str, tokens: Tokens) -> None:
        self.url, self.tokens = url, tokens
        self._clients: dict[Token, Github] = {}

    def call(self, work: Callable[[Github], T]) -> T:
        """Call `work` with a client whose token is available. Raises GithubException for what GitHub does not have."""
        for attempt in count():
            token, wait = self.tokens.next()
            time.sleep(wait)
            try:
                return work(self._client(token))
            except GithubException as error:
                headers = {name.lower(): value for name, value in (error.headers or {}).items()}
                if not self.tokens.refused(token, Refusal(error.status, str(error), headers), attempt):
                    raise
            except (requests.RequestException, ValueError) as error:  # ValueError: half an answer
                self.tokens.refused(token, Refusal(0, type(error).__name__), attempt)
        raise AssertionError("count() does not end")

    def facts(self, name: str) -> Repository:
        """A repository as GitHub shows it; one that moved has another `full_name`."""
        return self.call(lambda github: github.get_repo(name))

    def parents(self, name: str, sha: str) -> list[str]:
        """A commit's parents, the first one first."""
        return [parent["sha"] for parent in self._get(f"/repos/{name}/commits/{sha}")["parents"]]

    def compare(self, name: str, base: str, head: str, form: str) -> str:
        """The difference of two commits: a `diff`, without binary content, or a `patch`, one mail for each commit."""
        answer = self._get(f"/repos/{name}/compare/{base}...{head}", Accept=f"application/vnd.github.{form}")
        return answer["data"] if answer else ""

    def files(self, name: str, number: int) -> list[str]:
        """The paths of a pull request, for those without paths in GraphQL."""
        return self.call(lambda github: [f.filename for f in github.get_repo(name).get_pull(number).get_files()])

    def close(self) -> None:
        """End all connections."""
        for client in self._clients.values():
            client.close()

    def _get(self, path: str, **headers: str) -> Any:
        """The JSON at a path; other content is the `data` of a dictionary."""
        return self.call(lambda github: github.requester.requestJsonAndCheck("GET", path, headers=headers)[1])

    def _client(self, token: Token) -> Github:
        if token not in self._clients:
            self._clients[token] = Github(
                auth=Auth.Token(token.value),
                base_url=self.url,
                timeout=TIMEOUT,
                retry=None,
                user_agent="a11y-bench",
                seconds_between_requests=None,
                per_page=100,
            )
        return self._clients[token]
