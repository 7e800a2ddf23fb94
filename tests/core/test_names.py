"""Names of repositories, instances and folders, as people write them."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from itertools import product

import pytest

from pipeline.core.errors import UserError
from pipeline.core.names import Repo, commit_number, folder_name, is_of_commit, named_by, parse_instance_id, parse_repo

GROMMET = Repo("grommet", "grommet")


@pytest.mark.rule("names")
@pytest.mark.parametrize("text", ["grommet/grommet", "grommet__grommet", "  grommet/grommet\n"])
def test_forms_of_a_repository(text: str) -> None:
    """Both forms lead to the same folder, so nothing is collected twice."""
    assert parse_repo(text) == GROMMET
    assert parse_repo(text).slug == "grommet__grommet"
    assert str(parse_repo(text)) == "grommet/grommet"


@pytest.mark.parametrize(
    ("text", "repo"),
    [
        ("a/b.js", Repo("a", "b.js")),
        ("a__b__c", Repo("a", "b__c")),
        ("acme__ui__kit", Repo("acme", "ui__kit")),
        ("acme/.github", Repo("acme", ".github")),
        ("acme/_ui-", Repo("acme", "_ui-")),
        ("radix-ui/primitives", Repo("radix-ui", "primitives")),
        ("a/b-2", Repo("a", "b-2")),
        ("1/2", Repo("1", "2")),
        ("acme/.github", Repo("acme", ".github")),
        ("acme/_repo", Repo("acme", "_repo")),
        ("acme___repo", Repo("acme", "_repo")),
        ("acme/__repo", Repo("acme", "__repo")),
    ],
)
def test_uncommon_repositories(text: str, repo: Repo) -> None:
    assert parse_repo(text) == repo
    assert parse_repo(repo.slug) == repo


@pytest.mark.parametrize(
    "text", ["", "grommet", "a/b/c", "../b", "a/..", "a/", "/b", "a b/c", "a/b#1", "https://github.com/a/b"]
)
def test_an_invalid_repository_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not a repository") as error:
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
    """SWE-bench's form, Multi-SWE-bench's, and the displayed one: all are accepted, one is written."""
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
        ("acme__ui__kit-3", (Repo("acme", "ui__kit"), 3)),
        ("acme/_ui-#3", (Repo("acme", "_ui"), 3)),
        ("acme__.github-3", (Repo("acme", ".github"), 3)),
        ("acme/.github#3", (Repo("acme", ".github"), 3)),
        ("acme___repo-3", (Repo("acme", "_repo"), 3)),
        ("acme/_repo-#3", (Repo("acme", "_repo"), 3)),
    ],
)
def test_numbers_in_a_repositorys_name(text: str, expected: tuple[Repo, int]) -> None:
    assert parse_instance_id(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "a/b", "a__b", "a__b-x", "b-1", "../b-1", "a/../b-1", "a/b#-1", "a/b#1.5", "a/b#1 x", "a/..#1", "a__..-1"]
    + ["a/b#" + "9" * 17, "a__b-" + "9" * 5000, "a/b#\u0663"],
)
def test_an_invalid_instance_name_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not an instance"):
        parse_instance_id(text)


@pytest.mark.parametrize(
    "repo", [Repo("a__b", "c"), Repo("a_", "b"), Repo("_a", "b"), Repo("..", "b"), Repo("a", "..")]
)
def test_a_repository_with_an_ambiguous_folder_is_refused(repo: Repo) -> None:
    """`a__b/c` and `a/b__c` shared a folder; a name of dots left the data directory; `a/b.jsonl` is the dataset of
    `a/b`."""
    with pytest.raises(UserError, match="cannot name a folder"):
        _ = repo.slug


@pytest.mark.trap("folder-collision")
def test_no_two_repositories_share_a_folder() -> None:
    """Each folder belongs to one repository, and its name is read back as that repository."""
    parts = ["".join(letters) for size in (1, 2, 3, 4) for letters in product("a_.", repeat=size)]
    folders = {}
    for repo in (Repo(org, name) for org in parts for name in parts):
        with suppress(UserError):
            assert folders.setdefault(repo.slug, repo) == repo
            assert Repo.of_slug(repo.slug) == repo
    assert len(folders) > 1000


@pytest.mark.parametrize("name", ["locks", "__b", "a__", "a__..", "a__b.jsonl", "~x__b"])
def test_other_folders_belong_to_no_repository(name: str) -> None:
    assert Repo.of_slug(name) is None


PLAIN = ["GLM-4.6", "a", "model-a", "a__b", "a_", "x" * 100]
OTHER = [
    "deepinfra/GLM-4.6", "deepinfra:GLM-4.6", "a:b c", "../../etc", "..", ".", ".x", "x.", "-x", "___", "///", " a",
    "a ", "\u6a21\u578b", "\u043c\u043e\u0434\u0435\u043b\u044c", "\u00e9", "e\u0301", "\ud83d", "a\n", "a\0b", "~",
    "a~b", "x" * 101, "/" * 300,
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_name_is_its_own_folder(text: str) -> None:
    assert folder_name(text) == text and named_by(text) == text


@pytest.mark.parametrize("text", OTHER)
def test_an_unusual_name_gets_a_digest_in_its_folder(text: str) -> None:
    """Names in any script work, and none leads elsewhere. Only the records say what such a folder belongs to."""
    name = folder_name(text)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*~[0-9a-f]{16}", name) and len(name) <= 100
    assert named_by(name) is None


@pytest.mark.trap("folder-collision")
def test_no_two_names_share_a_folder() -> None:
    """`org/m`, `org:m` and `org_m` shared a folder, and one model got another's verdict."""
    chance = random.Random(7)
    made = {"".join(chance.choices("aB0._-/: ~\u00e9", k=chance.randint(1, 12))) for _ in range(20_000)}
    names = {*PLAIN, *OTHER, "org/m", "org:m", "org_m", *made}
    names |= {folder_name(name) for name in names}
    assert len({folder_name(name) for name in names}) == len(names)


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(UserError, match="must not be empty"):
        folder_name("")


@pytest.mark.parametrize("sha", ["0" * 40, "f" * 40, "0123456789abcdef" * 2 + "0" * 8])
def test_the_number_of_a_commit_is_never_that_of_an_issue(sha: str) -> None:
    """It identifies the commit, JSON holds it exactly, and an instance's name can contain it."""
    number = commit_number(sha)
    assert f"{number:x}" == f"1{sha[:13]}"
    assert 10**15 < number == int(float(number)) < 1 << 53
    assert is_of_commit(number) and not is_of_commit(10**9)
    assert parse_instance_id(GROMMET.instance_id(number)) == (GROMMET, number)
