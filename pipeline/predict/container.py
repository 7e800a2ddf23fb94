"""Running an agent in the container of its instance: the image of stage 02, the agent's tools, the gateway.

The prediction is the diff of the checkout against its only commit, whatever the agent says. Files that the repository
ignores, such as installed packages, are not part of it.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.core.briefing import prompt
from pipeline.core.errors import InfrastructureError
from pipeline.core.git import CLEAN, opened_clone
from pipeline.core.store import write_bytes, write_json
from pipeline.execution.images import ensure, recipe
from pipeline.predict import said
from pipeline.predict.pictures import note
from pipeline.predict.request import AgentFailed, Ask, Say
from pipeline.sandbox.base import DEFAULT, Completed, Workspace

#: seconds after its time in which an agent may end by itself
GRACE = 30
#: files of ours beside an agent's own
OURS = ("manifest.json", "agent.log", "patch.diff")
#: exact to the byte, and by no setting that an agent may have left in the repository
DIFF = ("diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
#: how a task ends of which the agent itself says nothing, by whether it has a patch
ENDS = {True: "SUCCESSFUL_PATCH", False: "NO_EDITS"}
TIME_LIMIT = "TIME_LIMIT"
#: errors of this machine's own disk
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


def run(ask: Ask, folder: Path, say: Say) -> int:
    """Work on one task; what the agent leaves is in `folder` then, with the patch. Returns the exit code.

    An agent whose time is over has answered with what is there. Raises AgentFailed when a limit ended it, or when no
    patch can be made; InfrastructureError.
    """
    call, room, clone = ask.agent.call, ask.room, opened_clone(ask.clone)
    if room is None:
        raise ValueError("the request names no container to work in")
    sandbox = room.sandbox.sandbox()
    made = recipe(clone, room.environment, ask.base, room.manifests)
    ensure(sandbox, clone, made, say)
    limits = replace(DEFAULT, seconds=call.seconds + 2 * GRACE)
    given: dict[str, Any] = {"tools": Path(room.tools), "reach": ask.base_url}
    with sandbox.open(made.image, cache="none", limits=limits, **given) as workspace:
        places = _brief(workspace, ask)
        base = _git(workspace, "rev-parse", "HEAD").strip()
        say(f"{ask.agent.name} works")
        timed = ("timeout", f"--kill-after={GRACE}", str(call.seconds))
        done = workspace.run([*timed, *call.argv(places)], env=call.variables(places))
        write_bytes(folder / "agent.log", done.output)
        with _blamed(workspace):
            _keep(workspace, places["out"], folder)
            return _conclude(workspace, base, done, done.seconds >= call.seconds, folder)


def _brief(room: Workspace, ask: Ask) -> dict[str, str]:
    """Write what the agent is told; what its command may name."""
    seen = f"{room.scratch}/pictures"
    room.run(["mkdir", seen])
    for name, data in ask.pictures.items():
        room.write(f"{seen}/{name}", data)
    told = prompt(ask.agent.call.prompt, ask.task) + note(seen, list(ask.pictures))
    files = {
        "task": ("task.json", ask.task.model_dump_json(indent=2).encode()),
        "prompt": ("prompt.md", told.encode()),
        "settings": ("settings.toml", ask.agent.settings.read_bytes()),
    }
    for name, data in files.values():
        room.write(f"{room.scratch}/{name}", data)
    out = f"{room.scratch}/out"
    room.run(["mkdir", out])
    return {
        **{place: f"{room.scratch}/{name}" for place, (name, _) in files.items()},
        "statement": told,
        "pictures": seen,
        "checkout": room.root,
        "out": out,
        "model": ask.model,
        "contexts": json.dumps(ask.contexts),
        "choices": str(ask.choices),
        "answer": ask.answer,
        "agent": room.tools,
        "base_url": room.url,
        "key": ask.key,
    }


@contextmanager
def _blamed(room: Workspace) -> Iterator[None]:
    """Raise AgentFailed for what cannot be read of what an agent left, where neither this machine's disk nor the
    engine is at fault: it answers as before."""
    try:
        yield
    except (ValueError, RecursionError, OSError) as error:
        if any(os.strerror(number) in str(error) for number in DISK):
            raise
        raise AgentFailed(f"what the agent left cannot be read: {error!r}") from error
    except InfrastructureError as error:
        if error.cause != "engine" or room.run(["true"]).code:
            raise
        raise AgentFailed(f"what the agent left cannot be fetched: {error}") from error


def _keep(room: Workspace, out: str, folder: Path) -> None:
    """What the agent wrote, but for what would pass for ours."""
    with TemporaryDirectory(prefix="a11y-bench-") as place:
        room.fetch(out, Path(place))
        shutil.copytree(place, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*OURS))


def _conclude(room: Workspace, base: str, done: Completed, late: bool, folder: Path) -> int:
    if done.limit:
        raise AgentFailed(f"the agent reached its limit: {done.limit}")
    patch = _patch(room, base)
    write_bytes(folder / "patch.diff", patch)
    told, path = {"outcome": ENDS[bool(patch.strip())]}, folder / "metadata.json"
    if path.is_file():
        told |= said.metadata(path.read_bytes())
    shutil.rmtree(path, ignore_errors=True)
    write_json(path, told | ({"outcome": TIME_LIMIT} if late else {}))
    return 0 if late else done.code


def _patch(room: Workspace, base: str) -> bytes:
    """The difference to `base`, by an index of our own: an agent may have committed, or left its index locked."""
    path = f"{room.scratch}/patch.diff"
    _git(room, "read-tree", base)
    _git(room, "add", "--all")
    _git(room, *DIFF, f"--output={path}", base)
    patch = room.read(path)
    if patch is None:
        raise AgentFailed("the patch is too large")
    return patch


def _git(room: Workspace, *arguments: str) -> str:
    done = room.run(["git", *arguments], env=CLEAN | {"GIT_INDEX_FILE": f"{room.scratch}/index"})
    said = done.output.decode(errors="replace")
    if done.code:
        raise AgentFailed(f"git {arguments[0]} in the agent's checkout: {said.strip()}")
    return said
