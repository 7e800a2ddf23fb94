"""The patch of an agent's checkout, made in a folder of this machine, and who is to blame for a full disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from histories import History

from pipeline.core.errors import InfrastructureError
from pipeline.predict import container
from pipeline.predict.container import _patch
from pipeline.predict.request import AgentFailed
from pipeline.sandbox.base import Completed, Limits
from pipeline.sandbox.images import Kit
from pipeline.sandbox.local.workspace import LocalWorkspace, copy
from pipeline.sandbox.scripted import ScriptedSandbox


@pytest.fixture
def room(tmp_path: Path) -> LocalWorkspace:
    """A checkout with a text in Latin-1."""
    history = History(tmp_path / "library")
    history.commit("base", {"src/Menu.js": "<nav>\n", "src/old.js": "é\n".encode("latin-1")})
    workspace = LocalWorkspace(tmp_path / "room", Path("/nowhere"), Limits(seconds=60))
    copy(history.folder, Path(workspace.root))
    return workspace


def applied(room: LocalWorkspace, patch: bytes) -> None:
    """Apply a patch to the checkout's commit."""
    room.run(["git", "stash", "-q", "--include-untracked"])
    room.write(f"{room.scratch}/given", patch)
    assert room.run(["git", "apply", f"{room.scratch}/given"]).code == 0


@pytest.mark.rule("agent-diff")
@pytest.mark.parametrize("attributes", ["", "*.js diff=javascript\n"])
def test_a_change_of_a_text_that_is_not_utf_8_is_kept(room: LocalWorkspace, attributes: str) -> None:
    """Records hold UTF-8, so the answer used to be lost, also if the repository says that it is a text."""
    Path(room.root, ".gitattributes").write_text(attributes)
    new = "<nav lang='fr'>é\n".encode("latin-1")
    Path(room.root, "src/old.js").write_bytes(new)
    patch = _patch(room, "HEAD")
    assert "GIT binary patch" in patch.decode()
    applied(room, patch)
    assert Path(room.root, "src/old.js").read_bytes() == new


@pytest.mark.rule("agent-diff")
def test_what_git_cannot_add_is_left_out(room: LocalWorkspace) -> None:
    """A repository that the agent created somewhere, or an unreadable file: the rest of the answer used to be lost."""
    Path(room.root, "src/Menu.js").write_text("<nav aria-label>\n")
    room.run(["git", "init", "-q", "tmp"])
    locked = Path(room.root, "locked")
    locked.write_text("x\n")
    locked.chmod(0)
    patch = _patch(room, "HEAD").decode()
    assert "aria-label" in patch and "tmp" not in patch and ("locked" in patch) == (os.geteuid() == 0)


@pytest.mark.invariant(4)
@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize(
    ("code", "error"), [(1, AgentFailed), (0, InfrastructureError)], ids=["the agent's", "the machine's"]
)
def test_a_full_disk_is_the_agents_fault_if_there_is_room_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    """Deleted files that are still open fill the engine's disk, and no limit notices them."""

    def fill(*_: object) -> int:
        raise InfrastructureError("the engine's disk is full", cause="disk")

    sandbox = ScriptedSandbox(tmp_path, lambda argv, files: Completed(code, b"", 0))
    ask = ask_in(sandbox, tmp_path, monkeypatch, fill)
    with pytest.raises(error, match="disk is full"):
        container.run(ask, tmp_path, print)


def test_an_agents_tools_are_made_on_its_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's disk does not have the coordinator's tools."""
    sandbox, made = ScriptedSandbox(tmp_path), list[Kit]()

    def make(kit: Kit, say: object) -> Path:
        made.append(kit)
        return tmp_path

    monkeypatch.setattr(sandbox.images, "tools", make)
    ask = ask_in(sandbox, tmp_path, monkeypatch, lambda *_: 0)
    assert container.run(ask, tmp_path, print) == 0
    assert made == [ask.room.kit]


def ask_in(sandbox: ScriptedSandbox, folder: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[..., int]) -> Any:
    """A request for an agent that does this, in a sandbox whose images exist."""
    monkeypatch.setattr(container, "opened_clone", lambda _: None)
    monkeypatch.setattr(container, "recipe", lambda *_: SimpleNamespace(image="image"))
    monkeypatch.setattr(container, "ensure", lambda *_: None)
    monkeypatch.setattr(container, "_run_agent", work)
    handle, kit = SimpleNamespace(sandbox=lambda: sandbox), Kit(folder, "the agent's", "")
    room = SimpleNamespace(sandbox=handle, environment=None, manifests="", kit=kit)
    agent = SimpleNamespace(call=SimpleNamespace(seconds=60))
    return SimpleNamespace(agent=agent, room=room, clone="", base="", base_url="")
