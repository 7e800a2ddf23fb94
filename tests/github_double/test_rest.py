"""REST: repository facts by PyGithub itself, pull requests, their diffs and files, issues, old names."""

from __future__ import annotations

from collections.abc import Iterator

import github as pygithub
import pytest
from unidiff import PatchSet

from github_double import GitHubDouble, World
from github_double.client import get
from github_double.records import File

FILES = [
    File("src/Menu.tsx", "MODIFIED", 3, 2),
    File("src/Menu.test.tsx", "ADDED", 4, 0),
    File("src/old.css", "DELETED", 0, 5),
    File("src/b.ts", "RENAMED", 0, 0, "src/a.ts"),
]


@pytest.fixture
def github() -> Iterator[GitHubDouble]:
    world = World()
    repository = world.repository("acme/ui", stars=901, language="CSS", archived=True)
    repository.issue(1, title="Menu has no name", labels=["a11y"])
    repository.pull(2, title="Name it", body="Fixes #1", files=FILES, closes=[1], base="ba5e", merge="c0ffee")
    repository.pull(3, title="Many", files=[f"src/{n}.ts" for n in range(301)], state="OPEN")
    with GitHubDouble(world) as double:
        yield double


@pytest.fixture
def client(github: GitHubDouble) -> Iterator[pygithub.Github]:
    with pygithub.Github(base_url=github.url, auth=pygithub.Auth.Token("secret"), retry=None) as made:
        yield made


def test_pygithub_reads_the_facts(client: pygithub.Github, github: GitHubDouble) -> None:
    repository = client.get_repo("acme/ui")
    facts = repository.full_name, repository.stargazers_count, repository.language, repository.archived
    assert facts == ("acme/ui", 901, "CSS", True)
    assert client.get_rate_limit().resources.core.remaining == 5000 - 1
    assert len(github.tokens) == 1


def test_pygithub_reads_a_pull_request_and_its_files(client: pygithub.Github) -> None:
    pull = client.get_repo("acme/ui").get_pull(2)
    assert (pull.title, pull.merged, pull.merge_commit_sha) == ("Name it", True, "c0ffee")
    assert [file.status for file in pull.get_files()] == ["modified", "added", "removed", "renamed"]
    assert client.get_repo("acme/ui").get_pull(3).get_files().totalCount == 301


def test_pygithub_follows_an_old_name(client: pygithub.Github, github: GitHubDouble) -> None:
    github.world.rename("acme/ui", "acme/design")
    assert client.get_repo("acme/ui").full_name == "acme/design"
    assert get(github, "/repos/acme/ui").data["full_name"] == "acme/design"


def test_pygithub_reads_a_merge_commit(client: pygithub.Github) -> None:
    commit = client.get_repo("acme/ui").get_commit("c0ffee")
    assert [parent.sha for parent in commit.parents] == ["ba5e"]
    with pytest.raises(pygithub.GithubException, match="No commit found"):
        client.get_repo("acme/ui").get_commit("0123")


@pytest.mark.parametrize("path", ["pulls/2", "compare/ba5e...c0ffee"])
def test_a_diff_has_the_files_and_their_counts(github: GitHubDouble, path: str) -> None:
    reply = get(github, f"/repos/acme/ui/{path}", Accept="application/vnd.github.v3.diff")
    assert reply.headers["Content-Type"] == "application/vnd.github.diff; charset=utf-8"
    parsed = PatchSet(reply.body.decode())
    assert [(file.path, file.added, file.removed) for file in parsed] == [
        (file.path, file.additions, file.deletions) for file in FILES
    ]
    assert [(file.is_added_file, file.is_removed_file, file.is_rename) for file in parsed] == [
        (False, False, False),
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


def test_a_diff_of_too_many_files_is_refused(github: GitHubDouble) -> None:
    reply = get(github, "/repos/acme/ui/pulls/3", Accept="application/vnd.github.diff")
    assert (reply.status, "maximum number of files (300)" in reply.data["message"]) == (406, True)


@pytest.mark.parametrize(
    "path",
    [
        "/repos/no/where",
        "/repos/acme/ui/pulls/1",
        "/repos/acme/ui/issues/9",
        "/other",
        "/repos/acme/ui/compare/ba...c0",
    ],
)
def test_a_missing_object_is_404(github: GitHubDouble, path: str) -> None:
    assert get(github, path).status == 404


def test_an_issue_and_a_pull_request_seen_as_one(github: GitHubDouble) -> None:
    issue = get(github, "/repos/acme/ui/issues/1").data
    assert (issue["title"], issue["labels"], "pull_request" in issue) == ("Menu has no name", [{"name": "a11y"}], False)
    assert "pull_request" in get(github, "/repos/acme/ui/issues/2").data
