"""The place of a clone is a fact about the machine: data directories and clones can move, and everything still
works."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from factories import REPO
from histories import History, git

from pipeline.collect.stage import collect
from pipeline.core.clones import adopt_clone_path, adopt_clone_paths, find, public_url, recollect, remember
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.store import Store, read_json, write_json
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.predict.stage import Predictor


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that knows no clone."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.delenv("A11Y_BENCH_CLONES", raising=False)
    return tmp_path / "configuration" / "a11y-bench" / "clones.json"


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first")
    made.commit("Aria (#1)", {"src/Menu.tsx": "1\n", "src/Menu.test.tsx": "1\n"})
    return made


@pytest.fixture
def store(tmp_path: Path, history: History) -> Store:
    """A data directory collected from the clone."""
    made = Store(tmp_path / "data")
    collect(made, REPO, history.folder)
    return made


def place(store: Store) -> Path:
    return find(store, REPO).place


@pytest.mark.rule("no-clone-path")
def test_data_contain_no_path_of_the_clone(store: Store, history: History) -> None:
    """Only this machine's list has it."""
    about = read_json(store.raw(REPO) / "source.json")
    assert about == {"kind": "git", "commit": history.git("rev-parse", "HEAD")}
    texts = {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}
    assert [path for path, text in texts.items() if str(history.folder).encode() in text] == []
    assert place(store) == history.folder / ".git"


@pytest.mark.rule("no-clone-path")
def test_data_and_clone_move(store: Store, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also to another machine: an environment variable, the data directory, or the next collect says where the clone
    is."""
    moved = Store(shutil.move(store.root, tmp_path / "elsewhere"))
    assert place(moved) == history.folder / ".git"
    for name in ("acme/ui", "acme__ui", "ui", "ui.git"):
        folder = tmp_path / "clones" / name.replace("/", "-")
        shutil.copytree(history.folder, folder / name)
        monkeypatch.setenv("A11Y_BENCH_CLONES", str(folder))
        assert place(moved) == folder / name / ".git"
    monkeypatch.delenv("A11Y_BENCH_CLONES")
    shutil.move(history.folder, tmp_path / "other place")
    with pytest.raises(UserError):
        find(moved, REPO)
    git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "other place"), str(moved.raw(REPO) / "clone"))
    assert place(moved) == moved.raw(REPO) / "clone"
    collect(moved, REPO, tmp_path / "other place")
    assert place(moved) == tmp_path / "other place" / ".git"


@pytest.mark.rule("no-clone-path")
def test_another_clone_is_accepted_when_it_holds_the_commit(store: Store, history: History, tmp_path: Path) -> None:
    other = History(tmp_path / "other")
    other.commit("something else")
    remember(REPO, other.folder)
    assert place(store) == history.folder / ".git"
    history.commit("later")
    assert place(store) == history.folder / ".git"


@pytest.mark.rule("bad-input")
def test_the_error_lists_the_places_and_a_hint(
    store: Store, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(history.folder)
    other = History(tmp_path / "clones" / "ui")
    other.commit("something else")
    monkeypatch.setenv("A11Y_BENCH_CLONES", str(tmp_path / "clones"))
    with pytest.raises(UserError) as error:
        find(store, REPO)
    text = str(error.value)
    assert f"no clone of acme/ui has the commit {read_json(store.raw(REPO) / 'source.json')['commit']}" in text
    assert f"{other.folder}: it has no commit" in text
    assert f"{history.folder / '.git'}: nothing is there" in text
    assert "just collect-run acme/ui --path CLONE" in text and "A11Y_BENCH_CLONES" in text
    with pytest.raises(UserError, match="acme/forms is not collected"):
        find(store, Repo("acme", "forms"))


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("git", "--path CLONE"),
        ("github", "--source github --path CLONE"),
        ("dataset", "--source dataset --path FILE --clone CLONE"),
        (["odd"], "--path CLONE"),
    ],
)
def test_hints_name_the_kind_of_source(store: Store, history: History, kind: object, options: str) -> None:
    """Collecting from another kind decides on every pull request again, without its labels and issue texts."""
    path = store.raw(REPO) / "source.json"
    write_json(path, read_json(path) | {"kind": kind})
    shutil.rmtree(history.folder)
    with pytest.raises(UserError, match=f"name one: just collect-run acme/ui {options}, or a folder"):
        find(store, REPO)
    assert recollect(store, REPO) == f"just collect-run acme/ui {options}"
    write_json(path, {"kind": kind, "path": 3})
    with pytest.raises(UserError, match=f"collect again: just collect-run acme/ui {options}$"):
        adopt_clone_path(store, REPO)


def test_a_new_repository_is_collected_from_a_clone(store: Store) -> None:
    assert recollect(store, Repo("acme", "forms")) == "just collect-run acme/forms --path CLONE"


@pytest.mark.rule("no-clone-path")
@pytest.mark.parametrize("by_migration", [True, False])
def test_a_clone_path_in_old_data_moves_to_the_machines_list(
    store: Store, history: History, machine: Path, by_migration: bool
) -> None:
    machine.unlink()
    path, clone = store.raw(REPO) / "source.json", str(history.folder / ".git")
    write_json(path, {"kind": "git", "path": clone})
    if by_migration:
        adopt_clone_paths(store)
    else:
        assert place(store) == Path(clone)
    assert read_json(path) == {"kind": "git", "commit": history.git("rev-parse", "HEAD")}
    assert read_json(machine) == {"acme/ui": [clone]}
    assert place(store) == Path(clone)


def test_old_data_without_their_clone_are_adopted(store: Store, history: History, machine: Path) -> None:
    write_json(store.raw(REPO) / "source.json", {"kind": "dataset", "file": "/somewhere/set.jsonl", "path": "/gone"})
    adopt_clone_paths(store)
    assert read_json(store.raw(REPO) / "source.json") == {"kind": "dataset", "file": "set.jsonl"}


def test_missing_clones_are_removed_from_the_list(machine: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        remember(REPO, tmp_path / name)
    assert read_json(machine) == {"acme/ui": [str(tmp_path / "other"), str(tmp_path / "one")]}
    (tmp_path / "other").rmdir()
    remember(REPO, tmp_path / "one")
    assert read_json(machine) == {"acme/ui": [str(tmp_path / "one")]}


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ("https://github.com/acme/ui.git", "https://github.com/acme/ui.git"),
        ("https://ann:ghp_secret@github.com/acme/ui?token=x#y", "https://github.com/acme/ui"),
        ("ssh://git@github.com:22/acme/ui", "ssh://github.com:22/acme/ui"),
        ("git@github.com:acme/ui.git", "github.com:acme/ui.git"),
        ("/home/ann/clones/ui", ""),
        ("file:///home/ann/clones/ui", ""),
        ("../ui", ""),
        ("", ""),
        ("HTTPS://ann:ghp_secret@github.com/acme/ui", "https://github.com/acme/ui"),
        ("http://ann:ghp_secret@[::1]:8080/acme/ui", "http://[::1]:8080/acme/ui"),
        ("https://[github.com/acme/ui", ""),
        ("git+ssh://ann:ghp_secret@github.com/acme/ui", ""),
        ("ann:ghp_secret@github.com:acme/ui", ""),
        ("ext::sh -c ghp_secret", ""),
    ],
)
def test_a_remote_is_stored_without_credentials(url: str, stored: str) -> None:
    assert public_url(url) == stored


def test_the_remote_is_recorded(store: Store, history: History) -> None:
    history.git("remote", "add", "origin", "https://ann:ghp_secret@github.com/acme/ui")
    collect(store, REPO, history.folder)
    assert read_json(store.raw(REPO) / "source.json")["remote"] == "https://github.com/acme/ui"


@pytest.mark.rule("no-clone-path")
def test_built_and_evaluated_data_contain_no_path_of_the_clone(tiny, tmp_path: Path, machine: Path) -> None:
    """Logs contain paths; records, manifests and recipes of images do not."""
    bench = tiny.copy(tmp_path)
    remember(REPO, bench.library)
    Predictor(bench.store, REPO, "oracle", "oracle", models=tmp_path / "none.yaml").predict()
    evaluate(bench.store, Subject(REPO, "oracle", "oracle", ""), bench.sandbox, trust_local=True)
    found = [path for path in bench.store.root.rglob("*") if path.is_file() and not path.name.endswith(".log")]
    assert len(found) > 20
    assert [path for path in found if str(bench.library).encode() in path.read_bytes()] == []
