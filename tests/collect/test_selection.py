"""Which repositories meet the thesis's criteria, and why others do not."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from collecting import PATIENCE, TOKEN
from github_double import GitHubDouble, World, faults

from pipeline.collect.github.limits import Tokens
from pipeline.collect.github.rest import Rest
from pipeline.collect.selection import Listed, load_list, select
from pipeline.core.errors import UserError

NOW = datetime(2025, 7, 1, tzinfo=UTC)
RECENT, OLD = "2025-06-01T00:00:00Z", "2024-12-01T00:00:00Z"
FUNNEL = os.environ.get("A11Y_BENCH_THESIS_FUNNEL", "")


@pytest.fixture
def rest(github: GitHubDouble) -> Iterator[Rest]:
    made = Rest(github.url, Tokens([TOKEN], PATIENCE))
    yield made
    made.close()


@pytest.mark.rule("selection")
@pytest.mark.parametrize(
    ("facts", "web", "reasons"),
    [
        ({"stars": 501, "pushed_at": RECENT, "language": "TypeScript"}, "", ()),
        ({"stars": 501, "pushed_at": RECENT, "language": "Python"}, "content management system", ()),
        ({"stars": 501, "pushed_at": RECENT, "language": "Python", "topics": ["react"]}, "", ()),
        ({"stars": 500, "pushed_at": RECENT, "language": "CSS"}, "", ("not over 500 stars",)),
        ({"stars": 501, "pushed_at": OLD, "language": "CSS"}, "", ("no commit in six months",)),
        ({"stars": 501, "pushed_at": RECENT, "language": "Rust", "topics": []}, "", ("not web related",)),
        ({"stars": 501, "pushed_at": RECENT, "language": "CSS", "archived": True}, "", ("archived",)),
    ],
)
def test_each_criterion(rest: Rest, world: World, facts: dict, web: str, reasons: tuple[str, ...]) -> None:
    world.repository("acme/ui", **facts)
    (row,) = select(rest, [Listed(name="acme/ui", web=web)], NOW)
    assert row.reasons == reasons
    assert (row.stars, row.last_commit) == (facts["stars"], facts["pushed_at"][:10])


def test_moved_and_missing_repositories_have_rows(rest: Rest, world: World) -> None:
    world.repository("acme/design", stars=900, pushed_at=RECENT, language="CSS")
    world.rename("acme/design", "acme/ui")
    gone, moved = select(rest, [Listed(name="acme/gone"), Listed(name="acme/design")], NOW)
    assert gone.reasons == ("GitHub does not give it: 404",)
    assert (moved.repo, moved.reasons) == ("acme/design (now acme/ui)", ())


def test_facts_are_requested_again_after_a_refusal(rest: Rest, world: World, github: GitHubDouble) -> None:
    world.repository("acme/ui", stars=900, pushed_at=RECENT, language="CSS")
    github.fault(faults.secondary_limit(retry_after=0), on="rest", times=2)
    (row,) = select(rest, [Listed(name="acme/ui")], NOW)
    assert row.reasons == ()


@pytest.mark.rule("selection")
def test_the_shipped_list_has_the_repositories_of_the_thesis() -> None:
    """Appendix 9.2 of the thesis names 29 repositories, including the twenty of table 4.1."""
    listed = load_list()
    assert len({repository.name for repository in listed}) == len(listed) == 29
    assert sum(repository.sampled for repository in listed) == 20
    assert all(repository.web for repository in listed)
    if FUNNEL:
        with Path(FUNNEL).open() as lines:
            assert {row["repo"] for row in csv.DictReader(lines)} == {
                repository.name for repository in listed if repository.sampled
            }


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[repository", "list.toml: invalid TOML"),
        ("a = 1", "not a list of repositories"),
        ("repository = ['a/b']", r"list.toml:1: field 'repository\[0\]': "),
        ("[[repository]]\nname = 1", r"field 'repository\[0\].name'"),
        ("[[repository]]\nname = 'a/b'\nstars = 1", r"field 'repository\[0\].stars'"),
        (
            "[[repository]]\nname = 'a/b'\n[[repository]]\nname = 'ab'",
            r"list.toml:4: field 'repository\[1\].name': 'ab' is not a repository",
        ),
    ],
)
def test_a_broken_list_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "list.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=says):
        load_list(path)
