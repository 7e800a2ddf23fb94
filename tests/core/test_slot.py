"""A unit on a worker's machine: its paths, its clone, its gateway, and the process that performs it."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pytest
from histories import History, git
from work_requests import Sandboxed, Square

from pipeline.core import packs, slot
from pipeline.core.slot import Order, Slots


class Pair(NamedTuple):
    path: str
    number: int


@dataclass(frozen=True)
class Task:
    clone: str
    folder: Path
    names: tuple[str, ...] = ()
    computed: int = field(init=False, default=7)


MOVES = {"/home/ann/.cache": "/var/cache", "/home/ann": "/srv/bench"}


@pytest.mark.parametrize(
    ("value", "moved"),
    [
        ("/home/ann/clone", "/srv/bench/clone"),
        ("/home/ann", "/srv/bench"),
        ("/home/anna/clone", "/home/anna/clone"),
        ("/home/ann/.cache/x", "/var/cache/x"),
        ("see /home/ann", "see /home/ann"),
        ("", ""),
        (Path("/home/ann/a b"), Path("/srv/bench/a b")),
        (("/home/ann/a", 1, None), ("/srv/bench/a", 1, None)),
        ({"/home/ann": "/home/ann/a"}, {"/home/ann": "/srv/bench/a"}),
        (Pair("/home/ann/a", 2), Pair("/srv/bench/a", 2)),
        (
            Task("/home/ann/c", Path("/home/ann/f"), ("/home/ann/n",)),
            Task("/srv/bench/c", Path("/srv/bench/f"), ("/srv/bench/n",)),
        ),
        (Task, Task),
        (b"/home/ann", b"/home/ann"),
        (3.5, 3.5),
    ],
    ids=repr,
)
def test_paths_of_the_coordinator_become_those_of_the_worker(value: Any, moved: Any) -> None:
    """The first matching folder counts; a name that merely starts the same is another folder."""
    found = slot._moved(value, MOVES)
    assert found == moved and type(found) is type(moved)


def test_equal_paths_are_not_rewritten() -> None:
    value = Task("/a", Path("/b"))
    assert slot._moved(value, {"/a": "/a", "/c": "/c"}) is value


def test_the_order_of_paths_is_the_same_on_every_machine() -> None:
    cache, project = slot.places()
    assert Path(project, "pipeline", "core", "slot.py").is_file()
    assert PurePosixPath(cache).is_absolute() and cache != project


def test_the_digest_of_the_program_ignores_compiled_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def digest() -> str:
        slot.code.cache_clear()
        return slot.code()

    package = tmp_path / "pipeline"
    (package / "__pycache__").mkdir(parents=True)
    (package / "a.py").write_text("A = 1\n")
    monkeypatch.setattr(slot, "PROJECT", tmp_path)
    first = digest()
    (package / "__pycache__/a.pyc").write_bytes(b"compiled")
    assert digest() == first
    (package / "a.py").rename(package / "b.py")
    renamed = digest()
    (package / "b.py").write_text("A = 2\n")
    assert len({first, renamed, digest()}) == 3
    monkeypatch.undo()
    slot.code.cache_clear()


@pytest.mark.parametrize("path", ["", "/chat/completions?a=b"])
def test_the_reachability_of_a_gateway_is_checked(path: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert slot._is_reachable(f"http://127.0.0.1:{port}{path}")
    assert not slot._is_reachable(f"http://127.0.0.1:{port}{path}")


def order(clone: str, commits: tuple[str, ...] = ()) -> Order:
    return Order("unit", "topic", b"", "code", (), clone, "0" * 16, commits)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_existing_clone_is_used(cache: Path, tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    commits = history.commit("first", {"a": "1"}), history.commit("second", {"a": "2"})
    for named in ((), commits[:1], commits):
        assert slot._clone(order(str(history.folder), named), None) == str(history.folder)
    assert slot._clone(order(""), None) == ""


def test_an_older_clone_at_the_same_place_is_not_used(cache: Path, tmp_path: Path) -> None:
    """Every newer unit failed on such a worker, since its clone has no such commit."""
    history = History(tmp_path / "coordinator")
    old = history.commit("first", {"a": "1"})
    git(tmp_path, "clone", "-q", str(history.folder), str(tmp_path / "worker"))
    new = history.commit("second", {"a": "2"})
    here = order(str(tmp_path / "worker"), (old, new))
    assert slot._clone(here, None) is None
    copy = slot._clone(here, packs.pack(history.folder, here.commits))
    assert copy == slot._clone(here, None) == str(packs.copy_of(here.key))
    assert slot._clone(here._replace(commits=(old,)), None) == here.clone
    git(tmp_path / "worker", "fetch", "-q")
    assert slot._clone(here, None) == here.clone


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("commits", [(), ("a" * 40,)])
def test_missing_objects_are_requested(cache: Path, tmp_path: Path, commits: tuple[str, ...], exists: bool) -> None:
    """The worker says which commits it has, and the coordinator sends the rest. A folder may be no clone."""
    folder = tmp_path / "folder"
    if exists:
        folder.mkdir()
    assert slot._clone(order(str(folder), commits), None) is None


@pytest.fixture
def slots() -> Iterator[Slots]:
    opened = Slots()
    yield opened
    for process in opened._idle:
        process.end()


def test_a_process_performs_units_in_turn_and_sends_events(slots: Slots) -> None:
    told = list[tuple[str, Any]]()
    results = [slots.perform(f"{n}", Square(n), lambda *what: told.append(what)) for n in (3, 4)]
    assert [(kind, pickle.loads(value)) for kind, value in results] == [("result", 9), ("result", 16)]
    events = [event for kind, event in told if kind == "event"]
    assert [event.unit for event in events] == ["square of 3", "square of 4"]
    assert events[0].data == events[1].data != os.getpid()


def test_a_failed_unit_gives_its_failure_result(slots: Slots) -> None:
    kind, value = slots.perform("a", Square(1, ways="raises"), lambda *_: None)
    assert (kind, pickle.loads(value)) == ("result", "ValueError: no number")


def test_a_machine_without_a_sandbox_is_unfit(slots: Slots, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit is no failure: another machine can perform it, and this one as well once it has what is missing."""
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(cache))
    kind, value = slots.perform("a", Sandboxed(1, str(cache)), lambda *_: None)
    assert kind == "unfit"
    assert value.startswith(f"on {socket.gethostname()}: not installed: ")
    assert value.endswith("; install Node with npm, and git")
    slots._idle.pop().end()
    monkeypatch.setenv("PATH", path)
    assert slots.perform("a", Sandboxed(1, str(cache)), lambda *_: None) == ("result", pickle.dumps(1))


@pytest.mark.parametrize(
    ("cause", "kind"), [("disk", "full"), ("engine", "unfit"), ("sandbox", "unfit"), ("registry", "result")]
)
def test_a_failure_of_the_machine_is_no_result(slots: Slots, cause: str, kind: str) -> None:
    """A registry is as far away from another machine."""
    found, value = slots.perform("a", Square(1, ways=cause), lambda *_: None)
    assert (found, "the machine failed" in str(value)) == (kind, True)


def test_a_unit_that_ends_its_process_affects_no_other(slots: Slots) -> None:
    assert slots.perform("a", Square(1, ways="dies"), lambda *_: None) == (
        "died",
        "the process that worked on it ended with 7",
    )
    assert slots.perform("b", Square(2), lambda *_: None) == ("result", pickle.dumps(4))
    assert slots._busy == {}


def test_stopping_an_ended_unit_does_nothing() -> None:
    """When a coordinator stops, it stops all its units, even those that have just ended."""
    slots = Slots()
    slots.stop("gone")
    slots.stop()
    assert slots._busy == {} and slots._idle == []
