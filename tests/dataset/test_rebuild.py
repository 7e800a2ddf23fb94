"""A dataset from its list: rebuilt from a clone or GitHub, and compared fact by fact."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from factories import REPO, make_instance, make_rejection
from github_double import GitHubDouble, World
from histories import History, git
from tiny_library import LIMITS, NUMBERS, QUALIFIED, Bench, instance_id

from pipeline.build.qualify import Settings
from pipeline.build.stage import build
from pipeline.collect.sources import Options, open_source
from pipeline.collect.stage import collect_from
from pipeline.core.clones import find
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.git import has_commit, open_clone
from pipeline.core.records import Candidate, Instance
from pipeline.core.store import Store, read_json, read_records, write_bytes
from pipeline.dataset import forms
from pipeline.dataset.cli import command
from pipeline.dataset.lock import Lock, lines, lock
from pipeline.dataset.rebuild import ABSENT, Difference, clone_of, differences, read_list, rebuild, source_of
from pipeline.triage import exchange

FILES = {"menu": ["src/menu.js", "src/menu.test.js"], "badge": ["src/badge.js", "src/badge.test.js"]}


@pytest.fixture
def bench(tiny: Bench, tmp_path: Path) -> Bench:
    """An empty data directory for the library, with existing environments."""
    return Bench(tmp_path, tiny.library, tiny.cache)


def locks(tiny: Bench, *names: str) -> list[Lock]:
    return [lock(tiny.instance(name)) for name in names]


def again(bench: Bench, entries: list[Lock], ratings: Path | None = None, **source: Any) -> list[Difference]:
    opened = open_source(source.pop("name", "git"), REPO, Options(source.pop("path", bench.library)))
    settings = Settings(bench.sandbox, limits=LIMITS)
    return rebuild(
        bench.store,
        opened,
        REPO,
        entries,
        settings,
        ratings=exchange.read(ratings) if ratings else (),
        trust_local=True,
    )


@pytest.mark.rule("rebuild")
@pytest.mark.long
def test_a_dataset_is_made_again(tiny: Bench, bench: Bench) -> None:
    """The list gives the number of repeats: an instance qualified by two runs is not compared with one of three."""
    assert again(bench, locks(tiny, *QUALIFIED)) == []
    fresh = read_records(bench.store.dataset(REPO), Instance)
    assert lines(fresh) == lines(read_records(tiny.store.dataset(REPO), Instance))
    assert {candidate.chosen_by_hand for candidate in fresh} == {True}


@pytest.mark.rule("rebuild")
def test_a_lost_instance_is_a_difference(tiny: Bench, bench: Bench) -> None:
    """Whether stage 01 or 02 rejects it."""
    entries = locks(tiny, "menu")
    renamed = [entries[0].model_copy(update={"instance_id": instance_id(name)}) for name in ("dialog", "hint")]
    found = again(bench, [*entries, *renamed])
    assert found == [
        Difference(instance_id("dialog"), "outcome", "qualified", "rejected: regression"),
        Difference(instance_id("hint"), "outcome", "qualified", "rejected: no_fix_transition"),
    ]


@pytest.mark.rule("rebuild")
def test_a_second_rebuild_runs_nothing_again(tiny: Bench, bench: Bench) -> None:
    assert again(bench, locks(tiny, "menu")) == []
    opened = len(bench.sandbox.opened)
    assert again(bench, locks(tiny, "menu")) == []
    assert len(bench.sandbox.opened) == opened


@pytest.mark.rule("rebuild")
def test_a_reworked_statement_is_restored_from_the_ratings(
    tiny: Bench, bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list has only its digest: without the ratings two facts differ, with the viewer's export none."""
    text, name = "Arrow keys do not move the focus.", instance_id("menu")
    (made,) = (tiny.instance("menu").model_copy(update={"statement_source": "review", "statement": text}),)
    entries = [lock(made), *locks(tiny, "badge")]
    assert [difference.fact for difference in again(bench, entries)] == ["statement", "statement_source"]
    assert f"{name}: reviewers rewrote the statement" in capsys.readouterr().err
    others = {"instance_id": "acme__ui-9999", "review_status": "super"}
    export = [{"instance_id": name, "review_status": "reworked", "custom_problem_statement": text}, others]
    (tmp_path / "metadata.json").write_text(json.dumps(export))
    assert again(bench, entries, tmp_path / "metadata.json") == []
    assert "reviewers rewrote" not in capsys.readouterr().err
    (fresh,) = [
        instance for instance in read_records(bench.store.dataset(REPO), Instance) if instance.instance_id == name
    ]
    assert fresh.task().statement[0].body == text


@pytest.mark.rule("rebuild")
def test_a_pull_request_that_the_source_lacks_is_a_difference(
    tiny: Bench, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    """For example a clone that is one fetch behind: the rest of the list is built and compared."""
    entries = locks(tiny, "menu", "badge")
    missing = entries[0].model_copy(update={"instance_id": "acme__ui-77"})
    found = again(bench, [missing, *entries])
    assert found == [Difference("acme__ui-77", "outcome", "qualified", "not collected")]
    assert "left out: no merged pull request #77 of acme/ui\n  check that it is merged" in capsys.readouterr().err
    assert [instance.instance_id for instance in read_records(bench.store.dataset(REPO), Instance)] == [
        instance_id("menu"),
        instance_id("badge"),
    ]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--issues", "the source github brings its own issues"),
        ("--ratings", "rows: a list or an object of ratings is expected"),
        ("--dataset", "'--dataset': Path"),
    ],
)
def test_files_are_checked_before_anything_is_downloaded_or_written(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, says: str
) -> None:
    """The repository was cloned, and its records were written, before a broken file was refused."""
    monkeypatch.setenv("GITHUB_SERVER_URL", str(tmp_path / "nowhere"))
    (tmp_path / "list.jsonl").write_bytes(lines([tiny.instance("menu")]))
    (tmp_path / "rows").write_text("7")
    file = tmp_path / ("none" if option == "--dataset" else "rows")
    words = ["rebuild", str(tmp_path / "list.jsonl"), "--github", option, str(file)]
    shown = CliRunner().invoke(command, [*words, "--sandbox", "local", "--data", str(tmp_path / "data")])
    assert says in f"{shown.output}{shown.stderr}{shown.exception}"
    assert not (tmp_path / "data").exists()


@pytest.mark.rule("bad-input")
def test_a_source_that_lacks_every_pull_request_is_refused_before_any_work(tiny: Bench, bench: Bench) -> None:
    entry = locks(tiny, "menu")[0].model_copy(update={"instance_id": "acme__ui-77"})
    with pytest.raises(UserError, match="no merged pull request #77 of acme/ui"):
        again(bench, [entry])
    assert not bench.store.dataset(REPO).exists()


@pytest.mark.rule("foreign-benchmarks")
def test_a_list_of_a_foreign_benchmarks_records(tiny: Bench, bench: Bench, tmp_path: Path) -> None:
    """Rebuilt from the benchmark's record on its base, and never from the history by number."""
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_bytes(forms.lines("swe-bench", [tiny.instance("menu")]))
    opened = open_source("dataset", REPO, Options(theirs, clone=bench.library))
    collect_from(bench.store, REPO, opened)
    (built,) = build(bench.store, REPO, Settings(bench.sandbox, 1, LIMITS), trust_local=True)
    entries = [lock(built)]
    assert (entries[0].origin, entries[0].merge) == ("theirs.jsonl", tiny.instance("menu").merge_sha)
    with pytest.raises(UserError, match="the list was made from records of theirs.jsonl"):
        source_of(bench.store, REPO, entries, bench.library, None, None, github=False)
    fresh = Bench(tmp_path / "fresh", tiny.library, tiny.cache)
    source = source_of(bench.store, REPO, entries, bench.library, None, theirs, github=False)
    assert rebuild(fresh.store, source, REPO, entries, Settings(fresh.sandbox, limits=LIMITS), trust_local=True) == []


@pytest.mark.rule("rebuild")
def test_the_scope_of_the_list_is_used(tiny: Bench, bench: Bench) -> None:
    """This library's runner takes the files that it is given: without any, it runs no test."""
    entry = locks(tiny, "menu")[0].model_copy(update={"scope": "full"})
    assert again(bench, [entry]) == [Difference(entry.instance_id, "outcome", "qualified", "rejected: no_tests_run")]


@pytest.mark.rule("rebuild")
def test_a_test_that_the_list_calls_flaky_stays_in_quarantine(tiny: Bench, bench: Bench) -> None:
    """Here, all its repeats agree. A later build of the same data directory, which has no list, keeps it in
    quarantine."""
    (entry,) = locks(tiny, "menu")
    (kept,) = (name for name, kind in tiny.instance("menu").tests.items() if kind == "PPP")
    tests = {name: kind for name, kind in tiny.instance("menu").tests.items() if name != kept}
    flaky = lock(tiny.instance("menu").model_copy(update={"tests": tests, "quarantine": {kept: {}}}))
    assert again(bench, [entry]) == []
    assert again(bench, [flaky]) == []
    (rebuilt,) = build(bench.store, REPO, Settings(bench.sandbox, 1, LIMITS), trust_local=True)[:1]
    assert rebuilt.quarantine == {kept: {}}


@pytest.mark.rule("rebuild")
def test_the_memory_limit_of_the_list_is_used(tiny: Bench, bench: Bench) -> None:
    """And of that list only: an instance with more memory was qualified with more."""
    plain, large = locks(tiny, "menu", "badge")
    large = large.model_copy(update={"memory": 6 * 2**30})
    assert again(bench, [plain, large]) == []
    built = {
        instance.instance_id: lock(instance).memory for instance in read_records(bench.store.dataset(REPO), Instance)
    }
    assert built == {plain.instance_id: plain.memory, large.instance_id: large.memory}


# -- comparing -------------------------------------------------------------------------------------------------------
TESTS = {"m.test.ts > a": "PFP", "m.test.ts > b": "PPP"}


@pytest.mark.rule("rebuild")
def test_every_fact_that_differs_is_named() -> None:
    listed = lock(make_instance(tests=TESTS, files=("m.test.ts", "n.test.ts")))
    quarantine = {"m.test.ts > b": {"fix": {"PASSED": 2, "FAILED": 1}}}
    changed = {"merge_sha": "d" * 40, "files": ("m.test.ts",), "quarantine": quarantine}
    rebuilt = make_instance(tests={"m.test.ts > a": "NFP"}, **changed)
    assert [tuple(difference)[1:] for difference in differences(listed, rebuilt)] == [
        ("files: n.test.ts", "listed", ABSENT),
        ("merge", "c" * 40, "d" * 40),
        ("quarantine: m.test.ts > b", ABSENT, "listed"),
        ("test: m.test.ts > a", "PFP", "NFP"),
        ("test: m.test.ts > b", "PPP", ABSENT),
    ]


def test_an_equal_instance_has_no_difference_and_a_rejection_has_one() -> None:
    instance = make_instance(tests=TESTS)
    assert list(differences(lock(instance), instance)) == []
    (found,) = differences(lock(instance), make_rejection())
    assert (found.fact, found.rebuilt) == ("outcome", "rejected: regression")


# -- lists -----------------------------------------------------------------------------------------------------------
def entry(**changed: Any) -> bytes:
    """A list of one instance, with changed facts."""
    return json.dumps({**json.loads(lines([make_instance(1)])), **changed}).encode() + b"\n"


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "the list is missing or empty"),
        (b"{}\n", r"list\.jsonl:1: field 'instance_id'"),
        (entry(instance_id="nonsense"), r"list\.jsonl:1: field 'instance_id': not the name of an instance"),
        (entry(repeats=0), r"list\.jsonl:1: field 'repeats'"),
        (entry(memory=-5), r"list\.jsonl:1: field 'memory'"),
        (entry() + entry(), r"list\.jsonl: field 'instance_id': acme__ui-1 is in this file twice"),
        (lines([make_instance(), make_instance(2, REPO._replace(org="other"))]), "the list has 2 repositories"),
    ],
)
def test_an_unusable_list_is_refused(tmp_path: Path, text: bytes, says: str) -> None:
    write_bytes(tmp_path / "list.jsonl", text)
    with pytest.raises(UserError, match=says):
        read_list(tmp_path / "list.jsonl")


# -- GitHub ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("rebuild")
def test_rebuilding_from_github_makes_a_clone(
    tiny: Bench, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issues from the API, sources from a clone that is made once; neither contains the token."""
    git(tmp_path, "clone", "-q", "--bare", str(tiny.library), str(tmp_path / "server" / "acme" / "ui"))
    world = World()
    _pulls(world, tiny)
    with GitHubDouble(world) as github:
        for name, value in {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": "ghp_not-to-be-seen"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("GITHUB_SERVER_URL", f"file://{tmp_path}/server")
        clone = clone_of(bench.store, REPO)
        assert clone == clone_of(bench.store, REPO)
        assert again(bench, locks(tiny, *FILES), name="github", path=clone) == []
    about = read_json(bench.store.raw(REPO) / "source.json")
    assert about["kind"] == "github" and str(tmp_path) not in str(about)
    assert find(bench.store, REPO).place == clone
    assert "not-to-be-seen" not in (clone / "config").read_text()


@pytest.mark.rule("rebuild")
def test_the_clone_of_an_older_list_gets_newer_commits(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was never updated, so that newer pull requests were rejected for ever."""
    history = History(tmp_path / "server/acme/ui")
    base, merge = history.commit("first", {"a.js": "1"}), history.commit("second", {"a.js": "2"})
    monkeypatch.setenv("GITHUB_SERVER_URL", f"file://{tmp_path}/server")
    listed = lock(make_instance(1)).model_copy(update={"base": base, "merge": merge, "manifests": base})
    clone = clone_of(bench.store, REPO, [listed])
    newer = listed.model_copy(update={"merge": history.commit("third", {"a.js": "3"})})
    monkeypatch.setenv("GITHUB_SERVER_URL", "file:///nowhere")
    assert clone_of(bench.store, REPO, [listed]) == clone, "nothing is missing, so nothing is fetched"
    with pytest.raises(InfrastructureError, match="acme/ui cannot be fetched"):
        clone_of(bench.store, REPO, [newer])
    monkeypatch.setenv("GITHUB_SERVER_URL", f"file://{tmp_path}/server")
    assert has_commit(open_clone(clone_of(bench.store, REPO, [newer])), newer.merge)


def _pulls(world: World, tiny: Bench) -> None:
    """The library's pull requests in GitHub's form."""
    repo = world.repository(str(REPO), clone=tiny.library)
    candidates = read_records(tiny.store.raw(REPO) / "candidates.jsonl", Candidate)
    for name, files in FILES.items():
        one = next(candidate for candidate in candidates if candidate.number == NUMBERS[name])
        about = {"title": one.title, "merged_at": one.merged_at, "base": one.base.sha, "merge": one.merge_sha}
        repo.pull(one.number, files=files, **about)


def test_a_clone_that_cannot_be_made_is_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next call tries again: an incomplete clone is not used."""
    monkeypatch.setenv("GITHUB_SERVER_URL", f"file://{os.devnull}")
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="acme/ui cannot be cloned"):
            clone_of(bench.store, REPO)
    assert Store(bench.store.root).raw(REPO).exists()
