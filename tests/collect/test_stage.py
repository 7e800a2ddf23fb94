"""Collecting into the data directory: what is added, and what is refused before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from collecting import outcomes, reasons
from factories import REPO
from github_double import GitHubDouble
from histories import History, git

from pipeline.collect.stage import collect, collect_from
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Funnel
from pipeline.core.store import Store, read_json, read_records


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Three pull requests: with evidence, without evidence, without tests."""
    made = History(tmp_path / "clone")
    made.commit("first", {"src/Menu.tsx": "0\n"})
    made.commit("Aria (#1)\n\nFixes #10", {"src/Menu.tsx": "1\n", "src/Menu.test.tsx": "1\n"})
    made.commit("Name (#2)", {"src/Menu.tsx": "2\n", "src/Menu.test.tsx": "2\n"})
    made.commit("Aria (#3)", {"src/Menu.tsx": "3\n"})
    return made


ALL = {1: "candidate", 2: "no_a11y_evidence", 3: "no_test_changes"}


@pytest.mark.rule("funnel")
def test_everything_is_kept_with_its_funnel(store: Store, history: History) -> None:
    funnel = collect(store, REPO, history.folder)
    assert reasons(store) == ALL
    assert funnel == Funnel(**read_json(store.raw(REPO) / "funnel.json"))
    assert (funnel.total, funnel.tests, funnel.sample, funnel.without_issue) == (3, 2, 0, 1)
    source = read_json(store.raw(REPO) / "source.json")
    assert source == {"kind": "git", "commit": history.git("rev-parse", "HEAD")}


@pytest.mark.rule("collecting-adds")
def test_collecting_adds_to_existing_records(store: Store, history: History) -> None:
    """Single pull requests are added one by one, and a later full run removes none of them."""
    collect(store, REPO, history.folder, numbers=[2])
    assert reasons(store) == {2: "by hand"}
    assert collect(store, REPO, history.folder, numbers=[3]).total == 2
    assert reasons(store) == {2: "by hand", 3: "by hand"}
    collect(store, REPO, history.folder)
    assert reasons(store) == {1: "candidate", 2: "by hand", 3: "by hand"}


@pytest.mark.rule("chosen-by-hand")
def test_a_rejected_pull_request_can_still_be_chosen(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    collect(store, REPO, history.folder, numbers=[3])
    assert reasons(store) == ALL | {3: "by hand"}


def test_new_commits_of_the_clone_add_pull_requests(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    history.commit("Aria (#4)", {"src/Menu.tsx": "4\n", "src/Menu.test.tsx": "4\n"})
    collect(store, REPO, history.folder)
    assert reasons(store) == ALL | {4: "candidate"}


@pytest.fixture
def hosted(github: GitHubDouble, history: History) -> GitHubDouble:
    """The first two pull requests on GitHub: 1 closes an issue there, and 2 has evidence only in its label."""
    repo = github.world.repository(str(REPO), clone=history.folder)
    repo.issue(10, title="The menu has no name")
    first, one, two = history.git("rev-list", "--reverse", "HEAD").split()[:3]
    repo.pull(1, title="Aria", body="Fixes #10", closes=[10], base=first, merge=one)
    repo.pull(2, title="Name", labels=["a11y"], base=one, merge=two)
    return github


@pytest.mark.rule("collecting-adds")
def test_a_clone_does_not_replace_what_github_gave(
    store: Store, source: Any, hosted: GitHubDouble, history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    """A build asked for a clone, and collecting from it alone lost all labels, issue texts and GitHub's cursor."""
    history.git("reset", "-q", "--hard", "HEAD~1")
    collect_from(store, REPO, source())
    before = (store.raw(REPO) / "candidates.jsonl").read_bytes()
    assert reasons(store) == {1: "candidate", 2: "candidate"}
    collect(store, REPO, history.folder)
    assert (store.raw(REPO) / "candidates.jsonl").read_bytes() == before
    assert "2 pull requests stay as GitHub gave them" in capsys.readouterr().err
    about = read_json(store.raw(REPO) / "source.json")
    assert (about["kind"], about["commit"]) == ("github", history.git("rev-parse", "HEAD"))
    asked = len(hosted.requests)
    collect_from(store, REPO, source())
    (page,) = (request for request in hosted.requests[asked:] if "first" in request.variables)
    assert page.variables["after"], "it continues after the last run"


@pytest.mark.rule("chosen-by-hand")
def test_a_clone_gives_the_patches_of_what_github_gave_without(
    store: Store, source: Any, hosted: GitHubDouble, history: History
) -> None:
    """A chosen pull request of GitHub keeps its labels; one that the filters rejected has no patches yet."""
    repo = hosted.world.find(str(REPO))
    assert repo
    repo.pull(3, title="Name", files=["src/Menu.tsx"])
    collect_from(store, REPO, source())
    assert reasons(store)[3] == "no_test_changes"
    collect(store, REPO, history.folder, numbers=[2, 3])
    assert reasons(store) == {1: "candidate", 2: "by hand", 3: "by hand"}
    candidate = outcomes(store)[2]
    assert isinstance(candidate, Candidate) and candidate.labels == ("a11y",)


def test_a_second_run_gives_the_same_bytes(store: Store, history: History) -> None:
    names = ("candidates.jsonl", "rejections.jsonl", "funnel.json")
    collect(store, REPO, history.folder)
    before = [(store.raw(REPO) / name).read_bytes() for name in names]
    collect(store, REPO, history.folder)
    assert [(store.raw(REPO) / name).read_bytes() for name in names] == before


def test_issue_texts_come_from_a_file(store: Store, history: History, tmp_path: Path) -> None:
    issues = tmp_path / "issues.jsonl"
    issues.write_text('{"number": 10, "title": "No name", "body": "why"}\n', encoding="utf-8")
    assert collect(store, REPO, history.folder, issues).sample == 1
    (candidate,) = read_records(store.raw(REPO) / "candidates.jsonl", Candidate)
    assert (candidate.statement_source, candidate.resolved_issues[0].title) == ("issue", "No name")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"numbers": [1, 77, 78]}, r"no merged pull request #77, #78 of acme/ui"),
        ({"path": "nowhere"}, "not a git clone"),
        ({"issues": "missing.jsonl"}, r"missing\.jsonl: no such file"),
        ({"issues": "broken.jsonl"}, r"broken\.jsonl:2: field 'number'"),
        ({"issues": "twice.jsonl"}, r"twice\.jsonl: field 'number': 7 is in this file twice, as record 1 and 2"),
    ],
)
def test_bad_input_is_refused_with_nothing_written(
    store: Store, history: History, tmp_path: Path, arguments: dict, message: str
) -> None:
    """With file, line and field, and what to do; what was collected before stays."""
    (tmp_path / "broken.jsonl").write_text('{"number": 1, "title": "t"}\n{"number": "x", "title": "t"}\n')
    (tmp_path / "twice.jsonl").write_text('{"number": 7, "title": "t"}\n{"number": 7, "title": "other"}\n')
    files = {name: tmp_path / value for name, value in arguments.items() if isinstance(value, str)}
    with pytest.raises(UserError, match=message):
        collect(store, REPO, **{"path": history.folder} | arguments | files)
    assert not store.root.exists()


@pytest.mark.rule("bad-input")
def test_a_broken_record_is_refused_before_it_is_replaced(store: Store, history: History) -> None:
    collect(store, REPO, history.folder)
    path = store.raw(REPO) / "rejections.jsonl"
    path.write_text("{}\n")
    candidates = (store.raw(REPO) / "candidates.jsonl").stat().st_mtime_ns
    with pytest.raises(UserError, match=r"rejections\.jsonl:1: field 'instance_id'"):
        collect(store, REPO, history.folder)
    assert path.read_text() == "{}\n"
    assert (store.raw(REPO) / "candidates.jsonl").stat().st_mtime_ns == candidates


def test_a_bare_clone_gives_the_same_records(store: Store, history: History, tmp_path: Path) -> None:
    """A digest of a patch's bytes names it, so these must not depend on how somebody cloned."""
    collect(store, REPO, history.folder)
    git(tmp_path, "clone", "-q", "--bare", str(history.folder), "bare.git")
    other = Store(tmp_path / "other")
    collect(other, REPO, tmp_path / "bare.git")
    for name in ("candidates.jsonl", "rejections.jsonl"):
        assert (store.raw(REPO) / name).read_bytes() == (other.raw(REPO) / name).read_bytes()
