"""GitHub on a bad day: after every fault of the double, the files are the same as on a good day."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from collecting import FILES, PATIENCE, TOKEN, files, outcomes, reasons, tables
from factories import REPO
from github_double import GitHubDouble, World, faults
from github_double.faults import Answer, Call, Fault
from histories import History

from pipeline.collect.github.source import GitHubSource
from pipeline.collect.sources import Options
from pipeline.collect.stage import collect_from
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.store import Store, read_object, write_json

OTHER = "ghp_another"
FAULTS = {
    "primary limit": faults.primary_limit(reset_in=0.3),
    "secondary limit": faults.secondary_limit(retry_after=0),
    "secondary limit, 429": faults.secondary_limit(status=429, retry_after=0),
    "secondary limit, no time": faults.secondary_limit(retry_after=None),
    "bad gateway": faults.bad_gateway(),
    "unavailable": faults.unavailable(),
    "broken": faults.broken(),
    "cut": faults.cut(0.5),
    "garbled": faults.garbled(),
}


def generate(world: World) -> None:
    world.generate(str(REPO), pulls=250, seed=8, evidence=0.2)


@pytest.fixture(scope="module")
def good_day(tmp_path_factory: pytest.TempPathFactory) -> Store:
    world, made = World(), Store(tmp_path_factory.mktemp("good"))
    generate(world)
    with GitHubDouble(world) as double:
        collect_from(made, REPO, GitHubSource(REPO, Options(), double.url, [TOKEN], PATIENCE))
    return made


@pytest.fixture
def undisturbed(world: World, github: GitHubDouble, good_day: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The files of a good day, with the same world and address."""
    generate(world)
    made = Store(tmp_path_factory.mktemp("undisturbed") / "data")
    shutil.copytree(good_day.root, made.root)
    about = made.raw(REPO) / "source.json"
    write_json(about, read_object(about) | {"url": github.url})
    return made


@pytest.mark.rule("limits")
@pytest.mark.parametrize(
    ("on", "fault"),
    [(on, fault) for on in ("graphql", "rest") for fault in FAULTS.values() if (on, fault.name) != ("rest", "broken")],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_temporary_fault_does_not_change_the_result(
    store: Store, source: Any, github: GitHubDouble, undisturbed: Store, fault: Any, on: str
) -> None:
    """A broken answer is requested again, and nothing incomplete is kept."""
    github.fault(fault, after=2, times=2, on=on)
    collect_from(store, REPO, source())
    assert [request.fault for request in github.requests].count(fault.name) == 2
    assert files(store) == files(undisturbed)
    assert tables(store) == tables(undisturbed)


def answered(status: int, **body: Any) -> Fault:
    """This answer instead of the proper one."""

    async def apply(_: Call) -> Answer:
        return Answer(status, json.dumps(body).encode(), {"x-ratelimit-remaining": "0"} if status == 200 else {})

    return Fault("answered", apply)


@pytest.mark.rule("limits")
def test_the_primary_limit_under_its_other_name(
    store: Store, source: Any, github: GitHubDouble, undisturbed: Store
) -> None:
    """GitHub gives both names. With the other one, the run ended instead of waiting."""
    error = {"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": "API rate limit already exceeded."}
    github.fault(answered(200, errors=[error]), after=2, times=2)
    collect_from(store, REPO, source())
    assert [request.fault for request in github.requests].count("answered") == 2
    assert files(store) == files(undisturbed)


@pytest.mark.rule("limits")
@pytest.mark.parametrize("times", [2, 4])
def test_a_partial_answer_is_requested_again(
    store: Store, source: Any, github: GitHubDouble, undisturbed: Store, times: int
) -> None:
    """GitHub returns `data` and `errors` together if one node fails; without a second request, that node would be
    lost."""
    github.fault(faults.partial("repository", "pullRequests", "nodes", 3), after=1, times=times)
    collect_from(store, REPO, source())
    assert files(store) == files(undisturbed)


@pytest.fixture
def three(github: GitHubDouble) -> GitHubDouble:
    """Three pull requests about accessibility, one of them only by its label and one only by its issue."""
    repo = github.world.repository(str(REPO))
    repo.issue(10, title="a11y: the menu has no name")
    repo.issue(11, title="Another")
    for number, title, labels in ((1, "Aria (fixes #11)", []), (2, "Rename", ["a11y"]), (3, "Fixes #10", [])):
        repo.pull(number, title=title, files=FILES, labels=labels)
    return github


@pytest.mark.rule("limits")
@pytest.mark.parametrize(
    "path",
    [("pullRequests", "nodes", 1), ("pullRequests", "nodes", 1, "labels"), ("i10",), ("i10", "labels")],
    ids=lambda path: ".".join(map(str, path)),
)
def test_objects_that_stay_missing_are_fetched_one_by_one(
    store: Store, source: Any, three: GitHubDouble, path: tuple[str | int, ...]
) -> None:
    """A pull request that GitHub omitted was lost, since the cursor moved on; an omitted issue was taken for
    unknown."""
    three.fault(faults.partial("repository", *path), after=2 if path[0] == "i10" else 1, times=4)
    collect_from(store, REPO, source())
    assert [request.fault for request in three.requests].count("partial") == 4
    assert reasons(store) == dict.fromkeys((1, 2, 3), "candidate")
    assert [issue.number for issue in outcomes(store)[3].resolved_issues] == [10]


@pytest.mark.rule("limits")
@pytest.mark.parametrize(
    "places",
    [
        [("pullRequests", "nodes", 1), ("pullRequests", "nodes", 1)],
        [("pullRequests", "nodes", 1), ("p2",)],
        [("pullRequests", "nodes", 1), ("p2", "labels")],
        [("i10",), ("i10",)],
    ],
    ids=["its number", "the pull request", "its labels", "the issue"],
)
def test_an_object_that_cannot_be_fetched_alone_ends_the_run(
    store: Store, source: Any, three: GitHubDouble, places: list[tuple[str | int, ...]]
) -> None:
    """Nothing of the page is stored, so the next run gets everything."""
    (page, single), asked = places, 2 if places[0] == ("i10",) else 1
    three.fault(faults.partial("repository", *page), after=asked, times=4)
    three.fault(faults.partial("repository", *single), after=asked + (single[0] == "p2"), times=4)
    with pytest.raises(InfrastructureError, match="GitHub's answer is incomplete.*Something went wrong"):
        collect_from(store, REPO, source())
    assert [request.fault for request in three.requests].count("partial") == 8
    collect_from(store, REPO, source())
    assert reasons(store) == dict.fromkeys((1, 2, 3), "candidate")


@pytest.mark.rule("limits")
def test_a_pull_request_chosen_by_hand_is_fetched_alone(store: Store, source: Any, three: GitHubDouble) -> None:
    """If GitHub omitted it, it was said not to exist."""
    three.fault(faults.partial("repository", "p2"), after=1, times=4)
    collect_from(store, REPO, source(), numbers=[1, 2])
    assert reasons(store) == {1: "by hand", 2: "by hand"}


def test_paths_missing_in_graphql_come_from_rest(store: Store, source: Any, github: GitHubDouble) -> None:
    github.world.repository(str(REPO)).pull(1, title="Aria", files=FILES)
    github.fault(faults.partial("repository", "pullRequests", "nodes", 0, "files"), after=1, times=4)
    collect_from(store, REPO, source())
    assert reasons(store) == {1: "candidate"}


SLOW = "Server Error: Sorry, this diff is taking too long to generate."


@pytest.mark.rule("limits")
@pytest.mark.invariant(7)
@pytest.mark.parametrize("status", [422, 500])
def test_a_diff_that_github_cannot_make_rejects_only_its_pull_request(
    store: Store, source: Any, three: GitHubDouble, status: int
) -> None:
    """It stays so for days: every run ended there, and nothing after it was ever collected."""
    three.fault(answered(status, message=SLOW), after=1, on="rest")
    collect_from(store, REPO, source())
    assert [request.fault for request in three.requests].count("answered") == 1, "it is not asked for again"
    assert reasons(store) == {1: "too_large", 2: "candidate", 3: "candidate"}


@pytest.mark.rule("limits")
@pytest.mark.invariant(7)
@pytest.mark.parametrize("with_clone", [True, False], ids=["clone", "REST"])
@pytest.mark.parametrize("status", [404, 406, 422, 500])
def test_files_that_github_cannot_list_reject_only_their_pull_request(
    store: Store, source: Any, github: GitHubDouble, tmp_path: Path, status: int, with_clone: bool
) -> None:
    """Neither GraphQL nor REST lists them. A clone has those of the merge commit."""
    history = History(tmp_path / "clone")
    history.commit("first", {"src/Menu.tsx": "0\n"})
    repo = github.world.repository(str(REPO), clone=history.folder)
    for number in (1, 2):
        base = history.git("rev-parse", "HEAD")
        merge = history.commit(f"Aria (#{number})", dict.fromkeys(FILES, f"{number}\n"))
        repo.pull(number, title="Aria", base=base, merge=merge)
    github.fault(faults.partial("repository", "pullRequests", "nodes", 0, "files"), after=1, times=4)
    github.fault(answered(status, message=SLOW), after=2, on="rest")
    collect_from(store, REPO, source(history.folder if with_clone else None))
    assert [request.path for request in github.requests if request.fault == "answered"] == [
        "/repos/acme/ui/pulls/1/files"
    ]
    assert reasons(store) == {1: "candidate" if with_clone else "too_large", 2: "candidate"}


def test_a_page_that_is_too_large_for_github_is_split(
    store: Store, source: Any, github: GitHubDouble, undisturbed: Store
) -> None:
    asked = len(github.requests)
    github.fault(faults.bad_gateway(), after=1, times=2)
    collect_from(store, REPO, source())
    sizes = [request.variables["first"] for request in github.requests[asked:] if "first" in request.variables]
    assert sizes[0] == 25, "100 and 50 were refused"
    assert set(sizes[1:]) == {100}
    assert files(store) == files(undisturbed)


@pytest.mark.rule("limits")
def test_a_server_that_stays_broken_ends_the_run_and_loses_nothing(
    store: Store, source: Any, github: GitHubDouble, undisturbed: Store
) -> None:
    """Earlier decisions are kept, and the next run continues after them."""
    github.fault(faults.unavailable(), after=4, times=8)
    with pytest.raises(InfrastructureError, match="GitHub keeps failing"):
        collect_from(store, REPO, source())
    asked = len(github.requests)
    collect_from(store, REPO, source())
    assert next(request for request in github.requests[asked:] if "first" in request.variables).variables["after"]
    assert files(store) == files(undisturbed)


@pytest.mark.rule("limits")
def test_points_are_not_overdrawn(world: World, store: Store) -> None:
    """Every answer says how many points are left, so collecting stops before it is refused."""
    world.generate(str(REPO), pulls=900, seed=9)
    with GitHubDouble(world, limit=20, window=0.7) as github:
        funnel = collect_from(store, REPO, GitHubSource(REPO, Options(), github.url, [TOKEN], PATIENCE))
        assert sum(request.cost for request in github.requests if request.path == "/graphql") > 20
        assert {request.status for request in github.requests if request.path == "/graphql"} == {200}
        assert not any("RATE_LIMITED" in request.fault for request in github.requests)
    assert funnel.total > 500


@pytest.mark.rule("limits")
def test_tokens_rotate(store: Store, source: Any, github: GitHubDouble, undisturbed: Store) -> None:
    github.fault(faults.primary_limit(reset_in=60), after=2)
    collect_from(store, REPO, source(tokens=(TOKEN, OTHER)))
    assert len(github.tokens) == 2
    assert files(store) == files(undisturbed)


@pytest.mark.rule("bad-input")
def test_a_revoked_token_is_left_out(
    store: Store, source: Any, github: GitHubDouble, undisturbed: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    github.revoke(OTHER)
    collect_from(store, REPO, source(tokens=(OTHER, TOKEN)))
    assert files(store) == files(undisturbed)
    assert "GitHub refuses token 1 of 2" in capsys.readouterr().err


@pytest.mark.rule("bad-input")
def test_a_token_revoked_during_the_run_loses_nothing(
    store: Store, source: Any, github: GitHubDouble, undisturbed: Store
) -> None:
    opened = source(tokens=(OTHER,))
    github.revoke(OTHER)
    with pytest.raises(UserError, match="GITHUB_TOKEN.*GitHub refuses every token"):
        collect_from(store, REPO, opened)
    collect_from(store, REPO, source())
    assert files(store) == files(undisturbed)


@pytest.mark.rule("incremental")
def test_an_expired_cursor_restarts_from_the_beginning(
    store: Store, source: Any, github: GitHubDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    github.world.generate(str(REPO), pulls=150, seed=8)
    first = collect_from(store, REPO, source())
    before = files(store)
    github.expire_cursors()
    assert collect_from(store, REPO, source()) == first
    assert files(store) == before
    assert "starting over" in capsys.readouterr().err


@pytest.mark.trap("token-in-log")
@pytest.mark.invariant(6)
def test_a_token_is_in_no_file_or_output(
    store: Store, source: Any, github: GitHubDouble, capfd: pytest.CaptureFixture[str], caplog: Any
) -> None:
    """Whatever goes wrong: not in a file, on the terminal, in a library's log, or in an error."""
    caplog.set_level(logging.DEBUG)
    github.world.generate(str(REPO), pulls=120, seed=8, evidence=0.3)
    for index, fault in enumerate(fault for name, fault in FAULTS.items() if name != "broken"):
        github.fault(fault, after=2 + 2 * index, on="any")
    collect_from(store, REPO, source())
    github.revoke(TOKEN)
    with pytest.raises(UserError) as error:
        source()
    written = b"".join(path.read_bytes() for path in store.root.rglob("*") if path.is_file()).decode(errors="replace")
    assert TOKEN not in "".join([written, *capfd.readouterr(), caplog.text, str(error.value), repr(error.value)])
