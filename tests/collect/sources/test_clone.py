"""The source `git`: a clone must be deep and complete enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from collecting import outcomes, reasons
from factories import REPO
from histories import History, git

from pipeline.collect.sources import SOURCES, Options, open_source
from pipeline.collect.stage import collect
from pipeline.core.errors import UserError
from pipeline.core.records import Rejection
from pipeline.core.store import Store


def aria(number: int) -> tuple[str, dict[str, str]]:
    return f"Aria (#{number})", {"src/Menu.tsx": f"{number}\n", "src/Menu.test.tsx": f"{number}\n"}


@pytest.mark.rule("bad-input")
def test_a_shallow_clone_is_refused(store: Store, tmp_path: Path) -> None:
    """Its oldest commit seems to have created every file."""
    history = History(tmp_path / "clone")
    for number in range(3):
        history.commit(*aria(number))
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{history.folder}", "shallow")
    with pytest.raises(UserError, match="shallow clone has no history"):
        collect(store, REPO, tmp_path / "shallow")
    assert not store.root.exists()


@pytest.mark.invariant(7)
def test_a_missing_file_rejects_only_pull_requests_that_touch_it(store: Store, tmp_path: Path) -> None:
    """A clone may lack a large video: only a pull request that touches it is rejected, for that reason."""
    history = History(tmp_path / "clone")
    history.commit("first", {"public/video.mp4": b"\0video", "src/Menu.tsx": "0\n"})
    history.commit(*aria(1))
    title, files = aria(2)
    history.commit(title, files | {"public/video.mp4": b"\0other"})
    history.lose("HEAD~1", "public/video.mp4")
    collect(store, REPO, history.folder)
    assert reasons(store) == {1: "candidate", 2: "base_missing"}


@pytest.mark.invariant(7)
def test_a_path_that_is_not_utf8_rejects_only_its_pull_request(store: Store, tmp_path: Path) -> None:
    """Such a test was left out of the test patch; in a rebased pull request, or in a rejection, it ended the run."""
    history = History(tmp_path / "clone")
    history.commit("first", {"src/Menu.tsx": "0\n"})
    history.commit("Aria (#1)", {"src/Menu.tsx": "1\n", "src/caf\udce9.test.tsx": "1\n"})
    history.commit(*aria(2))
    history.commit("Aria (#3)", {"src/Menu.tsx": "3\n"})
    history.commit("Aria again (#3)", {"src/na\udcefve.test.tsx": "3\n"})
    history.commit("Aria (#4)", {"src/na\udcefve.tsx": "4\n"})
    collect(store, REPO, history.folder)
    assert reasons(store) == {1: "not_utf8", 2: "candidate", 3: "not_utf8", 4: "no_test_changes"}
    rejection = outcomes(store)[4]
    assert isinstance(rejection, Rejection) and rejection.detail == "src/na\\udcefve.tsx"


def test_pages_contain_everything_once(tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    history.commit("first")
    for number in range(1, 6):
        history.commit(*aria(number))
    source = open_source("git", REPO, Options(history.folder))
    assert [pull.pull.number for page in source.pages("") for pull in page.pulls] == [5, 4, 3, 2, 1]


def test_missing_or_wrong_options_are_refused() -> None:
    with pytest.raises(UserError, match="no clone is given\n  add --path CLONE .*, or --source github"):
        open_source("git", REPO, Options())
    with pytest.raises(UserError, match="unknown source 'svn'\n  available: dataset, git, github"):
        open_source("svn", REPO, Options())
    with pytest.raises(UserError, match="the source github brings its own issues"):
        open_source("github", REPO, Options(issues=Path("issues.jsonl")))


def test_every_source_has_a_module() -> None:
    from importlib import import_module

    assert all(callable(import_module(module).open_source) for module, _ in SOURCES.values())
