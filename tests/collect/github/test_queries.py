"""The GraphQL queries: each uses what it declares, and requests everything for a page at once."""

from __future__ import annotations

import re

import pytest

from pipeline.collect.github import queries

FIXED = {name: getattr(queries, name) for name in ("PAGE", "NUMBERS", "KNOWN", "COMMITS", "FILES")}
MADE = {"named": queries.named([1, 22]), "issues": queries.issues([3])}
ALL = FIXED | MADE


@pytest.mark.parametrize("name", ALL)
def test_brackets_are_balanced(name: str) -> None:
    text = ALL[name]
    assert text.count("{") == text.count("}") and text.count("(") == text.count(")")


@pytest.mark.parametrize("name", ALL)
def test_every_variable_is_declared_and_used(name: str) -> None:
    """GitHub refuses a query with an unused variable."""
    declared = re.findall(r"\$(\w+):", ALL[name])
    used = re.findall(r"(?<=: )\$(\w+)", ALL[name])
    assert sorted(set(used)) == sorted(declared)


@pytest.mark.parametrize("name", ALL)
def test_every_query_requests_its_cost(name: str) -> None:
    assert queries.LIMIT in ALL[name]


@pytest.mark.parametrize("name", ["PAGE", "named"])
def test_a_fragment_that_is_used_is_sent_along(name: str) -> None:
    assert "...Pull" in ALL[name] and ALL[name].count("fragment Pull on PullRequest") == 1


def test_pages_begin_with_the_least_recently_changed() -> None:
    """Pull requests that change while pages are read move to the end, so none is missed."""
    for name in ("PAGE", "NUMBERS"):
        assert "orderBy: {field: UPDATED_AT, direction: ASC}" in FIXED[name] and "states: MERGED" in FIXED[name]


def test_single_pull_requests_and_issues_have_names_by_number() -> None:
    assert re.findall(r"(p\d+): pullRequest\(number: (\d+)\)", MADE["named"]) == [("p1", "1"), ("p22", "22")]
    assert re.findall(r"(i\d+): issueOrPullRequest\(number: (\d+)\)", MADE["issues"]) == [("i3", "3")]


def test_a_page_has_all_that_a_candidate_needs() -> None:
    for field in ("mergeCommit", "baseRefOid", "labels", "files", "closingIssuesReferences", "mergedAt", "author"):
        assert field in queries.PAGE
