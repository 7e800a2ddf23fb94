"""Names of repositories, instances and folders, as people write them."""

from __future__ import annotations

import pytest

from pipeline.core.errors import UserError
from pipeline.core.names import Repo, folder_name, parse_instance_id, parse_repo

GROMMET = Repo("grommet", "grommet")


@pytest.mark.rule("names")
@pytest.mark.parametrize("text", ["grommet/grommet", "grommet__grommet", "  grommet/grommet\n"])
def test_forms_of_a_repository(text: str) -> None:
    """Both forms name the same folder, so that nothing is collected twice."""
    assert parse_repo(text) == GROMMET
    assert parse_repo(text).slug == "grommet__grommet"
    assert str(parse_repo(text)) == "grommet/grommet"


@pytest.mark.parametrize(
    ("text", "repo"),
    [
        ("a/b.js", Repo("a", "b.js")),
        ("a__b__c", Repo("a", "b__c")),
        ("radix-ui/primitives", Repo("radix-ui", "primitives")),
        ("a/b-2", Repo("a", "b-2")),
        ("1/2", Repo("1", "2")),
    ],
)
def test_uncommon_repositories(text: str, repo: Repo) -> None:
    assert parse_repo(text) == repo
    assert parse_repo(repo.slug) == repo


@pytest.mark.parametrize(
    "text", ["", "grommet", "a/b/c", "../b", "a/..", "a/", "/b", "a b/c", "a/b#1", "https://github.com/a/b"]
)
def test_what_is_no_repository(text: str) -> None:
    with pytest.raises(UserError, match="is no repository") as error:
        parse_repo(text)
    assert "org/repo" in str(error.value)


@pytest.mark.rule("names")
@pytest.mark.parametrize(
    "text",
    [
        "grommet__grommet-7428",
        "grommet/grommet-#7428",
        "grommet/grommet:7428",
        "grommet/grommet#7428",
        " grommet/grommet#7428 ",
    ],
)
def test_forms_of_an_instance(text: str) -> None:
    """SWE-bench's, Multi-SWE-bench's and what people see: all are accepted, one is written."""
    repo, number = parse_instance_id(text)
    assert (repo, number) == (GROMMET, 7428)
    assert repo.instance_id(number) == "grommet__grommet-7428"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a__b-1-2", (Repo("a", "b-1"), 2)),
        ("a/b-1#2", (Repo("a", "b-1"), 2)),
        ("radix-ui__primitives-12", (Repo("radix-ui", "primitives"), 12)),
        ("a__b__c-3", (Repo("a", "b__c"), 3)),
    ],
)
def test_numbers_in_a_repositorys_name(text: str, expected: tuple[Repo, int]) -> None:
    assert parse_instance_id(text) == expected


@pytest.mark.parametrize(
    "text", ["", "a/b", "a__b", "a__b-x", "b-1", "../b-1", "a/../b-1", "a/b#-1", "a/b#1.5", "a/b#1 x"]
)
def test_what_is_no_instance(text: str) -> None:
    with pytest.raises(UserError, match="is no instance"):
        parse_instance_id(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("deepinfra/GLM-4.6", "deepinfra_GLM-4.6"),
        ("GLM-4.6", "GLM-4.6"),
        ("a:b c", "a_b_c"),
        ("../../etc", "etc"),
        (".x", "x"),
    ],
)
def test_a_folder_name_is_one_safe_segment(text: str, name: str) -> None:
    assert folder_name(text) == name


@pytest.mark.parametrize("text", ["", ".", "..", "///", "__"])
def test_what_can_not_name_a_folder(text: str) -> None:
    with pytest.raises(UserError, match="can not name a folder"):
        folder_name(text)
