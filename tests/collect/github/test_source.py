"""The source `github`, with a double that executes its queries against GitHub's published schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from collecting import FILES, outcomes, reasons
from factories import REPO
from github_double import GitHubDouble, World
from histories import History, git

from pipeline.collect.database import Database
from pipeline.collect.funnel import REASONS
from pipeline.collect.links import unresolved
from pipeline.collect.patterns import shipped
from pipeline.collect.sources import Merged
from pipeline.collect.stage import collect_from
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Issue
from pipeline.core.store import Store, read_json


def pulls(source: Any) -> dict[int, Merged]:
    """All pull requests of a source, by number; the source is then closed."""
    found = {pull.pull.number: pull for page in source.pages("") for pull in page.pulls}
    source.close()
    return found


def test_a_pull_request_has_everything(source: Any, world: World) -> None:
    repo = world.repository(str(REPO))
    repo.issue(10, title="Menu has no name")
    repo.pull(11, title="Name it", body="Fixes #10", files=FILES, labels=["a11y"], closes=[10], base="b" * 40)
    one = pulls(source())[11]
    pull = one.pull
    assert (pull.title, pull.body, pull.labels) == ("Name it", "Fixes #10", ("a11y",))
    assert (pull.state, pull.instance_id, pull.base.ref) == ("merged", "acme__ui-11", "main")
    assert pull.merge_sha and pull.merged_at
    assert (one.files, one.closing) == (tuple(FILES), (10,))


@pytest.mark.rule("no-persons-work")
def test_a_bot_is_recognized_by_its_type(source: Any, world: World, store: Store) -> None:
    """GraphQL omits the `[bot]` of a bot's name, so a name alone identifies no bot."""
    repo = world.repository(str(REPO))
    for number, author in ((1, "helper[bot]"), (2, "helper"), (3, None)):
        repo.pull(number, title="Aria", files=FILES, author=author)
    collect_from(store, REPO, source())
    assert reasons(store) == {1: "bot", 2: "candidate", 3: "candidate"}
    assert outcomes(store)[2].author == "helper"


@pytest.mark.trap("newest-skipped")
@pytest.mark.parametrize("number", [1, 100, 101, 250])
def test_every_merged_pull_request_is_there(source: Any, world: World, number: int) -> None:
    """A fresh run of Multi-SWE-bench always skips the newest; others are easily lost at page borders."""
    repo = world.repository(str(REPO))
    for each in range(1, number + 1):
        repo.pull(each, title="Change", files=FILES)
    assert sorted(pulls(source())) == list(range(1, number + 1))


@pytest.mark.trap("unmerged-kept")
def test_only_merged_pull_requests_are_collected(source: Any, world: World) -> None:
    """An open or closed pull request has no merge commit: nothing shows that its patch is right."""
    repo = world.repository(str(REPO))
    for number, state in ((1, "MERGED"), (2, "CLOSED"), (3, "OPEN")):
        repo.pull(number, title="Change", files=FILES, state=state)
    assert sorted(pulls(source())) == [1]
    assert [merged.pull.number for merged in source().named([1, 2, 3])] == [1]


def test_a_number_is_an_issue_a_pull_request_or_not_found(source: Any, world: World) -> None:
    repo = world.repository(str(REPO))
    repo.issue(10, title="Menu", body="why", labels=["a11y"])
    repo.pull(11, title="Change", files=FILES)
    found = source().issues([10, 11, 12])
    assert found == {
        10: Issue(number=10, title="Menu", body="why", labels=("a11y",), state=found[10].state),
        11: "pull_request",
        12: "not_found",
    }


@pytest.mark.rule("funnel")
def test_the_funnel_agrees_with_the_recipes(store: Store, source: Any, world: World) -> None:
    """Every generated pull request ends as its recipe says, and the counts add up."""
    repo = world.generate(str(REPO), pulls=400, seed=3, evidence=0.3)
    funnel = collect_from(store, REPO, source())
    found = reasons(store)
    candidates = [number for number, word in found.items() if word == "candidate"]
    merged = sorted(repo.numbers("pull", ["MERGED"]))
    assert funnel.total == len(merged)
    assert sorted(found) == merged
    recipes = {number: repo.recipe(number) for number in merged}
    people = [n for n in merged if not (repo.get(n).author or "").endswith("[bot]")]
    complete = {n for n, recipe in recipes.items() if recipe.source and recipe.tests and recipe.evidence}
    assert sorted(candidates) == [n for n in people if n in complete]
    assert [found[n] for n in merged if n in complete and n not in people].count("bot") == len(complete - {*people}) > 0
    assert set(found.values()) - {"candidate"} <= set(REASONS)


@pytest.mark.rule("points")
def test_a_hundred_pull_requests_cost_five_points_at_most(store: Store, source: Any, github: GitHubDouble) -> None:
    """Including labels, files and issue texts, by GitHub's own formula: the thesis's 96,349 pull requests take one
    token one night."""
    github.world.generate(str(REPO), pulls=800, seed=4)
    funnel = collect_from(store, REPO, source())
    points = sum(request.cost for request in github.requests if request.path == "/graphql")
    assert points <= 5 * funnel.total / 100 + 2


@pytest.mark.rule("funnel")
def test_issues_are_requested_in_batches_after_the_paths(store: Store, source: Any, github: GitHubDouble) -> None:
    repo = github.world.repository(str(REPO))
    repo.pull(1, title="No tests", body="Fixes #900", files=["src/Menu.tsx"])
    for number in range(2, 60):
        repo.pull(number, title="Aria", body=f"Fixes #{number + 100}, #{number + 200}", files=FILES)
        repo.issue(number + 100, title="Menu")
    collect_from(store, REPO, source())
    queries = [request.query for request in github.requests if "issueOrPullRequest" in request.query]
    assert len(queries) == 2
    assert not any("900" in query for query in queries)


@pytest.mark.rule("incremental")
def test_a_second_run_requests_only_what_is_new(store: Store, source: Any, github: GitHubDouble) -> None:
    repo = github.world.generate(str(REPO), pulls=300, seed=5)
    first = collect_from(store, REPO, source())
    asked = len(github.requests)
    assert collect_from(store, REPO, source()) == first
    assert len(github.requests) - asked == 2
    repo.grow(30)
    second = collect_from(store, REPO, source())
    assert second.total > first.total
    assert len(github.requests) - asked < 20


@pytest.mark.rule("incremental")
def test_changed_pull_requests_are_decided_again(store: Store, source: Any, world: World) -> None:
    repo = world.repository(str(REPO))
    repo.issue(10, title="Menu has no name")
    repo.pull(11, title="Name it", files=FILES)
    repo.pull(12, title="Other", files=FILES)
    collect_from(store, REPO, source())
    assert reasons(store)[11] == "no_a11y_evidence"
    repo.change(11, title="Name it: aria", body="Fixes #10")
    collect_from(store, REPO, source())
    assert reasons(store) == {11: "candidate", 12: "no_a11y_evidence"}
    assert outcomes(store)[11].resolved_issues[0].title == "Menu has no name"


def test_many_files_are_read_as_far_as_needed(source: Any, github: GitHubDouble) -> None:
    """GraphQL returns a hundred paths; a later test file counts too."""
    repo = github.world.repository(str(REPO))
    repo.pull(1, title="Aria", files=[*(f"src/{n:03}.ts" for n in range(250)), "zz/Menu.test.ts"])
    repo.pull(2, title="Aria", files=["a/Menu.test.ts", *(f"src/{n:03}.ts" for n in range(250))])
    found = pulls(source())
    assert "zz/Menu.test.ts" in found[1].files
    assert len(found[2].files) == 100


@pytest.mark.rule("screenshots-are-no-tests")
def test_files_are_read_until_a_test_is_no_picture(store: Store, source: Any, world: World) -> None:
    """A hundred screenshots and sources hid the test on the second page."""
    pictures = [f"e2e/__screenshots__/{number:03}.png" for number in range(60)]
    files = [*pictures, *(f"src/{number:03}.ts" for number in range(60)), "zz/Menu.test.ts"]
    world.repository(str(REPO)).pull(1, title="Aria", files=files)
    collect_from(store, REPO, source())
    assert reasons(store) == {1: "candidate"}


def cursor(store: Store) -> str:
    with Database(store.raw(REPO) / "collect.sqlite") as database:
        return database.get("cursor")


@pytest.mark.rule("incremental")
def test_a_merge_commit_is_looked_for_again_after_a_fetch(
    store: Store, source: Any, github: GitHubDouble, tmp_path: Path
) -> None:
    """Collecting once with an old clone lost what had been merged since, for good."""
    origin, clone = History(tmp_path / "origin"), tmp_path / "clone"
    base = origin.commit("first", {"src/Menu.tsx": "0\n"})
    git(tmp_path, "clone", "-q", str(origin.folder), "clone")
    merge = origin.commit("Aria (#1)", dict.fromkeys(FILES, "1\n"))
    repo = github.world.repository(str(REPO), clone=origin.folder)
    repo.pull(1, title="Aria", base=base, merge=merge)
    for _ in range(2):
        collect_from(store, REPO, source(clone))
        assert reasons(store) == {1: "base_missing"}
    before = cursor(store)
    git(clone, "fetch", "-q")
    collect_from(store, REPO, source(clone))
    assert reasons(store) == {1: "candidate"} and cursor(store) == before
    asked = len(github.requests)
    collect_from(store, REPO, source(clone))
    assert len(github.requests) - asked == 2, "only the name and the page after the last run"


@pytest.mark.rule("incremental")
def test_a_new_clone_has_what_github_does_not_give(store: Store, source: Any, world: World, tmp_path: Path) -> None:
    history, wide = History(tmp_path / "clone"), {f"src/{number}.ts": "0\n" for number in range(301)}
    base = history.commit("first", wide)
    merge = history.commit("Aria (#1)", dict.fromkeys([*wide, *FILES], "1\n"))
    world.repository(str(REPO)).pull(1, title="Aria", base=base, merge=merge, files=[*FILES, *wide])
    collect_from(store, REPO, source())
    assert reasons(store) == {1: "too_large"}
    collect_from(store, REPO, source(history.folder))
    assert reasons(store) == {1: "candidate"}


@pytest.mark.rule("incremental")
def test_a_hundred_pull_requests_are_asked_for_again_at_once(
    store: Store, source: Any, github: GitHubDouble, tmp_path: Path
) -> None:
    history = History(tmp_path / "clone")
    history.commit("first")
    repo = github.world.repository(str(REPO))
    for number in range(1, 103):
        repo.pull(number, title="Aria", files=FILES)
    for _ in range(2):
        collect_from(store, REPO, source(history.folder))
        assert reasons(store) == dict.fromkeys(range(1, 103), "base_missing")
    queries = [request.query for request in github.requests if "query Named" in request.query]
    assert [query.count("pullRequest(number:") for query in queries] == [100, 2]


def test_patches_come_from_rest(store: Store, source: Any, world: World, tmp_path: Path) -> None:
    world.generate(str(REPO), pulls=40, seed=6, evidence=1.0, clone=tmp_path / "clone")
    collect_from(store, REPO, source())
    other = Store(tmp_path / "other")
    collect_from(other, REPO, source(tmp_path / "clone"))
    assert reasons(store) == reasons(other)
    bases = {number: outcome.base.sha for number, outcome in outcomes(other).items() if isinstance(outcome, Candidate)}
    assert bases
    assert {number: outcomes(store)[number].base.sha for number in bases} == bases
    assert read_json(other.raw(REPO) / "source.json").keys() == {"kind", "url", "commit"}


def test_a_diff_that_is_too_large_is_a_reason(store: Store, source: Any, world: World) -> None:
    files = ["src/Menu.test.tsx", *(f"src/{number}.ts" for number in range(301))]
    world.repository(str(REPO)).pull(1, title="Aria", files=files)
    collect_from(store, REPO, source())
    assert reasons(store) == {1: "too_large"}


@pytest.mark.rule("bad-input")
def test_an_unknown_repository_is_refused_with_nothing_written(store: Store, source: Any) -> None:
    with pytest.raises(UserError, match="GitHub has no repository acme/nothing"):
        collect_from(store, Repo("acme", "nothing"), source(repo=Repo("acme", "nothing")))
    assert not store.root.exists()


def test_a_repository_that_moved_is_followed(source: Any, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Its links and texts use the new name, which counted as another repository."""
    repo = world.repository(str(REPO))
    repo.issue(10, title="Menu has no name")
    body = "Fixes https://github.com/Acme/Design/issues/11 and acme/ui#12, see other/design#13"
    repo.pull(1, title="Aria", body=body, files=FILES, closes=[10, "other/design#13"])
    world.rename(str(REPO), "acme/design")
    (merged,) = pulls(source()).values()
    assert (merged.closing, merged.closing_elsewhere) == ((10,), ("other/design#13",))
    assert unresolved(merged, shipped()).numbers == [11, 12, 10]
    assert "acme/ui is now called acme/design" in capsys.readouterr().err


@pytest.mark.rule("chosen-by-hand")
def test_single_pull_requests_are_taken_whatever_the_filters_say(store: Store, source: Any, world: World) -> None:
    repo = world.repository(str(REPO))
    repo.pull(1, title="Aria", files=FILES)
    repo.pull(2, title="No evidence", files=FILES)
    repo.pull(3, title="No tests", files=["src/Menu.tsx"])
    collect_from(store, REPO, source(), numbers=[2, 3])
    assert reasons(store) == {2: "by hand", 3: "by hand"}
    collect_from(store, REPO, source())
    assert reasons(store) == {1: "candidate", 2: "by hand", 3: "by hand"}


@pytest.mark.rule("bad-input")
def test_a_number_that_is_not_on_github_is_refused(store: Store, source: Any, world: World) -> None:
    world.repository(str(REPO)).issue(7, title="An issue")
    with pytest.raises(UserError, match="no merged pull request #7, #8 of acme/ui"):
        collect_from(store, REPO, source(), numbers=[7, 8])
    assert not store.root.exists()
