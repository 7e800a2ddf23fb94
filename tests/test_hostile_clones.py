"""Every command that reads a clone, on malicious clones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from factories import REPO
from histories import History
from hostile import commit_tree, folder, graft, made_tree, poison, rows
from tiny_library import LIMITS, Bench, instance_id

from pipeline.build.qualify import Settings
from pipeline.collect.sources import Options, open_source
from pipeline.collect.stage import collect
from pipeline.core.records import Rejection
from pipeline.core.store import Store, read_records
from pipeline.dataset.lock import lock
from pipeline.dataset.rebuild import rebuild
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.predict.stage import Predictor


@pytest.mark.trap("clone-configuration-runs")
@pytest.mark.invariant(5)
def test_no_command_runs_programs_of_a_clone(tiny: Bench, tmp_path: Path) -> None:
    """Collect, build, predict, evaluate and rebuild, on a malicious clone."""
    library = tmp_path / "library"
    shutil.copytree(tiny.library, library)
    poison(library, tmp_path / "ran")
    bench = Bench(tmp_path, library, tiny.cache)
    bench.collect()
    bench.build("menu")
    Predictor(bench.store, REPO, "oracle", "oracle", models=tmp_path / "none.yaml").predict()
    (verdict, *_) = evaluate(bench.store, Subject(REPO, "oracle", "oracle", ""), bench.sandbox, trust_local=True)
    assert verdict.outcome == "resolved"
    again = Store(tmp_path / "again")
    settings = Settings(bench.sandbox, limits=LIMITS)
    opened = open_source("git", REPO, Options(library))
    assert rebuild(again, opened, REPO, [lock(bench.instance("menu"))], settings, trust_local=True) == []
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


@pytest.mark.trap("dot-dot-in-a-tree")
@pytest.mark.parametrize(("name", "mode", "content"), [("..", "100644", "x"), ("link", "120000", "/etc/passwd")])
def test_a_candidate_on_an_unsafe_tree_is_rejected(
    tiny: Bench, tmp_path: Path, name: str, mode: str, content: str
) -> None:
    """By its name, before anything is written; the rest of the batch continues."""
    shutil.copytree(tiny.library, tmp_path / "library")
    library = tmp_path / "library"
    base = graft(library, name, mode, content)
    store = Store(tmp_path / "data")
    collect(store, REPO, library)
    bench = Bench(tmp_path, library, tiny.cache)
    path = store.raw(REPO) / "candidates.jsonl"
    path.write_text(_rebased(path.read_text(), bench.candidate("menu").base.sha, base))
    outcome = bench.build("menu")["menu"]
    assert isinstance(outcome, Rejection)
    assert (outcome.reason, repr(name)[1:-1] in outcome.detail) == ("unsafe_path", True)
    assert not (tmp_path / "evil.txt").exists()
    assert bench.build("badge")["badge"].instance_id == instance_id("badge")


@pytest.mark.trap("dot-dot-in-a-tree")
def test_a_link_that_was_always_there_rejects_only_its_candidates(tiny: Bench, tmp_path: Path) -> None:
    """It is in the base and in the merged tree, which is searched for the files that only tests import."""
    shutil.copytree(tiny.library, tmp_path / "library")
    base = graft(tmp_path / "library", "etc", "120000", "/etc/hostname")
    collect(Store(tmp_path / "data"), REPO, tmp_path / "library")
    bench = Bench(tmp_path, tmp_path / "library", tiny.cache)
    path, menu = bench.store.raw(REPO) / "candidates.jsonl", bench.candidate("menu")
    path.write_text(_rebased(path.read_text(), menu.base.sha, base).replace(menu.merge_sha, base))
    outcomes = bench.build("menu", "badge")
    assert outcomes["menu"].reason == "unsafe_path"
    assert outcomes["badge"].instance_id == instance_id("badge")


def _rebased(text: str, before: str, base: str) -> str:
    """The first candidate with another base."""
    return text.replace(f'"sha":"{before}"', f'"sha":"{base}"', 1).replace(f'"sha": "{before}"', f'"sha": "{base}"', 1)


@pytest.mark.trap("dot-dot-in-a-tree")
def test_a_pull_request_that_changes_an_unsafe_file_is_rejected(tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    history.commit("first", {"src/Menu.tsx": "1\n"})
    graft(history.folder, "..", "100644", "x")
    up, *_ = rows(history.folder)
    changed = folder(history.folder, {"Menu.tsx": "2\n", "Menu.test.tsx": "2\n"})
    tree = made_tree(history.folder, [up, f"40000 {changed} src"])
    commit_tree(history.folder, tree, "HEAD~1", "Aria and more (#2)")
    store = Store(tmp_path / "data")
    collect(store, REPO, history.folder)
    rejections = read_records(store.raw(REPO) / "rejections.jsonl", Rejection)
    assert ("acme__ui-2", "unsafe_path") in [(rejection.instance_id, rejection.reason) for rejection in rejections]
