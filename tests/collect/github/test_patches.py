"""Patches from GitHub: which commits count, what is lost on the way, and what GitHub refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from factories import make_pull_request
from github import GithubException

from pipeline.collect.github.patches import Line, rest_changes
from pipeline.collect.sources import Merged, Patches, Unavailable

SOURCE = "diff --git a/src/a.ts b/src/a.ts\nindex 1..2 100644\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-a\n+b\n"
TEST = SOURCE.replace("src/a.ts", "src/a.test.ts")
PICTURE = "diff --git a/logo.png b/logo.png\nindex 1..2 100644\n"
SHOWN = f"{PICTURE}Binary files a/logo.png and b/logo.png differ\n"
WHOLE = f"{PICTURE}GIT binary patch\nliteral 3\nKcmb=J\n\nliteral 0\nHcmV?d\n\n"


def mail(diff: str, number: int = 1) -> str:
    """A commit in the format of `git format-patch`."""
    return (
        f"From {str(number) * 40} Mon Sep 17 00:00:00 2001\nFrom: ann <ann@example.org>\nDate: Mon, 6 May 2024\n"
        f"Subject: [PATCH] b\n\n---\n src/a.ts | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
        f"{diff}-- \n2.39.2\n\n"
    )


class Answers:
    """GitHub's answers: the parents of commits, and texts by format; exceptions are raised."""

    def __init__(self, parents: Mapping[str, list[str]], **texts: str | Exception) -> None:
        self.parents_of, self.texts, self.asked = parents, texts, list[str]()

    def parents(self, name: str, sha: str) -> list[str]:
        self.asked.append(sha)
        return self.parents_of[sha]

    def compare(self, name: str, base: str, head: str, form: str) -> str:
        answer = self.texts.get(base, self.texts.get(form, ""))
        if isinstance(answer, Exception):
            raise answer
        return answer


def changes(rest: Answers, files: tuple[str, ...] = ("src/a.ts",), merge: str = "head", **numbers: int) -> Patches:
    merged = Merged(make_pull_request(merge_sha=merge), files, **numbers)
    return rest_changes(rest, "acme/ui", merged, lambda: 3)


def reason(*arguments: Any, **numbers: Any) -> str:
    with pytest.raises(Unavailable) as error:
        changes(*arguments, **numbers)
    return error.value.reason


ONE = {"head": ["base"], "base": []}


def test_a_commit_is_divided_into_source_and_tests() -> None:
    assert changes(Answers(ONE, diff=SOURCE + TEST)) == Patches("base", SOURCE, TEST)


def test_an_image_is_read_from_the_mail() -> None:
    """GitHub's diff says only that the image differs; the mail's signature is not part of it."""
    rest = Answers(ONE, diff=SOURCE + SHOWN, patch=mail(SOURCE + WHOLE))
    assert changes(rest) == Patches("base", SOURCE + WHOLE, "")


@pytest.mark.parametrize(
    "patch",
    [
        mail(SOURCE + WHOLE) + mail(SOURCE, 2),
        mail(WHOLE),
        "",
        "nothing of a mail",
    ],
)
def test_an_image_without_exactly_one_mail_is_not_available(patch: str) -> None:
    assert reason(Answers(ONE, diff=SOURCE + SHOWN, patch=patch)) == "binary"


def test_a_text_that_mentions_binary_files_is_a_text() -> None:
    text = SOURCE.replace("+b", "+Binary files a and b differ")
    assert changes(Answers(ONE, diff=text)).fix == text


SLOW = "Server Error: Sorry, this diff is taking too long to generate."


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (404, "no", "base_missing"),
        (422, "no", "base_missing"),
        (406, "no", "too_large"),
        (422, SLOW, "too_large"),
        (500, SLOW, "too_large"),
    ],
)
def test_a_refusal_by_github_becomes_a_rejection_reason(status: int, message: str, expected: str) -> None:
    assert reason(Answers(ONE, diff=GithubException(status, {"message": message}, {}))) == expected


def test_a_server_error_is_raised() -> None:
    with pytest.raises(GithubException):
        changes(Answers(ONE, diff=GithubException(500, {"message": "no"}, {})))


def test_letters_that_github_replaced_are_not_available() -> None:
    assert reason(Answers(ONE, diff=SOURCE.replace("+b", "+\ufffd"))) == "not_utf8"


def test_a_pull_request_without_a_merge_commit_is_not_available() -> None:
    assert reason(Answers({}), merge="") == "base_missing"


def test_a_first_commit_has_no_base() -> None:
    assert reason(Answers({"head": []}, diff=SOURCE)) == "base_missing"


@pytest.mark.trap("half-a-rebase")
def test_a_rebase_is_all_of_its_commits() -> None:
    """GitHub's own numbers describe the merge commit, which is the last part only."""
    line = {"head": ["two"], "two": ["one"], "one": ["base"], "base": []}
    rest = Answers(line, two=TEST, base=SOURCE + TEST)
    found = changes(rest, ("src/a.ts", "src/a.test.ts"), added=2, removed=2)
    assert found == Patches("base", SOURCE, TEST)


def test_a_change_that_lies_elsewhere_is_not_available() -> None:
    assert reason(Answers(ONE, diff=TEST)) == "spread"


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ({"head": ["a"], "a": ["b"], "b": []}, ["head", "a", "b", ""]),
        ({"head": ["a", "x"], "a": ["b"]}, ["head", "a", "", ""]),
        ({"head": ["a"], "a": ["b", "x"], "b": []}, ["head", "a", "", ""]),
        ({"head": []}, ["head", "", "", ""]),
    ],
)
def test_the_line_of_a_commit_ends_at_merges(parents: dict[str, list[str]], expected: list[str]) -> None:
    """It may start at one: a merge commit is compared with its first parent, and nothing before it counts."""
    rest = Answers(parents)
    line = Line(rest, "acme/ui", "head")
    assert [line.parent(number) for number in range(4)] == expected
    assert len(rest.asked) == len(set(rest.asked)), "each is fetched once"
